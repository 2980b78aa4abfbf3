"""From a file, a folder or a pattern to the files that hold its rows: each once, and none that is left out unsaid."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from surefoot.files.folders import choose_files
from surefoot.files.source import BadFile

_PACKED = (".gz", ".zst", ".zstd")
_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".npz": "npz",
    ".eval": "inspect",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
    ".tally": "tally",
}
_KNOWN = "CSV, TSV, Parquet, Arrow, JSON lines, NPZ, Excel, SQLite, DuckDB or a saved tally"
#: How the names of files and folders begin that are no part of a data set.
_HIDDEN = (".", "_")
#: Ways to pack a file that are not read.
_OTHERWISE_PACKED = (".bz2", ".xz", ".lzma", ".lz4", ".br", ".zip", ".7z", ".z", ".sz", ".tar", ".tgz")


def paths_of(path: str) -> list[Path]:
    """The files that hold the rows of a file, a folder or a pattern, each once whatever links lead to it."""
    place = Path(path)
    if place.is_dir():
        found = _files_below(place)
        logs = [p for p in found if p.name.startswith("samples_") and format_of(p) == "jsonl"]
        # the harness puts its results beside them
        found = [p for p in found if p.suffix != ".json"] if logs else choose_files(path, place, found)
        kinds = sorted({str(format_of(p)) for p in found})
        if not found:
            raise BadFile(f"the folder has no data files ({_KNOWN})", file=path)
        if len(kinds) > 1:
            raise BadFile(
                f"the folder has files of several kinds ({', '.join(kinds)}); choose with a pattern such as '*.csv'",
                file=path,
            )
        return found
    if place.exists():
        return [place]
    if glob.has_magic(path):
        found = _each_once(p for p in sorted(_matching(place)) if _is_file(p))
        if not found:
            raise BadFile("no file matches", file=path)
        return found
    raise BadFile("no such file", file=path)


def format_of(path: Path) -> str | None:
    """What a file holds, by its name."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _PACKED:
        suffixes.pop()
    return _FORMATS.get(suffixes[-1]) if suffixes else None


def _files_below(folder: Path) -> list[Path]:
    """The data files of a folder and of those in it; what is hidden is left out."""
    places = ((place, sorted(os.listdir(place))) for place in _folders_below(folder, _HIDDEN))
    paths = (Path(place, name) for place, names in places for name in names if not name.startswith(_HIDDEN))
    return _each_once(path for path in paths if _is_data(path))


def _folders_below(folder: Path, hidden: str | tuple[str, ...]) -> list[Path]:
    """A folder and those in it, also where links lead, each once; those whose names begin so are left out."""
    found: dict[str, Path] = {}
    waiting = [folder]
    while waiting:
        for place, names, _ in os.walk(waiting.pop(0), onerror=_refuse):
            inner = [] if os.path.realpath(place) in found else [Path(place, name) for name in sorted(names)]
            inner = [path for path in inner if not path.name.startswith(hidden)]
            found.setdefault(os.path.realpath(place), Path(place))
            # what links lead to comes later, so that a file is called by its own name if it lies here too
            waiting += [path for path in inner if path.is_symlink()]
            names[:] = [path.name for path in inner if not path.is_symlink()]
    return [*found.values()]


def _matching(pattern: Path) -> list[Path]:
    """What a pattern stands for. Below ``**`` a folder is looked through once, also if links lead round in a circle."""
    if "**" not in pattern.parts:
        return [*map(Path, glob.glob(str(pattern)))]
    found = [Path(pattern.anchor)]
    for part in (*pattern.parts[bool(pattern.anchor) :], *["*"] * (pattern.name == "**")):
        if part == "**":
            found = [inner for folder in found for inner in _folders_below(folder, ".")]
        else:
            found = [Path(one) for folder in found for one in glob.glob(str(Path(glob.escape(str(folder)), part)))]
    return found


def _refuse(error: OSError) -> NoReturn:
    raise BadFile(f"cannot be opened ({error.strerror})", file=error.filename) from error


def _is_data(path: Path) -> bool:
    """Whether it is a file of rows, by its name; raise if it is one that cannot be read."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if len(suffixes) > 1 and suffixes[-1] in _OTHERWISE_PACKED and suffixes[-2] in _FORMATS:
        raise BadFile(
            f"packed in a way that is not read ({suffixes[-1]}); unpack it, pack it with gzip or zstd, or choose "
            "the files with a pattern such as '*.csv'",
            file=str(path),
        )
    return format_of(path) is not None and _is_file(path)


def _is_file(path: Path) -> bool:
    if path.is_symlink() and not path.exists():
        raise BadFile("a link that leads to no file; remove it, or restore what it leads to", file=str(path))
    return path.is_file()


def _each_once(paths: Iterable[Path]) -> list[Path]:
    """Each file by one of its names, and that by its own rather than by a link to it."""
    found: dict[str, Path] = {}
    for path in sorted(paths, key=lambda path: path.is_symlink()):
        found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())
