"""What a command prints, and which files it writes: the kind of a file by its suffix."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from glob import has_magic
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol

import typer

from surefoot._io.writing import target_of, together
from surefoot.cli.errors import say

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

    def write(self, content: Callable[[str], Content]) -> None:
        """Write all files, of what ``content`` makes for their kinds, or none of them; and say so."""
        # nothing is written before all is known
        for path, size in write_files({path: content(kind) for kind, path in self.files.items()}).items():
            say(f"  Wrote {path} ({size})", to_stderr=not self.is_text)


def _kind_of(path: str, allowed: Sequence[str]) -> str:
    for kind in _KINDS.get(Path(path).suffix.lower(), ()):
        if kind in allowed:
            return kind
    ends = ", ".join(_NAMES[one] for one in allowed)
    raise typer.BadParameter(f"--output is {path!r}; the kind of file is known by its suffix: {ends}")


class Savable(Protocol):
    """What writes itself to a file."""

    def save(self, path: str) -> None:
        """Write the file."""


Content = str | bytes | Savable


def write_files(contents: Mapping[str, Content]) -> dict[str, str]:
    """Write all files, or none of them; their sizes, for people."""
    with together() as files:
        for path, content in contents.items():
            if isinstance(content, str | bytes):
                files.add(path, content)
            else:
                content.save(path)
    return {path: _in_words(files.sizes[path]) for path in contents}


def _in_words(size: int) -> str:
    if size < 1024:
        return f"{size:,} bytes"
    return f"{size / 1024:,.0f} KB" if size < 1 << 20 else f"{size / (1 << 20):,.1f} MB"


def check_outputs(*paths: str | None, beside: Sequence[str] = ()) -> None:
    """What cannot be written is found out before the work, not after; and no file that is read is written over."""
    named = [(path, target_of(path)) for path in paths if path is not None]
    files = [(path, target) for path, target in named if target is not None]
    if not files:
        return
    inputs = {fact for path in beside for fact in _facts_of_input(path)}
    for path, target in files:
        if inputs & _facts(target):
            raise typer.BadParameter(f"{Path(path).name} is read, and would be written over; give another name")
    facts = [(path, _facts(target)) for path, target in files]
    if sys.stdout is not None:
        facts.append(("standard output", _facts_of_stream(sys.stdout)))
    for (one, own), (_, other) in combinations(facts, 2):
        if own & other:
            raise typer.BadParameter(f"two outputs have one name; give another to one ({Path(one).name})")


def check_each_once(paths: Sequence[str], why: str) -> None:
    """Refuse a file that is given twice, under whatever name."""
    known: list[tuple[str, _Facts]] = []
    for path in paths:
        facts = _facts(Path(path))
        first = next((one for one, own in known if own & facts), None)
        if first is not None:
            same = "is given twice" if first == path else f"is the same file as {first}"
            raise typer.BadParameter(f"{path} {same}; {why}")
        known.append((path, facts))


#: What tells that two names are those of one file: where they lead to, or what lies there.
_Facts = set[str | tuple[int, int]]


def _facts(path: Path) -> _Facts:
    facts: _Facts = {os.path.realpath(path)}
    with suppress(OSError):
        found = path.stat()
        # file systems without such numbers say 0
        facts |= {(found.st_dev, found.st_ino)} if found.st_ino else set()
    return facts


def _facts_of_stream(stream: Any) -> _Facts:
    try:
        found = os.fstat(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return set()
    return {(found.st_dev, found.st_ino)} if found.st_ino else set()


def _facts_of_input(path: str) -> _Facts:
    """Of every file that is read where ``path`` is: a folder or a pattern stands for many."""
    if path == "-":
        return set() if sys.stdin is None else _facts_of_stream(sys.stdin)
    from surefoot.files.databases import file_of_address, is_address
    from surefoot.files.paths import paths_of

    if is_address(path):
        place = file_of_address(path)
        return set() if place is None else _facts(place)
    # what is not there is told by whoever reads it
    plain = not Path(path).is_dir() and (Path(path).exists() or not has_magic(path))
    return {fact for each in ([Path(path)] if plain else paths_of(path)) for fact in _facts(each)}
