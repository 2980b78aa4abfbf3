"""``surefoot merge``."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli.errors import clear_errors, say
from surefoot.cli.outputs import check_each_once, check_outputs, write_files


def command(
    tallies: Annotated[
        list[str], typer.Argument(metavar="TALLY", help="Saved tallies of disjoint rows.", show_default=False)
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to save their sum.", show_default=False)
    ],
) -> None:
    """Add up saved tallies; assess the sum with surefoot assess FILE.

    \b
      surefoot assess mon.parquet -o mon.tally
      surefoot merge mon.tally tue.tally -o w.tally
    """
    with clear_errors():
        check_outputs(output, beside=tallies)
        check_each_once(tallies, "its rows would count twice: give each tally once")
        from surefoot.core.tally import Tally
        from surefoot.errors import InvalidTally
        from surefoot.metrics.terms import ROWS

        total = Tally.load(tallies[0])
        for path in tallies[1:]:
            try:
                total = total + Tally.load(path)
            except InvalidTally as error:
                message = str(error)
                raise InvalidTally(message if path in message else f"{path}: {message}") from error
        size = write_files({output: total})[output]
        counted = next(iter((total.events or {}).values())) if total.view == "classes" else total
        say(f"  {len(tallies):,} tallies, {round(counted[ROWS]):,} rows. Wrote {output} ({size})")
