"""``surefoot paper``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from surefoot.cli.errors import clear_errors
from surefoot.cli.parsing import Command, Group

if TYPE_CHECKING:
    from surefoot.paper.datasets import MissingData

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


@app.command("synthetic", cls=Command)
def synthetic(
    out: Out = "paper",
    fast: Annotated[bool, typer.Option("--fast", help="As often as the paper, not twenty times as often.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Of all random numbers.")] = 0,
) -> None:
    """Ten profiles of confidence, eight ways of being right, five sizes: two minutes on two cores."""
    with clear_errors():
        folder = _make_folder(out)
        from surefoot.paper.simulation import Plan
        from surefoot.paper.synthetic import run

        plan = Plan.like_the_paper(seed) if fast else Plan.full(seed)
        screen = _Screen()
        print(f"\n  synthetic: 10 profiles × 8 modes × {len(plan.sizes)} sizes", file=sys.stderr)
        try:
            made = run(folder, plan, screen.progress)
        except KeyboardInterrupt:
            screen.close()
            print(f"  stopped; sizes that are finished are kept: surefoot paper synthetic -o {out}", file=sys.stderr)
            raise
        screen.close()
        _print_summary(folder, made.cells)


@app.command("real", cls=Command)
def real(
    out: Out = "paper",
    data: Data = None,
    datasets: Datasets = None,
    protocol: Annotated[
        str,
        typer.Option("--protocol", metavar="NAME", help="page, or a control: one-search, mean-round or unweighted."),
    ] = "page",
    trials: Annotated[int, typer.Option("--trials", help="Of each search; six times as many on small sets.")] = 8,
    folds: Annotated[int, typer.Option("--folds", help="Of each trial.")] = 5,
    seeds: Annotated[str, typer.Option("--seeds", help="Of the splits that results are looked at on.")] = "42,0,1,2,3",
    tuned: Annotated[bool, typer.Option("--tuned", help="With the parameters that come along: no search.")] = False,
    fast: Annotated[bool, typer.Option("--fast", help="Three trials of three folds, one split.")] = False,
) -> None:
    """Fifteen data sets: XGBoost tuned by Optuna, raw, isotonic and Platt. A search that is stopped goes on later."""
    with clear_errors():
        from surefoot.paper.datasets import folder_of
        from surefoot.paper.protocol import PROTOCOLS, Budget
        from surefoot.paper.real import run
        from surefoot.paper.real_tables import write_tables

        names = _names_of(datasets)
        if protocol not in PROTOCOLS:
            raise typer.BadParameter(f"--protocol is {protocol!r}; it should be one of {', '.join(PROTOCOLS)}")
        budget = (
            Budget.fast()
            if fast
            else Budget(_positive("--trials", trials), _positive("--folds", folds, 2), _numbers(seeds))
        )
        folder = _make_folder(out)
        screen = _Screen()
        try:
            options: dict[str, Any] = {"names": names, "use_stored": tuned, "protocol": PROTOCOLS[protocol]}
            found = run(folder, folder_of(data), budget, **options, report=screen.words)
        except KeyboardInterrupt:
            screen.close()
            print("  stopped; the same command goes on after the last whole trial", file=sys.stderr)
            raise
        screen.close()
        for path in write_tables(folder, found, protocol):
            print(f"  Wrote {path}")


@app.command("figures", cls=Command)
def figures(out: Out = "paper", data: Data = None, datasets: Datasets = None) -> None:
    """Figure 1, ROC and cwROC of Adult and CIFAR-10 in three regimes; Figure 2, of the other sets by Platt."""
    with clear_errors():
        from surefoot.paper.datasets import MissingData
        from surefoot.paper.figures import draw_figures

        names = _names_of(datasets)
        folder = _make_folder(out)
        screen = _Screen()
        models, missing = {}, []
        for name in names:
            try:
                models[name] = _model_of(name, folder, data, screen)
            except MissingData as error:
                missing.append((name, error))
        screen.close()
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
        folder = _make_folder(out)
        from surefoot._io.writing import write_whole
        from surefoot.paper.datasets import SETS, MissingData, folder_of
        from surefoot.paper.document import document
        from surefoot.paper.evidence import evidence, runs_above
        from surefoot.paper.figures import draw_figures
        from surefoot.paper.protocol import COMPARABLE, FIRST, PAGE, PROTOCOLS, UNWEIGHTED, Budget
        from surefoot.paper.real import Found, run
        from surefoot.paper.real_tables import write_tables
        from surefoot.paper.simulation import Plan
        from surefoot.paper.synthetic import run as simulate

        screen = _Screen()
        made = simulate(folder, Plan.like_the_paper() if fast else Plan.full(), screen.progress)
        screen.close()
        budget = Budget(seeds=(FIRST,)) if fast else Budget()
        found: dict[str, Found] = {protocol: {} for protocol in PROTOCOLS}
        models, missing = {}, []
        for name in SETS:
            try:
                for protocol in PROTOCOLS.values():
                    # controls are of the sets that run on all rows
                    if protocol is PAGE or name in COMPARABLE or (protocol is UNWEIGHTED and name == "adult_income"):
                        options: dict[str, Any] = {"names": [name], "use_stored": True, "protocol": protocol}
                        found[protocol.name] |= run(folder, folder_of(data), budget, **options, report=screen.words)
                models[name] = _model_of(name, folder, data, screen)
            except MissingData as error:
                missing.append((name, error))
        screen.close()
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


def _names_of(datasets: str | None) -> list[str]:
    from surefoot.paper.datasets import SETS

    names = [name.strip() for name in datasets.split(",")] if datasets else list(SETS)
    unknown = next((name for name in names if name not in SETS), None)
    if unknown is not None:
        raise typer.BadParameter(f"there is no data set {unknown!r}; there are {', '.join(SETS)}")
    return names


def _model_of(name: str, folder: Path, data: str | None, screen: _Screen) -> Any:
    """The predictions of the page's model of the first split, for its figure."""
    from surefoot.paper.datasets import folder_of
    from surefoot.paper.figures import predictions
    from surefoot.paper.models import Trainer
    from surefoot.paper.protocol import FIRST, PAGE, Budget

    trainer = Trainer(name, folder, folder_of(data), Budget(), use_stored=True, report=screen.words)
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
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--seeds is {text!r}; it should be whole numbers, such as 42,0,1") from None


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
