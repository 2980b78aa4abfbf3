"""``surefoot demo``."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Annotated

import typer

from surefoot.cli import assess
from surefoot.cli.errors import clear_errors


def command(
    html: Annotated[str | None, typer.Option("--html", metavar="OUT", help="Write the report, one HTML file.")] = None,
) -> None:
    """Assess a real model, whose predictions come along: naive Bayes on the breast cancer data of Wisconsin."""
    with clear_errors(), as_file(files("surefoot.cli") / "breast_cancer.csv") as path:
        assess.command(str(path), by="predicted", html=html)
        if html is None:
            print("  With --html report.html it also writes the report.")
