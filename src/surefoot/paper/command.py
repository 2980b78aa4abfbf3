"""``surefoot paper``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.errors import clear_errors
from surefoot.cli.parsing import Command, Group

if TYPE_CHECKING:
    from surefoot.paper.datasets import MissingData
    from surefoot.paper.protocol import Protocol

app = typer.Typer(
    name="paper",
    cls=Group,
    help="Reproduce the paper's tables and figures, beside the printed ones.",
    short_help="Reproduce the paper's tables and figures.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Out = Annotated[
    str, typer.Option("--output", "-o", metavar="DIR", help="Where tables go; what is there already is kept.")
]
Data = Annotated[
    str | None, typer.Option("--data", metavar="DIR", help="Folder of data sets; also SUREFOOT_DATA. Else OpenML.")
]
Datasets = Annotated[
    str | None, typer.Option("--datasets", metavar="A,B,...", help="Some of the fifteen; by default all.")
]

#: What is said where the user stops a command that trains models.
_KEPT = "what is finished is kept; the same command goes on from there"


@app.command("synthetic", cls=Command)
def synthetic(
    out: Out = "paper",
    fast: Annotated[bool, typer.Option("--fast", help="As often as the paper, not twenty times as often.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of all random numbers.")] = 0,
) -> None:
    """Ten profiles of confidence, eight ways of being right, five sizes: two minutes on two cores."""
    with clear_errors():
        _positive("--seed", seed, 0)
        folder = _make_folder(out)
        from surefoot.paper.simulation import Plan
        from surefoot.paper.synthetic import run

        plan = Plan.like_the_paper(seed) if fast else Plan.full(seed)
        screen = _Screen()
        print(f"\n  synthetic: 10 profiles × 8 modes × {len(plan.sizes)} sizes", file=sys.stderr)
        with _closing(screen, f"sizes that are finished are kept: surefoot paper synthetic -o {out}"):
            made = run(folder, plan, screen.progress)
        _print_summary(folder, made.cells)


@app.command("real", cls=Command)
def real(
    out: Out = "paper",
    data: Data = None,
    datasets: Datasets = None,
    protocol: Annotated[
        str,
        typer.Option(
            "--protocol",
            metavar="NAME",
            help="page, or a control: one-search, mean-round or unweighted, by the parameters that come along.",
        ),
    ] = "page",
    trials: Annotated[int, typer.Option("--trials", help="Of each search; six times as many on small sets.")] = 8,
    folds: Annotated[int, typer.Option("--folds", help="Of each trial.")] = 5,
    seeds: Annotated[str, typer.Option("--seeds", help="Of the splits that results are looked at on.")] = "42,0,1,2,3",
    tuned: Annotated[bool, typer.Option("--tuned", help="With the parameters that come along: no search.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Three trials of three folds, one split.")] = False,
) -> None:
    """Fifteen data sets: XGBoost tuned by Optuna, raw, isotonic and Platt. A search that is stopped goes on later."""
    with clear_errors():
        from surefoot.paper.datasets import MissingData, folder_of
        from surefoot.paper.protocol import PROTOCOLS, Budget
        from surefoot.paper.real import Found, run
        from surefoot.paper.real_tables import write_tables

        names, where = _names_of(datasets), folder_of(data)
        if protocol not in PROTOCOLS:
            raise typer.BadParameter(f"--protocol is {protocol!r}; it should be one of {', '.join(PROTOCOLS)}")
        budget = (
            Budget.fast()
            if fast
            else Budget(_positive("--trials", trials), _positive("--folds", folds, 2), _numbers(seeds))
        )
        folder = _make_folder(out)
        screen = _Screen()
        found: Found = {}
        missing = []
        with _closing(screen, "the same command goes on after the last whole trial"):
            for name in names:
                options: dict[str, Any] = {"names": [name], "use_stored": tuned, "protocol": PROTOCOLS[protocol]}
                try:
                    found |= run(folder, where, budget, **options, report=screen.words)
                except MissingData as error:
                    missing.append((name, error))
        for path in write_tables(folder, found, protocol) if found else ():
            print(f"  Wrote {path}")
        _refuse_missing(missing)


@app.command("figures", cls=Command)
def figures(out: Out = "paper", data: Data = None, datasets: Datasets = None) -> None:
    """Figure 1, ROC and cwROC of Adult and CIFAR-10 in three regimes; Figure 2, of the other sets by Platt."""
    with clear_errors():
        from surefoot.paper.datasets import MissingData, folder_of
        from surefoot.paper.figures import draw_figures

        names, where = _names_of(datasets), folder_of(data)
        folder = _make_folder(out)
        screen = _Screen()
        models, missing = {}, []
        with _closing(screen, _KEPT):
            for name in names:
                try:
                    models[name] = _model_of(name, folder, where, screen)
                except MissingData as error:
                    missing.append((name, error))
        _refuse_missing(missing)
        for path in draw_figures(folder, models):
            print(f"  Wrote {path}")


@app.command("all", cls=Command)
def everything(
    out: Out = "paper",
    data: Data = None,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer repetitions, one split.")] = False,
) -> None:
    """All of it, with the parameters that come along, in about an hour; paper.md puts it beside the printed tables.

    paper.json has the numbers of each split from which the page counts.
    """
    with clear_errors():
        from surefoot._io.writing import write_whole
        from surefoot.paper.datasets import SETS, MissingData, folder_of
        from surefoot.paper.document import document
        from surefoot.paper.evidence import evidence, runs_above
        from surefoot.paper.figures import draw_figures
        from surefoot.paper.protocol import FIRST, PAGE, PROTOCOLS, Budget
        from surefoot.paper.real import Found, run
        from surefoot.paper.real_tables import write_tables
        from surefoot.paper.simulation import Plan
        from surefoot.paper.synthetic import run as simulate

        where = folder_of(data)
        folder = _make_folder(out)
        screen = _Screen()
        with _closing(screen, _KEPT):
            made = simulate(folder, Plan.like_the_paper() if fast else Plan.full(), screen.progress)
        budget = Budget(seeds=(FIRST,)) if fast else Budget()
        found: dict[str, Found] = {protocol: {} for protocol in PROTOCOLS}
        models, missing = {}, []
        with _closing(screen, _KEPT):
            for name in SETS:
                try:
                    for protocol in _protocols_of(name):
                        options: dict[str, Any] = {"names": [name], "use_stored": True, "protocol": protocol}
                        found[protocol.name] |= run(folder, where, budget, **options, report=screen.words)
                    models[name] = _model_of(name, folder, where, screen)
                except MissingData as error:
                    missing.append((name, error))
        for kind, own in found.items():
            if own:
                write_tables(folder, own, kind)
        drawn = draw_figures(folder, models)
        controls = {kind: own for kind, own in found.items() if kind != PAGE.name}
        write_whole(folder / "paper.md", document(made, found[PAGE.name], controls, drawn))
        write_whole(folder / "paper.json", evidence(runs_above(made), found))
        for path in (*drawn, folder / "paper.md", folder / "paper.json"):
            print(f"  Wrote {path}")
        _refuse_missing(missing)


@contextmanager
def _closing(screen: _Screen, kept: str) -> Iterator[None]:
    """Clear the line that is rewritten; if the user stops it, say what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        screen.close()
        print(f"  stopped; {kept}", file=sys.stderr)
        raise
    finally:
        screen.close()


