"""The sample logs of lm-evaluation-harness: choices by their log-likelihoods, and answers that state a confidence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from surefoot._io.printable import printable_value
from surefoot.files.columns import Columns
from surefoot.files.finding import Ambiguous, find_columns
from surefoot.files.json_lines import first_look, objects
from surefoot.files.log import Log
from surefoot.files.reasons import PARTIAL, WHY
from surefoot.files.records import record
from surefoot.files.source import BadFile, Batch
from surefoot.files.streams import Pieces

if TYPE_CHECKING:
    import pyarrow as pa

#: What the rows are made into: a choice is right or not, and the softmax over the choices says how sure it was.
COLUMNS = Columns(correct="correct", confidence="confidence", doubt="doubt")
#: What metrics of generated answers are called that are 0 or 1, and fields that may hold a confidence.
_GRADES = ("acc", "exact_match", "em", "correct", "is_correct", "pass@1")
_CLAIMS = ("confidence", "logprob", "logprobs", "sum_logprobs", "mean_logprob", "cumulative_logprob")
#: Samples by which it is told which metric says what is right.
_LOOKED_AT = 2000
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def is_sample_log(first: bytes) -> bool:
    """Whether lines look like those of the harness."""
    line = first.partition(b"\n")[0]
    return b'"filtered_resps"' in line and b'"doc_id"' in line


def open_sample_log(name: str, pieces: Pieces) -> SampleLog | Log:
    """One task's samples: those of choices, or of generated answers."""
    first = objects(name, pieces.first(), 0, 1)
    answers = first[0].get("filtered_resps") if first else None
    if isinstance(answers, list) and answers and isinstance(answers[0], str):
        filters = _Filters()
        return Log(name, lambda: _generated(name, pieces, filters), choose=_choose, notes=filters.notes)
    return SampleLog(name, pieces)


class _Filters:
    """A document is scored once for each filter of its task: the first is taken, and it is told which that is."""

    def __init__(self) -> None:
        self._found: list[Any] = []

    def takes(self, sample: Mapping[str, Any]) -> bool:
        """Whether a sample is of the first filter."""
        one = sample.get("filter")
        if one not in self._found:
            self._found.append(one)
        return bool(one == self._found[0])

    def notes(self) -> tuple[str, ...]:
        """Which filters there are, in a sentence; nothing of a single one."""
        if len(self._found) < 2:
            return ()
        taken, *others = (printable_value(one) for one in self._found)
        return (f"Answers are scored by {len(self._found)} filters: {taken} is taken, {', '.join(others)} left out.",)


def _generated(name: str, pieces: Pieces, filters: _Filters) -> Iterator[dict[str, Any]]:
    """The rows of generated answers: graded by the first metric of the task that is 0 or 1, the same for all rows."""
    done = 0
    metric = _metric_of(objects(name, pieces.first(), 0, _LOOKED_AT))
    for piece in pieces:
        for sample in objects(name, bytes(piece.data), done):
            done += 1
            if not filters.takes(sample):
                continue
            answers = sample.get("filtered_resps")
            raw = sample.get("resps")
            # of several answers the filter makes the one that is graded
            while isinstance(raw, list) and len(raw) == 1:
                raw = raw[0]
            rest = {key: value for key, value in sample.items() if key in (*_CLAIMS, *_metrics(sample))}
            grade = None if metric is None else sample.get(metric)
            if grade is not None and grade not in (0, 1):
                rest[WHY] = PARTIAL
            document = sample.get("doc")
            yield record(
                {
                    "id": str(sample.get("doc_id")),
                    "task": _task_of(name),
                    "correct": bool(grade) if grade in (0, 1) else None,
                    # filters cut answers down to what is graded
                    "response": raw if isinstance(raw, str) else answers[0] if isinstance(answers, list) else None,
                    "question": document.get("question") if isinstance(document, dict) else None,
                    **{key: value for key, value in rest.items() if key not in ("correct", "response")},
                }
            )


def _metrics(sample: dict[str, Any]) -> list[str]:
    """What the metrics of a sample are called, those of its task first."""
    own = sample.get("metrics")
    return [*(one for one in own if isinstance(one, str)), *_GRADES] if isinstance(own, list) else [*_GRADES]


def _metric_of(samples: list[dict[str, Any]]) -> str | None:
    """The first metric that is 0 or 1 in all samples which have it; F1 is not, though it is sometimes 1."""
    for name in dict.fromkeys(one for sample in samples for one in _metrics(sample)):
        values = [sample[name] for sample in samples if sample.get(name) is not None]
        if values and all(value in (0, 1) for value in values):
            return name
    return None


def _choose(name: str, rows: list[dict[str, Any]], given: Mapping[str, Any]) -> Columns | str:
    """A confidence that the log holds, or that answers state."""
    try:
        found = find_columns(name, first_look(rows), {"correct": "correct", **given})
    except Ambiguous:
        if given:
            raise
        return (
            "the log holds no confidence, and its answers state none; ask the model for one ('Confidence: 85%'), or "
            "say how it is stated with --confidence response --confidence-pattern REGEX"
        )
    if "correct" not in given and all(row["correct"] is None for row in rows):
        return "none of its metrics is 0 or 1 for each answer, so it does not say which answers are right"
    return found


