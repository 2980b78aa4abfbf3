"""What logs say of confidences besides: what is to be told of them in sentences, and the answers that state them."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot._io.printable import printable
from surefoot.core.tally import Label, Tally
from surefoot.files.accounting import Accounting
from surefoot.files.columns import Columns
from surefoot.files.finding import is_answer, speaks
from surefoot.files.harness import SampleLog
from surefoot.files.json_lines import JsonLinesFile
from surefoot.files.leaderboards import leaderboard_note
from surefoot.files.log import Log
from surefoot.files.source import Source
from surefoot.predictions import ArrayPredictions


def notes_of(sources: Sequence[Source], accounting: Accounting, held: ArrayPredictions | Tally) -> tuple[str, ...]:
    """The notes of logs, each once, then those of rows and of their confidences."""
    of_logs = dict.fromkeys(
        note for source in sources if isinstance(source, Log | SampleLog) for note in source.notes()
    )
    of_all = leaderboard_note(held) if isinstance(held, ArrayPredictions) and _is_log(sources[0]) else ()
    return (*of_logs, *accounting.notes(), *of_all, *alike(held.labels or ()))


def alike(labels: Sequence[Label]) -> tuple[str, ...]:
    """A note about labels that only spaces around them, or capitals, tell apart; results take them as they are.

    Examples
    --------
    >>> alike(["cat", "cat ", "dog"])
    ("Labels 'cat' and 'cat ' both occur; if they are one class, write them alike.",)
    >>> alike(["a", "b"]), alike([0, 1])
    ((), ())
    """
    found: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            found.setdefault(label.strip().casefold(), []).append(label)
    several = [own for own in found.values() if len(own) > 1]
    if not several:
        return ()
    shown = [" and ".join(f"'{printable(label, 40)}'" for label in own[:4]) for own in several[:3]]
    more = f", and {len(several) - 3:,} more such sets" if len(several) > 3 else ""
    both = "both" if len(several) == 1 and len(several[0]) == 2 else "all"
    return (f"Labels {'; '.join(shown)}{more} {both} occur; if they are one class, write them alike.",)


def answers_beside(sources: Sequence[Source], columns: Columns) -> str:
    """The answers that state the confidences which a column of numbers holds too, if half of them do; else nothing."""
    if not _is_log(sources[0]) or columns.confidence is None or is_answer(columns.confidence):
        return ""
    head = sources[0].head()
    of_all = [
        name for name in head.column_names if is_answer(name) and all(name in one.schema.names for one in sources)
    ]
    beside = (name for name in of_all if name not in columns.names() and speaks(head.column(name).to_pylist()))
    return next(beside, "")


def _is_log(source: Source) -> bool:
    return isinstance(source, Log | JsonLinesFile)
