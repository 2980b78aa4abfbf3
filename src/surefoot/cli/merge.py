"""``surefoot merge``."""

from __future__ import annotations

from typing import Annotated

import typer

from surefoot.cli.assess import check_outputs, size_of
from surefoot.cli.errors import clear_errors


def command(
    tallies: Annotated[
        list[str], typer.Argument(metavar="TALLY...", help="Saved tallies of disjoint rows.", show_default=False)
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="OUT", help="Where to save their sum.", show_default=False)
    ],
) -> None:
    """Add up saved tallies; assess the sum with: surefoot assess OUT

    \b
      surefoot assess monday.parquet --save-tally monday.tally
      surefoot merge monday.tally tuesday.tally -o week.tally
    """
    with clear_errors():
        check_outputs(out)
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
        total.save(out)
        print(f"  {len(tallies):,} tallies, {round(total[ROWS]):,} rows. Wrote {out} ({size_of(out)})")
