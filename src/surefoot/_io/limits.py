"""How large what is read may be. What is larger is refused before memory is taken for it, with the limit named.

Each limit is far beyond what people have, and low enough that a damaged or hostile file cannot fill the memory of a
laptop. They stand in a table in ``docs/limits.md``, and ``tests/test_limits.py`` tries each just below and just above.
"""

from __future__ import annotations

#: Columns of a file, and characters of the name of one.
COLUMNS, NAME = 20_000, 10_000
#: Characters of a label, of the value of a slice or a group, and of an id.
LABEL = 10_000
#: Slices of one assessment.
SLICES = 2_000
#: Bytes of one line of text.
LINE = 1 << 25
#: Levels of lists and objects within each other in JSON.
NESTING = 100
#: Bytes of a JSON document in one piece, which takes ten times as much memory.
DOCUMENT = 1 << 27
#: Bytes that a file which is read whole may unpack to, and how many times its own size if that is more.
UNPACKED, UNPACKED_TIMES = 1 << 29, 4
#: Bytes of saved files.
SAVED = {"tally": 1 << 29, "monitor": 1 << 30, "calibrator": 1 << 26, "policy": 1 << 24}


def unpacked(size: int) -> int:
    """How many bytes a file of ``size`` bytes that is read whole may unpack to."""
    return max(UNPACKED, UNPACKED_TIMES * size)


def in_words(size: int) -> str:
    """A number of bytes.

    Examples
    --------
    >>> in_words(1 << 25), in_words(3 << 30)
    ('32 MiB', '3 GiB')
    """
    return f"{size >> 30:,} GiB" if size >= 1 << 30 and size % (1 << 30) == 0 else f"{size >> 20:,} MiB"