def _names_of(datasets: str | None) -> list[str]:
    from surefoot.paper.datasets import SETS

    names = [name.strip() for name in datasets.split(",")] if datasets else list(SETS)
    unknown = next((name for name in names if name not in SETS), None)
    if unknown is not None:
        raise typer.BadParameter(f"there is no data set {unknown!r}; there are {', '.join(SETS)}")
    return names


def _protocols_of(name: str) -> Iterable[Protocol]:
    """The page's, and the controls, which are of the sets that run on all rows."""
    from surefoot.paper.protocol import COMPARABLE, PAGE, PROTOCOLS, UNWEIGHTED

    if name in COMPARABLE:
        return PROTOCOLS.values()
    return (PAGE, UNWEIGHTED) if name == "adult_income" else (PAGE,)


def _model_of(name: str, folder: Path, where: Path | None, screen: _Screen) -> Any:
    """The predictions of the page's model of the first split, for its figure."""
    from surefoot.paper.figures import predictions
    from surefoot.paper.models import Trainer
    from surefoot.paper.protocol import FIRST, PAGE, Budget

    trainer = Trainer(name, folder, where, Budget(), use_stored=True, report=screen.words)
    return predictions(name, trainer.trained(PAGE, FIRST))


def _refuse_missing(missing: list[tuple[str, MissingData]]) -> None:
    """Raise for data sets that are neither in the folder nor to be had."""
    from surefoot.paper.datasets import MissingData

    if len(missing) == 1:
        raise missing[0][1]
    if missing:
        names = ", ".join(name for name, _ in missing)
        raise MissingData(f"data sets {names} are missing; of the first: {missing[0][1]}")


def _make_folder(out: str) -> Path:
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(20, "is a file; name a folder", out)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _positive(name: str, number: int, least: int = 1) -> int:
    if number < least:
        raise typer.BadParameter(f"{name} is {number}; it should be {least} or more")
    return number


def _numbers(text: str) -> tuple[int, ...]:
    if all(part.strip().isdecimal() and int(part) < 2**32 for part in text.split(",")):
        return tuple(dict.fromkeys(int(part) for part in text.split(",")))
    raise typer.BadParameter(f"--seeds is {text!r}; it should be whole numbers from 0 to {2**32 - 1}, such as 42,0,1")


def _print_summary(folder: Path, cells: list[Any]) -> None:
    from surefoot.paper.agreement import count_agreement

    agree, every = count_agreement(cells)
    print(f"\n  Wrote the tables to {folder}")
    print(f"  {agree:,} of {every:,} printed numbers agree with ours ({agree / max(1, every):.1%}), each counted once;")
    print(f"  the others are in {folder / 'differences.csv'}\n")


class _Screen:
    """One line that is rewritten in a terminal; elsewhere one line for each size or data set that is finished."""

    def __init__(self) -> None:
        self.is_live = sys.stderr.isatty()
        self.began, self.size, self.last = time.monotonic(), 0, ""

    def progress(self, size: int, done: int, profile: str) -> None:
        if size != self.size:
            self.size, self.began = size, time.monotonic()
        took = time.monotonic() - self.began
        full = round(40 * done / 80)
        if done == 80:
            self.close()
            print(f"  n = {size:<10,} 80 of 80     {took // 60:.0f}:{took % 60:02.0f}", file=sys.stderr)
        elif self.is_live:
            left = took / done * (80 - done)
            gauge = f"{'━' * full:<40} {done} of 80   {left // 60:.0f}:{left % 60:02.0f} left"
            line = f"  n = {size:<10,} {profile:<18} {gauge}"
            print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)

    def words(self, words: str) -> None:
        if self.is_live:
            print(f"\r\x1b[2K  {words}", end="", file=sys.stderr, flush=True)
        elif words.partition(":")[0] != self.last:
            self.last = words.partition(":")[0]
            print(f"  {words}", file=sys.stderr)

    def close(self) -> None:
        if self.is_live:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
