"""What a command prints, and which files it writes: the kind of a file by its suffix."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import typer

#: The kinds of file that a suffix stands for, of which a command knows one.
_KINDS = {
    ".html": ("html",),
    ".htm": ("html",),
    ".json": ("json", "policy"),
    ".md": ("markdown",),
    ".markdown": ("markdown",),
    ".tally": ("tally",),
    ".xml": ("junit",),
    ".png": ("png",),
    ".svg": ("svg",),
}
#: What help and errors call each kind, with the suffix to type.
_NAMES = {
    "html": ".html (report)",
    "json": ".json",
    "markdown": ".md (Markdown)",
    "tally": ".tally (sums)",
    "junit": ".xml (JUnit)",
    "policy": ".json (policy)",
    "png": ".png (picture)",
    "svg": ".svg (picture)",
}
FORMATS = ("text", "json", "markdown")


@dataclass(frozen=True)
class Outputs:
    """The format that is printed, and files by their kind."""

    format: str = "text"
    files: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def plan(
        cls,
        outputs: Sequence[str],
        named: Mapping[str, str | None],
        *,
        allowed: Sequence[str],
        format: str | None = None,
        as_json: bool = False,
        beside: Sequence[str] = (),
    ) -> Outputs:
        """Decide before the work: files by suffix, and those that an option of their kind names.

        What cannot be written is found out now, not after the work; and no input is written over.
        """
        if format is not None and format not in FORMATS:
            raise typer.BadParameter(f"--format is {format!r}; it should be text, json or markdown")
        if as_json and format not in (None, "json"):
            raise typer.BadParameter(f"--json and --format {format} contradict each other; give one of them")
        files: dict[str, str] = {}
        for kind, path in [
            *((_kind_of(path, allowed), path) for path in outputs),
            *((kind, path) for kind, path in named.items() if path is not None),
        ]:
            if kind in files:
                raise typer.BadParameter(f"{files[kind]} and {path} are of one kind; give one of them")
            files[kind] = path
        check_outputs(*files.values(), beside=beside)
        return cls("json" if as_json else format or "text", files)

    @property
    def is_text(self) -> bool:
        return self.format == "text"


def _kind_of(path: str, allowed: Sequence[str]) -> str:
    for kind in _KINDS.get(Path(path).suffix.lower(), ()):
        if kind in allowed:
            return kind
    ends = ", ".join(_NAMES[one] for one in allowed)
    raise typer.BadParameter(f"--output is {path!r}; the kind of file is known by its suffix: {ends}")


def check_outputs(*paths: str | None, beside: Sequence[str] = ()) -> None:
    """What cannot be written is found out before the work, not after; and no input is written over."""
    named = [Path(path) for path in paths if path is not None]
    for path in named:
        if not path.parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(path.parent.absolute()))
        if path.is_dir():
            raise IsADirectoryError(21, "is a folder; name a file in it", str(path))
        if any(_is_same_file(path, Path(other)) for other in beside):
            raise typer.BadParameter(f"{path.name} is read, and would be written over; give another name")
    if any(_is_same_file(one, other) for one, other in combinations(named, 2)):
        raise typer.BadParameter("two outputs have one name; give another to one")


def _is_same_file(one: Path, other: Path) -> bool:
    """Whether two names, however they are written, are those of one file, which may be a new one."""
    if one.exists() and other.exists():
        return one.samefile(other)
    return os.path.realpath(one) == os.path.realpath(other)


def size_of(path: str) -> str:
    """The size of a file, for people."""
    size = Path(path).stat().st_size
    if size < 1024:
        return f"{size:,} bytes"
    return f"{size / 1024:,.0f} KB" if size < 1 << 20 else f"{size / (1 << 20):,.1f} MB"
