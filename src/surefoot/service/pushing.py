"""Files whose rows are sent to a server: predictions, predictions with their labels, or labels alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from surefoot._io.masking import masked
from surefoot._io.printable import printable
from surefoot.core.tally import Tally
from surefoot.errors import InvalidPredictions
from surefoot.files.identifiers import keep_as_written, text_of_id
from surefoot.files.opening import open_data
from surefoot.files.reasons import is_no_label
from surefoot.files.source import BadFile, Batch
from surefoot.predictions.borders import attempts_of
from surefoot.service.batches import class_text, is_class
from surefoot.service.refused import Refused
from surefoot.service.rounded import DoubtOfWrittenOnes, add_doubts, doubt_of_ones

#: Columns of a file by what they are, and the names they are known by.
NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "prediction_id", "request_id", "uuid"),
    "confidence": ("confidence",),
    "doubt": ("doubt",),
    "predicted": ("predicted", "prediction", "y_pred"),
    "slice": ("slice",),
    "group": ("group",),
    "correct": ("correct", "is_correct"),
    "label": ("label", "truth", "y_true", "target"),
    "attempted": ("attempted",),
}
_TEXTS = {"id", "predicted", "label", "slice", "group"}
_RIGHT = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}


def rows_of(path: str, named: Mapping[str, str]) -> tuple[str, dict[str, str], Iterator[list[dict[str, Any]]]]:
    """What a file holds (predictions or labels), its columns by what they are, and its rows, batch by batch."""
    sources = open_data(path, None, None)
    if isinstance(sources, Tally):
        raise BadFile("a saved tally holds no rows to send", file=masked(path))
    head = list(sources[0].head().column_names)
    columns = {role: name for role in NAMES if (name := _column(path, role, named.get(role), head)) is not None}
    if "id" not in columns:
        raise BadFile(f"no column of ids; name it with --id; the columns are {_listed(head)}", file=masked(path))
    is_labels = "confidence" not in columns and "doubt" not in columns
    if is_labels and "correct" not in columns and "label" not in columns:
        raise BadFile(
            f"neither confidences nor labels; name a column with --confidence, --correct or --label; the columns are "
            f"{_listed(head)}",
            file=masked(path),
        )
    if is_labels and "predicted" in columns and not {"correct", "label"} & named.keys():
        raise BadFile(
            f"column '{printable(columns['predicted'])}' holds predictions, and no column their confidences; name it "
            f"with --confidence. To send labels alone, name theirs with --label or --correct. The columns are "
            f"{_listed(head)}",
            file=masked(path),
        )
    if is_labels:
        role = "correct" if "correct" in columns else "label"
        columns = {name: columns[name] for name in ("id", role, "attempted") if name in columns}
    elif "label" in columns and "predicted" not in columns:
        if "correct" not in columns:
            raise BadFile(
                f"column '{printable(columns['label'])}' holds true classes, but no column the predicted ones, so "
                "nothing says which predictions were correct; name one with --predicted or --correct",
                file=masked(path),
            )
        del columns["label"]

    for role in ("id", "predicted", "label", "slice", "group"):
        if role in columns:
            keep_as_written(sources, columns[role])

    def batches() -> Iterator[list[dict[str, Any]]]:
        done, written = 0, DoubtOfWrittenOnes()
        numbers = [columns[role] for role in ("confidence", "doubt") if role in columns]
        for source in sources:
            for batch in source.batches(list(columns.values()), numbers):
                lists = {role: batch.table.column(name).to_pylist() for role, name in columns.items()}
                attempted = _attempted(path, lists.pop("attempted", None), batch.table.num_rows)
                rows = [
                    _row(path, done + i, dict(zip(lists, values, strict=True)))
                    for i, values in enumerate(zip(*lists.values(), strict=True))
                    if attempted[i]
                ]
                if "confidence" in columns:
                    stated = np.array([row.get("confidence", np.nan) for row in rows], dtype=np.float64)
                    add_doubts(rows, written.of(stated) if source.is_text else _doubt_of_ones(batch, columns))
                yield rows
                done += batch.table.num_rows

    return ("labels" if is_labels else "predictions"), columns, batches()


def _doubt_of_ones(batch: Batch, columns: Mapping[str, str]) -> float:
    return doubt_of_ones(batch.table.column(columns["confidence"]).to_numpy())


def _attempted(path: str, flags: list[Any] | None, rows: int) -> Any:
    """Which rows were attempted: the others are neither right nor wrong, and are not sent."""
    if flags is None:
        return np.ones(rows, dtype=bool)
    try:
        return attempts_of(flags).flags
    except InvalidPredictions as error:
        raise BadFile(str(error).rstrip("."), file=masked(path)) from error


def _column(path: str, role: str, wanted: str | None, head: list[str]) -> str | None:
    if wanted is not None and wanted not in head:
        raise BadFile(f"no column '{printable(wanted)}'; the columns are {_listed(head)}", file=masked(path))
    return wanted or next((name for name in NAMES[role] if name in head), None)


def _listed(head: list[str]) -> str:
    return ", ".join(printable(name) for name in head[:12])


def _text(path: str, number: int, role: str, value: Any) -> str:
    """What names a row, a class, a slice or a group, as text, whatever kind of column it stood in."""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            raise BadFile(
                f"{role} is {printable(repr(value))} in row {number + 1}; it should be text", file=masked(path)
            ) from None
    return text_of_id(value) if role == "id" else str(class_text(value))


def _row(path: str, number: int, row: dict[str, Any]) -> dict[str, Any]:
    # a number that is none is how some write a missing one, and an empty cell how others do
    row = {role: value for role, value in row.items() if value is not None and value == value and value != ""}
    if "id" not in row:
        raise BadFile(f"row {number + 1} has no id", file=masked(path))
    for role in _TEXTS.intersection(row):
        if role in ("label", "predicted") and is_no_label(row[role]):
            # as assess does: what programs write for a missing label is no class
            raise BadFile(
                f"{role} is {row[role]!r} in row {number + 1}, which is how programs write that there is none; leave "
                "such rows out, or send their labels when they come",
                file=masked(path),
            )
        row[role] = _text(path, number, role, row[role])
    if isinstance(row.get("correct"), str | int | float) and not isinstance(row["correct"], bool):
        text = str(row["correct"]).strip().lower().removesuffix(".0")
        if text not in _RIGHT:
            raise BadFile(
                f"correct is {printable(repr(row['correct']))} in row {number + 1}; it should be true or false",
                file=masked(path),
            )
        row["correct"] = _RIGHT[text]
    if "label" in row and "predicted" in row:
        label = row.pop("label")
        try:
            row.setdefault("correct", is_class(row["predicted"], label, f"row {number + 1}"))
        except Refused as refused:
            raise BadFile(refused.message, file=masked(path)) from refused
    for role in ("confidence", "doubt"):
        if isinstance(row.get(role), str):
            try:
                row[role] = float(row[role])
            except ValueError:
                raise BadFile(
                    f"{role} is {printable(repr(row[role]))} in row {number + 1}; it should be a number",
                    file=masked(path),
                ) from None
    return row
