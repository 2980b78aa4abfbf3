"""``surefoot push``."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from surefoot.cli.errors import Failed, clear_errors, print_error, say

_Column = Annotated[str | None, typer.Option(metavar="COL", show_default=False)]


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Rows to send.", show_default=False)],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The server, as surefoot serve prints it.")],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="The model.")],
    version: Annotated[str, typer.Option("--version", metavar="NAME", help="Its version.")] = "1",
    identifier: Annotated[str | None, typer.Option("--id", metavar="COL", help="Column of ids.")] = None,
    confidence: Annotated[
        str | None, typer.Option("--confidence", metavar="COL", help="Column of confidences.")
    ] = None,
    predicted: Annotated[
        str | None, typer.Option("--predicted", metavar="COL", help="Column of predicted classes.")
    ] = None,
    correct: Annotated[str | None, typer.Option("--correct", metavar="COL", help="Column of right and wrong.")] = None,
    label: Annotated[str | None, typer.Option("--label", metavar="COL", help="Column of true classes.")] = None,
    slice_by: Annotated[str | None, typer.Option("--slice", metavar="COL", help="Column of slices.")] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token", metavar="TOKEN", help="By default the environment's SUREFOOT_TOKEN.", show_default=False
        ),
    ] = None,
) -> None:
    """Send a file to a server: predictions, or labels of predictions that were sent before.

    A file with confidences holds predictions; one with ids and labels alone holds labels. Predictions that come with
    their labels count in the totals, but not as evidence for alarms. It is safe to send a file again.

    \b
      surefoot push today.csv --to http://127.0.0.1:8787 --model fraud
      surefoot push labels.csv --to http://127.0.0.1:8787 --model fraud
    """
    from surefoot.service.batches import check_name
    from surefoot.service.client import Client, ServiceError
    from surefoot.service.pushing import rows_of
    from surefoot.service.refused import Refused
    from surefoot.service.requests import ScatteredGroup, requests_of

    named = {
        "id": identifier, "confidence": confidence, "predicted": predicted, "correct": correct, "label": label,
        "slice": slice_by,
    }  # fmt: skip
    with clear_errors():
        try:
            check_name("model", model)
            check_name("version", version)
        except Refused as refused:
            raise typer.BadParameter(refused.message) from refused
        what, columns, batches = rows_of(file, {role: name for role, name in named.items() if name is not None})
        say(f"  {what.capitalize()}: {', '.join(f'{role} = {name}' for role, name in columns.items())}")
        if "attempted" in columns:
            say("  Rows that were not attempted are neither right nor wrong, and are left out.")
        try:
            client = Client(to, token if token is not None else os.environ.get("SUREFOOT_TOKEN"))
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        sent = 0
        try:
            with client:
                for rows in requests_of(batches):
                    client._send(model, version, what, rows)
                    sent += len(rows)
        except (ServiceError, ScatteredGroup) as error:
            done = f"; {sent:,} rows before were stored, and the file may be sent again" if sent else ""
            raise Failed(print_error(f"{error}{done}", 3)) from error
        say(f"  Sent {sent:,} rows to {to} for {model}/{version}")