def _task_of(name: str) -> str:
    match = re.match(r"samples_(.+?)(?:_\d{4}-\d{2}-\d{2}T.*)?\.jsonl", PurePath(name).name)
    task = match[1] if match else PurePath(name).name
    # a file may be called by bytes that are no text
    return task.encode("utf-8", "backslashreplace").decode()


class SampleLog:
    """One task's samples. Choices are compared by their log-likelihood as it is, not divided by their length."""

    is_text = False
    columns: Columns | None = COLUMNS

    def __init__(self, name: str, pieces: Pieces) -> None:
        self.name, self._pieces = name, pieces
        self.task = _task_of(name)
        self._filters = _Filters()
        self._head = self._rows(objects(name, pieces.first(), 0, 100), 0)
        self.schema = self._head.schema

    def head(self) -> pa.Table:
        return self._head

    def notes(self) -> tuple[str, ...]:
        """What was read otherwise than it stands in the log, in sentences."""
        return self._filters.notes()

    def batches(self, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[Batch]:
        done = 0
        for piece in self._pieces:
            rows = objects(self.name, bytes(piece.data), done)
            table = self._rows(rows, done).select([c for c in self.schema.names if c in columns])
            done += len(rows)
            yield Batch(table, piece.share)

    def _rows(self, samples: list[dict[str, Any]], done: int) -> pa.Table:
        import pyarrow as pa

        found: dict[str, list[Any]] = {name: [] for name in ("correct", "confidence", "doubt", "choice", "task", "id")}
        for i, sample in enumerate(samples):
            if not self._filters.takes(sample):
                continue
            where: dict[str, Any] = {"file": self.name, "row": done + i}
            logs = _log_likelihoods(where, sample)
            chosen = max(range(len(logs)), key=lambda k: logs[k])
            others = math.fsum(math.exp(x - logs[chosen]) for k, x in enumerate(logs) if k != chosen)
            found["correct"].append(_is_right(where, sample, chosen))
            found["confidence"].append(1 / (1 + others))
            found["doubt"].append(others / (1 + others))
            found["choice"].append(chosen)
            found["task"].append(self.task)
            found["id"].append(_id_of(where, sample))
        return pa.table(found)


def _id_of(where: dict[str, Any], sample: dict[str, Any]) -> str:
    text = str(sample.get("doc_id"))
    if text.encode("utf-8", "replace").decode() != text:
        why = "which is half of a character (a lone surrogate), not text"
        raise BadFile(why, column="doc_id", value=text, **where)
    return text


def _log_likelihoods(where: dict[str, Any], sample: dict[str, Any]) -> list[float]:
    answers = sample.get("filtered_resps")
    try:
        logs = [float(answer[0]) for answer in answers]  # type: ignore[union-attr]
        if len(logs) < 2 or any(isinstance(answer, str) for answer in answers):  # type: ignore[union-attr]
            raise ValueError
    except (TypeError, ValueError, OverflowError, IndexError, KeyError):
        raise BadFile(
            "not the log-likelihoods of choices; for generated answers the log holds no confidence",
            column="filtered_resps",
            value=answers,
            hint="give JSON lines with a confidence",
            **where,
        ) from None
    if _has_unconditional(sample, len(logs)):
        # behind those of the choices stand those without the question, for acc_mutual_info
        logs = logs[: len(logs) // 2]
    if not all(math.isfinite(x) for x in logs):
        raise BadFile("all must be finite", column="a log-likelihood", value=logs, **where)
    return logs


def _has_unconditional(sample: dict[str, Any], count: int) -> bool:
    metrics = sample.get("metrics")
    is_named = "acc_mutual_info" in sample or (isinstance(metrics, list) and "acc_mutual_info" in metrics)
    return is_named and count >= 4 and count % 2 == 0


def _is_right(where: dict[str, Any], sample: dict[str, Any], chosen: int) -> bool:
    """By the accuracy the harness wrote down; else by the index, the text or the letter of the right choice."""
    target, document, accuracy = sample.get("target"), sample.get("doc"), sample.get("acc")
    if accuracy in (0, 1):
        return bool(accuracy)
    if isinstance(accuracy, float):
        why = "neither 0 nor 1: several choices may be right, and the log does not say whether the likeliest is"
        raise BadFile(why, column="acc", value=accuracy, **where)
    if isinstance(target, int) and not isinstance(target, bool):
        return target == chosen
    if isinstance(target, str):
        choices = document.get("choices") if isinstance(document, dict) else None
        choices = choices.get("text") if isinstance(choices, dict) else choices
        texts = [str(choice).strip() for choice in choices] if isinstance(choices, list) else []
        if target.strip() in texts:
            return texts.index(target.strip()) == chosen
        if re.fullmatch(r"\d{1,9}", target.strip()):
            return int(target) == chosen
        if len(target.strip()) == 1 and target.strip() in _LETTERS:
            return _LETTERS.index(target.strip()) == chosen
    why = "which is none of the choices, and acc is absent"
    raise BadFile(why, column="target", value=sample.get("target"), **where)
