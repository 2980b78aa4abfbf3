"""The command line. Nothing is loaded here that ``--help`` does not need."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

try:
    import typer
except ImportError:  # installed without dependencies
    sys.exit("error: the command line needs Typer: pip install typer")

from surefoot.cli import (
    act_alone,
    assess,
    calibrate,
    compare,
    consume,
    demo,
    expect,
    merge,
    monitor,
    push,
    serve,
    slices,
)
from surefoot.cli.errors import Failed, print_error, say
from surefoot.cli.parsing import Command, Group
from surefoot.cli.pipes import steady_streams

app = typer.Typer(
    name="surefoot",
    cls=Group,
    help="Can a classifier's confidences be trusted, and are they worth anything?\n\n"
    "Start with:  surefoot assess predictions.csv",
    epilog="surefoot COMMAND -h explains a command. Exit status: 0 done, 1 a --fail-on rule holds, 2 wrong usage, "
    "3 bad data.",
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _module, _summary in (
    (assess, "Can the confidences in a file be trusted?"),
    (compare, "Put models side by side."),
    (act_alone, "From which confidence may a model act alone?"),
    (slices, "In which groups of rows are confidences off?"),
    (calibrate, "Correct probabilities with labelled rows."),
    (expect, "What to expect of rows without labels."),
    (monitor, "Watch a stream of predictions."),
    (serve, "Watch models over the network."),
    (push, "Send rows to a server."),
    (consume, "Read rows from Kafka."),
    (merge, "Add up saved tallies."),
    (demo, "Assess a real model that is included."),
):
    app.command(_module.__name__.rpartition(".")[2].replace("_", "-"), cls=Command, short_help=_summary)(
        _module.command
    )
# the reproduction of the paper stands on everything else, and nothing stands on it
app.add_typer(import_module("surefoot.paper.command").app)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", "-V", help="Show the version and exit."),
) -> None:
    if version:
        import surefoot

        say(f"surefoot {surefoot.__version__}")
        raise typer.Exit


def main() -> None:
    """Run a command. Exit status: 0 done, 1 a --fail-on rule held, 2 wrong usage, 3 bad data, 130 interrupted."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The exit status of a command."""
    try:
        with steady_streams():
            return _run(arguments)
    except OSError as error:
        if error.filename != "standard output":
            raise
        return print_error(f"{error.filename}: {error.strerror}", 3)


def _run(arguments: list[str]) -> int:
    try:
        result: Any = app(arguments, prog_name="surefoot", standalone_mode=False)
    except Failed as failed:
        return failed.status
    except (KeyboardInterrupt, EOFError):
        return 130
    except Exception as error:
        kind = type(error).__name__
        if kind == "Abort":
            return 130
        if kind == "NoArgsIsHelpError":
            # asking for nothing is asking for help
            say(error.format_message())  # type: ignore[attr-defined]
            return 0
        if hasattr(error, "format_message"):
            return print_error(error.format_message().removeprefix("Invalid value: "), 2)
        raise
    return result if isinstance(result, int) else 0
