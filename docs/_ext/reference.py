"""The API reference: one page of tables, made of the public names, and a page for each of them from its docstring.

A public name that no group below takes ends up under "More": nothing public can be left out.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import surefoot

#: Title, an introduction, and the homes (see ``surefoot._OFFERED``) whose names belong there.
GROUPS = (
    ("Assess", "Start here: a verdict, with the numbers behind it.", ("assessment",)),
    (
        "Decide",
        "What to do with predictions, and what to expect of those without labels.",
        ("decisions",),
    ),
    (
        "Data in",
        "Everything below takes arrays, frames and files directly; these are for more control.",
        ("predictions", "files"),
    ),
    (
        "Risk: tests, intervals and plans",
        "Are there too many errors for these confidences?",
        ("risk",),
    ),
    (
        "Decisions",
        "From which confidence may a model act alone? See the [guide](../guide/act-alone.md).",
        ("decisions",),
    ),
    (
        "Slices",
        "In which groups of rows are confidences off? See the [guide](../guide/slices.md).",
        ("search",),
    ),
    (
        "Calibration metrics",
        "One number each; every function takes the same arguments.",
        (
            "metrics.size_ratio",
            "metrics.binned",
            "metrics.adaptive",
            "metrics.leaderboard",
            "metrics.smooth",
            "metrics.isotonic",
            "metrics.cumulative",
            "metrics.cutoff",
            "metrics.entropic",
            "metrics.tested",
            "metrics.proper",
            "metrics.multiclass",
            "metrics.decomposition",
            "figures",
        ),
    ),
    (
        "Events: numbers of risk models",
        'Does the event happen as often as predicted? With `of="event"`; see the [guide](../guide/medicine-credit.md).',
        (
            "metrics.clinical",
            "metrics.recalibration",
            "metrics.flexible",
            "metrics.net_benefit",
        ),
    ),
    (
        "Value: confidence-weighted metrics",
        "Is the model surer where it is right?",
        (
            "metrics.weighted",
            "metrics.classwise",
            "metrics.confusion",
            "metrics.ranking",
            "metrics.roc",
            "metrics.selective",
            "metrics.risk_coverage",
        ),
    ),
    (
        "Tallies",
        "Sums that can be added: for data in many places.",
        ("metrics.tallying", "core"),
    ),
    (
        "Tools",
        "Hooks into tools that you already run: see the [guide](../guide/tools.md).",
        ("integrations",),
    ),
    (
        "Service",
        "A client of `surefoot serve`: see the [guide](../guide/service.md).",
        ("service.client",),
    ),
    ("Errors and warnings", "", ("errors",)),
)
MODULES = (
    ("surefoot.plots", "Plots", "Displays for matplotlib, as in scikit-learn."),
    (
        "surefoot.calibrators",
        "Calibrators",
        "Which one to use: see the [guide](../calibrators.md).",
    ),
    ("surefoot.sklearn", "scikit-learn", "Scorers for `cross_validate` and searches."),
    ("surefoot.torchmetrics", "torchmetrics", "Metrics for training loops."),
    ("surefoot.synthetic", "Synthetic data", "The profiles and modes of the paper."),
    (
        "surefoot.metrics",
        "All metrics as objects",
        "`ALL` maps each name to its `Metric`.",
    ),
)


def groups() -> list[tuple[str, str, list[str]]]:
    """Title, introduction and names of each group; every public name is in exactly one."""
    left = dict(surefoot._HOMES)
    made = []
    for title, about, homes in GROUPS:
        names = [
            name
            for name, home in left.items()
            if any(home == h or home.startswith(f"{h}.") for h in homes)
        ]
        for name in names:
            del left[name]
        made.append((title, about, sorted(names, key=str.lower)))
    return [*made, ("More", "", sorted(left, key=str.lower))]


def public_names(module: str) -> list[str]:
    """The public names of a module that hold classes or functions."""
    found = import_module(module)
    own = [
        name
        for name, value in vars(found).items()
        if getattr(value, "__module__", None) == module
    ]
    names = getattr(
        found, "__all__", [name for name in own if not name.startswith("_")]
    )
    return [
        name for name in sorted(names, key=str.lower) if callable(getattr(found, name))
    ]


def own_members(name: str) -> list[tuple[str, str]]:
    """Public methods and properties of a class that surefoot defines, not those of scikit-learn, torch or enum."""
    module, _, short = name.rpartition(".")
    found = getattr(import_module(module), short)
    members = []
    for member in dir(found):
        home = next((kind for kind in found.__mro__ if member in vars(kind)), object)
        value = vars(home).get(member)
        is_shown = not member.startswith("_") or (
            member == "__call__" and value.__doc__
        )
        if not is_shown or not home.__module__.startswith("surefoot"):
            continue
        if isinstance(value, property):
            members.append(("property", member))
        elif callable(value) or isinstance(value, (classmethod, staticmethod)):
            members.append(("method", member))
    return sorted(members, key=lambda pair: (pair[0] == "property", pair[1]))


def file_names() -> dict[str, str]:
    """Other names for the pages of classes that differ from a function's by case only: `Tally` and `tally`."""
    functions = {name for name in surefoot._HOMES if name.islower()}
    classes = {
        name
        for name in surefoot._HOMES
        if not name.islower() and name.lower() in functions
    }
    return {f"surefoot.{name}": f"surefoot.{name}-class" for name in classes}


def _table(module: str, names: list[str]) -> str:
    lines = "\n".join(f"   {name}" for name in names)
    return (
        f"```{{eval-rst}}\n.. currentmodule:: {module}\n\n.. autosummary::\n"
        f"   :toctree: generated\n   :nosignatures:\n\n"
        f"{lines}\n```\n"
    )


def page() -> str:
    """The page of tables, in Markdown."""
    parts = [
        "# API reference",
        "Every public name, by what it is for. `import surefoot as sf` gives them all.",
        "",
    ]
    for title, about, names in groups():
        if names:
            parts += [f"## {title}", about, "", _table("surefoot", names)]
    for module, title, about in MODULES:
        parts += [
            f"## {title}",
            f"`{module}`. {about}",
            "",
            _table(module, public_names(module)),
        ]
    return "\n".join(parts)


def _write(app: Any, config: Any) -> None:
    folder = Path(app.srcdir) / "reference"
    folder.mkdir(exist_ok=True)
    (folder / "index.md").write_text(page())


def _find_public(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Docstrings name public objects without the package: `Predictions` is `surefoot.Predictions`."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py" or target.split(".")[0] not in surefoot.__all__:
        return None
    python = env.get_domain("py")
    where = node.get("refdoc", "index")
    return python.resolve_xref(
        env, where, app.builder, node["reftype"], f"surefoot.{target}", node, content
    )


def setup(app: Any) -> dict[str, Any]:
    """Write the page before Sphinx looks for its sources."""
    app.config.autosummary_context = {"own_members": own_members}
    app.config.autosummary_filename_map = file_names()
    app.connect("config-inited", _write, priority=100)
    app.connect("missing-reference", _find_public)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
