"""Labelled rows of a Spark stream, counted into the totals of a store: each micro-batch once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot.core.tally import Tally
from surefoot.metrics import ALL
from surefoot.metrics.tallying import terms_for
from surefoot.metrics.terms import ROWS
from surefoot.predictions import Predictions
from surefoot.service import totals
from surefoot.service.batches import check_name
from surefoot.service.database import Database, connect
from surefoot.service.refused import Refused
from surefoot.service.store import Store


def count_batches(
    store: str,
    model: str,
    version: str = "1",
    *,
    name: str,
    correct: str = "correct",
    confidence: str | None = "confidence",
    doubt: str | None = None,
) -> Callable[[Any, int], None]:
    """Return what ``foreachBatch`` of a streaming DataFrame takes to count its rows in a store.

    The totals of a micro-batch are computed by Spark and added to the store in one transaction with the number of the
    batch, so that a batch that Spark runs again after a crash is counted once. As their labels are known, the rows are
    in the totals and are never bet on. The pages and reports of ``surefoot serve`` on the same store show them.

    Parameters
    ----------
    store : str
        The store: a file, or ``postgresql://...``; it must be reachable from the driver.
    model, version : str
        The model, and its version.
    name : str
        A name of the query. As batches are numbered by its checkpoint, a query with a new checkpoint needs a new name.
    correct : str, default="correct"
        The column that says whether each prediction was correct.
    confidence : str, optional
        The column of confidences.
    doubt : str, optional
        The column of 1 - confidence, where the stream has it.

    Returns
    -------
    callable
        A function of a DataFrame and the number of the batch.

    Raises
    ------
    ValueError
        If a name cannot be used, or the batches are those of another checkpoint.

    Examples
    --------
    Of a streaming DataFrame ``rows``::

        count = count_batches("postgresql://host/database", "fraud", name="fraud from lake")
        query = rows.writeStream.foreachBatch(count).option("checkpointLocation", folder).start()
    """
    try:
        check_name("model", model)
        check_name("version", version)
    except Refused as refused:
        raise ValueError(refused.message) from refused
    if not name:
        raise ValueError("name is empty; give the query a name of its own, such as 'fraud from lake'.")

    def count(frame: Any, batch: int) -> None:
        columns = {"correct": correct, "confidence": confidence, "doubt": doubt}
        # it is read several times, and a source need not give the same rows twice
        frame = frame.select(*(column for column in columns.values() if column is not None)).persist()
        database = connect(store)
        try:
            if not _was_counted(database, name, batch):
                _add(database, (model, version), name, batch, None if frame.isEmpty() else _tally(frame, columns))
        finally:
            database.close()
            frame.unpersist()

    return count


def _tally(frame: Any, columns: dict[str, str | None]) -> Tally:
    p = Predictions.from_frame(frame, **columns)  # type: ignore[arg-type]
    return p.tally(terms_for([metric for metric in ALL.values() if not metric.missing(p) and metric.additive]))


def _was_counted(database: Database, name: str, batch: int) -> bool:
    """Whether a batch is in the totals; after a crash Spark repeats the last one, and none before it."""
    with database.reading() as cursor:
        found = cursor.one("SELECT next FROM consumed WHERE consumer = ? AND topic = 'spark' AND part = 0", name)
    following = 0 if found is None else int(found[0])
    if found is not None and batch not in (following - 1, following):
        raise ValueError(
            f"batch {batch} of {name!r} comes after batch {following - 1}: it has another checkpoint; give the query "
            "another name"
        )
    return batch < following


def _add(database: Database, model: tuple[str, str], name: str, batch: int, total: Tally | None) -> None:
    with database.writing() as cursor:
        moved = cursor.one(
            "INSERT INTO consumed (consumer, topic, part, next, refused) VALUES (?, 'spark', 0, ?, 0) "
            "ON CONFLICT (consumer, topic, part) DO UPDATE SET next = excluded.next "
            "WHERE consumed.next < excluded.next RETURNING next",
            name, batch + 1,
        )  # fmt: skip
        if moved is None or total is None:
            return
        totals.add(cursor, Store(database).add_labelled(cursor, *model, round(total[ROWS])), total)
