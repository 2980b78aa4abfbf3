"""``surefoot paper``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli.errors import clear_errors
from surefoot.cli.parsing import Command, Group

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


@app.command("synthetic", cls=Command)
def synthetic(
    out: Out = "paper",
    fast: Annotated[bool, typer.Option("--fast", help="As often as the paper, not twenty times as often.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of all random numbers.")] = 0,
) -> None:
    """Ten profiles of confidence, eight ways of being right, five sizes: a minute on two cores."""
    with clear_errors():
        folder = _make_folder(out)
        from surefoot.paper.simulation import Plan
        from surefoot.paper.synthetic import run

        plan = Plan.like_the_paper(seed) if fast else Plan.full(seed)
        screen = _Screen()
        print(f"\n  synthetic: 10 profiles × 8 modes × {len(plan.sizes)} sizes", file=sys.stderr)
        try:
            cells = run(folder, plan, screen.progress)
        except KeyboardInterrupt:
            screen.close()
            print(f"  stopped; sizes that are finished are kept: surefoot paper synthetic -o {out}", file=sys.stderr)
            raise
        screen.close()
        _print_summary(folder, cells)


@app.command("real", cls=Command)
def real(
    out: Out = "paper",
    data: Data = None,
    datasets: Annotated[
        str | None, typer.Option("--datasets", metavar="A,B,...", help="Some of the fifteen; by default all.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="Of each search.")] = 60,
    folds: Annotated[int, typer.Option("--folds", help="Of each trial.")] = 5,
    seeds: Annotated[str, typer.Option("--seeds", help="Of the splits that results are looked at on.")] = "42,0,1,2,3",
    tuned: Annotated[bool, typer.Option("--tuned", help="With the parameters that come along: no search.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Three trials of three folds, one split.")] = False,
    unweighted: Annotated[bool, typer.Option("--unweighted", help="Without class weights: the control.")] = False,
) -> None:
    """Fifteen data sets: XGBoost tuned by Optuna, raw, isotonic and Platt. A search that is stopped goes on later."""
    with clear_errors():
        from surefoot.paper.datasets import SETS, folder_of
        from surefoot.paper.real import Budget, run
        from surefoot.paper.real_tables import write_tables

        names = [name.strip() for name in datasets.split(",")] if datasets else list(SETS)
        unknown = next((name for name in names if name not in SETS), None)
        if unknown is not None:
            raise typer.BadParameter(f"there is no data set {unknown!r}; there are {', '.join(SETS)}")
        budget = (
            Budget.fast()
            if fast
            else Budget(_positive("--trials", trials), _positive("--folds", folds, 2), _numbers(seeds))
        )
        folder = _make_folder(out)
        screen = _Screen()
        try:
            options: dict[str, Any] = {"names": names, "use_stored": tuned, "is_weighted": not unweighted}
            found = run(folder, folder_of(data), budget, **options, report=screen.words)
        except KeyboardInterrupt:
            screen.close()
            print("  stopped; the same command goes on after the last whole trial", file=sys.stderr)
            raise
        screen.close()
        kind = "plain" if unweighted else "weighted"
        for path in write_tables(folder, found, kind):
            print(f"  Wrote {path}")


@app.command("figures", cls=Command)
def figures(out: Out = "paper", data: Data = None) -> None:
    """ROC and cwROC of Adult and CIFAR-10 (raw, isotonic, Platt), and of class 0 of the others by Platt."""
    with clear_errors():
        folder = _make_folder(out)
        for path in _make_figures(folder, data):
            print(f"  Wrote {path}")


@app.command("all", cls=Command)
def everything(
    out: Out = "paper",
    data: Data = None,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer repetitions, one split.")] = False,
) -> None:
    """All of it, with the parameters that come along; paper.md puts it beside the printed tables."""
    with clear_errors():
        folder = _make_folder(out)
        from surefoot._io.writing import write_whole
        from surefoot.paper.datasets import folder_of
        from surefoot.paper.document import document
        from surefoot.paper.real import Budget, run
        from surefoot.paper.real_tables import write_tables
        from surefoot.paper.simulation import Plan
        from surefoot.paper.synthetic import run as simulate
        from surefoot.paper.training import stored_setting
        from surefoot.render.method import versions

        screen = _Screen()
        cells = simulate(folder, Plan.like_the_paper() if fast else Plan.full(), screen.progress)
        screen.close()
        budget = Budget(seeds=(42,)) if fast else Budget()
        names, missing = _available_sets(data)
        found = {}
        for kind, weighted in (("weighted", True), ("plain", False)):
            known = [name for name in names if weighted or stored_setting(name, is_weighted=False) is not None]
            options: dict[str, Any] = {"names": known, "use_stored": True, "is_weighted": weighted}
            found[kind] = run(folder, folder_of(data), budget, **options, report=screen.words)
            if found[kind]:
                write_tables(folder, found[kind], kind)
        screen.close()
        for path in _make_figures(folder, data):
            print(f"  Wrote {path}")
        write_whole(folder / "paper.md", document(cells, found["weighted"], found["plain"], versions()))
        print(f"  Wrote {folder / 'paper.md'}")
        if missing:
            print(
                f"  not at hand: {', '.join(missing)}; name their folder with --data or SUREFOOT_DATA", file=sys.stderr
            )


def _available_sets(data: str | None) -> tuple[list[str], list[str]]:
    """The data sets that are in the folder and whose parameters come along, and the others."""
    from surefoot.paper.datasets import SETS, folder_of
    from surefoot.paper.real import FIXED
    from surefoot.paper.training import stored_setting

    folder = folder_of(data)
    there = [name for name, one in SETS.items() if folder is not None and (folder / one.path).exists()]
    kept = [name for name in there if name in FIXED or stored_setting(name, is_weighted=True) is not None]
    return kept, [name for name in SETS if name not in kept]


def _make_figures(folder: Path, data: str | None) -> list[Path]:
    from surefoot.paper.datasets import folder_of, load
    from surefoot.paper.figures import draw_figures, predictions
    from surefoot.paper.real import setting_of

    screen = _Screen()
    models = {}
    for name in _available_sets(data)[0]:
        screen.words(f"{name}: model for its figure")
        models[name] = predictions(name, load(name, folder_of(data)), setting_of(name))
    screen.close()
    return draw_figures(folder, models) if models else []


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
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--seeds is {text!r}; it should be whole numbers, such as 42,0,1") from None


def _print_summary(folder: Path, cells: list[Any]) -> None:
    from surefoot.paper.agreement import count_agreement

    agree, comparable, others = count_agreement(cells)
    print(f"\n  Wrote the tables to {folder}")
    print(f"  {agree:,} of {comparable:,} cells agree with the paper ({agree / max(1, comparable):.1%});")
    print(f"  {others:,} more are means of infinite variance. Rest in {folder / 'differences.csv'}\n")


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
