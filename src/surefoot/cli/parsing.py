"""Commands and options as people type them: other obvious names are understood, and typing errors get a suggestion."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: Other names of options, by the one that help shows.
_OTHER_NAMES = {
    "--truth": "label labels y true y-true true-label target targets gold ground-truth actual answer class outcome",
    "--predicted": "pred preds prediction predictions predict y-pred y-hat yhat predicted-label guess",
    "--confidence": "conf confidences certainty stated-confidence max-prob",
    "--probabilities": "p prob probs proba probas probability y-prob y-proba score scores y-score predict-proba",
    "--logits": "logit",
    "--correct": "is-correct correctness hit",
    "--positive": "pos pos-label positive-label positive-class",
    "--weight": "w weights sample-weight sample-weights",
    "--group": "groups cluster clusters",
    "--by": "slice slices slice-by split-by",
    "--level": "alpha significance significance-level",
    "--margin": "tolerance",
    "--delimiter": "sep separator delim",
    "--fail-on": "fail fail-if fail-when gate",
    "--id": "ids identifier",
    "--show": "keep also-show",
    "--baseline": "reference base compare-with against",
    "--output": "out out-file outfile output-file write",
    "--format": "fmt output-format",
    "--junit": "junit-xml junitxml",
    "--method": "calibrator",
    "--state": "state-file",
    "--load": "calibrator-file",
}
_MEANT = {f"--{other}": name for name, others in _OTHER_NAMES.items() for other in others.split()}
#: Ends of names that say no more than that a column is meant.
_ENDS = ("-column", "-col", "-field")
#: How alike two names must be for one to be a typing error of the other.
_ALIKE = 0.6


class Command(TyperCommand):
    """A command that knows other names of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        try:
            return super().parse_args(ctx, _translate(args, known))
        except Exception as error:
            name = getattr(error, "option_name", "")
            if type(error).__name__ == "NoSuchOption":
                raise typer.BadParameter(_no_option(ctx.command_path, name, known)) from error
            if type(error).__name__ == "MissingParameter":
                raise typer.BadParameter(_missing(ctx.command_path, getattr(error, "param", None))) from error
            if "unexpected extra argument" in str(error):
                hint = "; name the file of labelled rows with --fit" if "--fit" in known else ""
                say = f"{ctx.command_path} -h shows how it is called"
                raise typer.BadParameter(f"{str(error).rstrip('.')}{hint}; {say}") from error
            raise


class Group(TyperGroup):
    """The commands; a name that is none of them gets a suggestion."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            raise typer.BadParameter(_no_command(ctx.command_path, name, self.list_commands(ctx)))
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if type(error).__name__ != "NoSuchOption":
                raise
            known = {name for parameter in self.get_params(ctx) for name in parameter.opts}
            name = getattr(error, "option_name", "")
            found = closest(name, known)
            hint = (
                f"did you mean {found}?" if found else f"options follow the command: {ctx.command_path} COMMAND {name}"
            )
            raise typer.BadParameter(f"{ctx.command_path} has no option {name}; {hint}") from error


def _translate(args: list[str], known: set[str]) -> list[str]:
    """The arguments with the names that help shows."""
    translated: list[str] = []
    for i, argument in enumerate(args):
        if argument == "--":
            return [*translated, *args[i:]]
        name, sign, value = argument.partition("=")
        translated.append(f"{_meant(name, known)}{sign}{value}" if name.startswith("--") else argument)
    return translated


def _meant(name: str, known: set[str]) -> str:
    """The option that a name stands for; the name itself if it is none that we know."""
    if name in known:
        return name
    plain = name.lower().replace("_", "-")
    stripped = next((plain.removesuffix(end) for end in _ENDS if plain.endswith(end)), plain)
    for candidate in (plain, stripped, _MEANT.get(plain), _MEANT.get(stripped)):
        if candidate in known:
            return str(candidate)
    return name


def _no_option(command: str, name: str, known: set[str]) -> str:
    others = {other: shown for other, shown in _MEANT.items() if shown in known}
    found = closest(name, [*known, *others])
    hint = f"did you mean {others.get(found, found)}? " if found else ""
    return f"{command} has no option {name}; {hint}{command} -h lists all options"


def _missing(command: str, parameter: Any) -> str:
    shown = parameter.opts[0] if parameter is not None and str(parameter.opts[0]).startswith("-") else ""
    name = shown or str(getattr(parameter, "metavar", None) or "argument")
    return f"{command} needs {name}; {command} -h shows how it is called"


def _no_command(path: str, name: str, commands: Iterable[str]) -> str:
    if Path(name).exists() or Path(name).suffix in (".csv", ".tsv", ".parquet", ".jsonl", ".npz", ".tally"):
        return f"{name!r} is a file, and no command comes before it; did you mean: surefoot assess {name}"
    found = closest(name, commands)
    hint = f"did you mean {found}? " if found else ""
    return f"{path} has no command {name!r}; {hint}{path} -h lists all commands"


def closest(name: str, known: Iterable[str]) -> str:
    """The name that is most like another; an empty string if none is.

    Examples
    --------
    >>> closest("--confidense", ["--correct", "--confidence"])
    '--confidence'
    >>> closest("asess", ["compare", "assess"])
    'assess'
    """
    plain = name.lower().replace("_", "-").lstrip("-")

    def alike(other: str) -> float:
        bare = other.lstrip("-")
        # the start of a name is as good as the whole
        starts = 0.9 if len(plain) > 2 and bare.startswith(plain) else 0.0
        # and so are its letters in another order
        starts = max(starts, 0.9 if sorted(bare) == sorted(plain) else 0.0)
        return max(starts, SequenceMatcher(None, plain, bare).ratio())

    best = max((other for other in known if len(other.lstrip("-")) > 1), key=alike, default="")
    return best if best and alike(best) >= _ALIKE else ""
