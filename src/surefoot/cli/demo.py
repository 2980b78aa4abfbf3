"""``surefoot demo``."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Annotated

import typer

from surefoot.cli import assess
from surefoot.cli.errors import clear_errors
from surefoot.cli.options import Html


def command(
    output: Annotated[
        list[str] | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a file, as of assess: .html, .json, .md, .tally."),
    ] = None,
    html: Html = None,
) -> None:
    """Assess a real model: naive Bayes on the breast cancer data of Wisconsin. Its predictions are included."""
    with clear_errors(), as_file(files("surefoot.cli") / "breast_cancer.csv") as path:
        assess.command(str(path), by="predicted", output=output, html=html)
