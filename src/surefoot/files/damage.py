"""The border between a file and the libraries that read it: what they raise is an error of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from surefoot._io import limits
from surefoot._io.printable import printable
from surefoot.errors import InvalidPredictions, MissingPackage
from surefoot.files.source import BadFile


@contextmanager
def damaged(name: str, what: str | Callable[[], str], hint: str = "") -> Iterator[None]:
    """Within, whatever a library raises about a file is a :class:`BadFile`: the file, what is wrong, and why.

    Libraries raise almost anything at damaged files, from ``KeyError`` to ``TokenError``, and no list of it is whole.
    So only calls of a library belong within, and nothing of our own that could hide a mistake of ours. ``what`` is
    asked when something is raised, so that it can tell how far reading came.
    """
    try:
        yield
    except (InvalidPredictions, MissingPackage):
        raise
    except Exception as error:
        said = what if isinstance(what, str) else what()
        raise BadFile(f"{said} ({brief(error)})", hint=hint, file=name) from error


def brief(error: BaseException) -> str:
    """The first line of what a library says, or the name of its error."""
    lines = str(error).strip().splitlines()
    return printable(lines[0] if lines else type(error).__name__)


def check_names(name: str, columns: Sequence[str]) -> None:
    """Refuse columns that cannot be told apart, more than there may be, or names longer than they may be."""
    if len(columns) > limits.COLUMNS:
        raise BadFile(
            f"it has {len(columns):,} columns; at most {limits.COLUMNS:,} are read",
            hint="keep the probabilities of many classes in one column of lists, in Parquet",
            file=name,
        )
    known: set[str] = set()
    for column in columns:
        if len(column) > limits.NAME:
            raise BadFile(
                f"the name of column '{printable(column)}' has {len(column):,} characters; at most {limits.NAME:,} "
                "are read",
                hint="does the file have a header?",
                file=name,
            )
        if column in known:
            raise BadFile(f"two columns are called '{printable(column)}'", hint="rename one", file=name)
        known.add(column)
