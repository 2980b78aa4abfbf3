"""Rows from a log such as Kafka: each message counts once, as how far it was read is stored with what was read."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from surefoot._io.printable import printable
from surefoot.service import batches
from surefoot.service.database import Cursor, Database
from surefoot.service.refused import Refused
from surefoot.service.store import Job, Store

log = logging.getLogger("surefoot.service")

Part = tuple[str, int]


@dataclass(frozen=True)
class Message:
    """A message of a partition of a topic, and the model and version that its rows belong to."""

    topic: str
    part: int
    offset: int
    value: bytes
    model: str
    version: str


@dataclass
class Received:
    """Messages and rows that counted, rows that came again, and messages of which something was refused."""

    messages: int = 0
    counted: int = 0
    repeated: int = 0
    refused: int = 0

    def __iadd__(self, other: Received) -> Received:
        self.messages += other.messages
        self.counted += other.counted
        self.repeated += other.repeated
        self.refused += other.refused
        return self


class Intake:
    """Takes messages into a store, in transactions that also hold the offset of the next message.

    Parameters
    ----------
    database : Database
        The store.
    consumer : str
        The name under which offsets are kept: that of the consumer group.
    """

    def __init__(self, database: Database, consumer: str) -> None:
        self._database, self._store, self._consumer = database, Store(database), consumer

    def next_of(self, topic: str, part: int) -> int | None:
        """The offset from which to go on; None if nothing of this partition was ever stored."""
        with self._database.reading() as cursor:
            found = cursor.one(
                "SELECT next FROM consumed WHERE consumer = ? AND topic = ? AND part = ?", self._consumer, topic, part
            )
        return None if found is None else int(found[0])

    def add(self, messages: Sequence[Message]) -> Received:
        """Count messages that were not counted before; when this returns, they are on disk with their offsets."""
        by_part: dict[Part, list[Message]] = {}
        for one in messages:
            by_part.setdefault((one.topic, one.part), []).append(one)
        received = Received()
        with self._database.writing() as cursor:
            fresh: list[Message] = []
            refused: dict[Part, int] = {}
            # partitions first, then streams, each by name: who else writes waits for these, and never in a circle
            for part in sorted(by_part):
                start = self._lock(cursor, part)
                new = [one for one in by_part[part] if one.offset >= start]
                if len(new) < len(by_part[part]):
                    log.warning(
                        "%s, partition %d: %d messages before offset %d were counted before; if the topic was made "
                        "anew, read it with another --group",
                        printable(part[0]), part[1], len(by_part[part]) - len(new), start,
                    )  # fmt: skip
                fresh += new
                refused[part] = 0
            received.messages = len(fresh)
            jobs: dict[tuple[str, str], list[tuple[Message, Job]]] = {}
            for one in fresh:
                try:
                    model = batches.check_name("model", one.model), batches.check_name("version", one.version)
                    for job in batches.message(one.value):
                        jobs.setdefault(model, []).append((one, job))
                except Refused as why:
                    self._refuse(one, why, refused)
            for model in sorted(jobs):
                self._add(cursor, model, jobs[model], received, refused)
            for part, own in by_part.items():
                cursor.run(
                    "UPDATE consumed SET next = CASE WHEN next > ? THEN next ELSE ? END, refused = refused + ? "
                    "WHERE consumer = ? AND topic = ? AND part = ?",
                    *(own[-1].offset + 1,) * 2, refused[part], self._consumer, *part,
                )  # fmt: skip
        received.refused = sum(refused.values())
        return received

    def _lock(self, cursor: Cursor, part: Part) -> int:
        """The next offset of a partition, which no other consumer moves until this transaction has ended."""
        found = cursor.one(
            "INSERT INTO consumed (consumer, topic, part, next, refused) VALUES (?, ?, ?, 0, 0) "
            "ON CONFLICT (consumer, topic, part) DO UPDATE SET next = consumed.next RETURNING next",
            self._consumer, *part,
        )  # fmt: skip
        assert found is not None
        return int(found[0])

    def _add(
        self,
        cursor: Cursor,
        model: tuple[str, str],
        jobs: list[tuple[Message, Job]],
        received: Received,
        refused: dict[Part, int],
    ) -> None:
        try:
            results = self._store.add_within(cursor, *model, [job for _, job in jobs])
        except Refused as why:
            results = [why] * len(jobs)
        for (one, _), result in zip(jobs, results, strict=True):
            if isinstance(result, Refused):
                self._refuse(one, result, refused)
            else:
                received.counted += result.counted
                received.repeated += result.repeated

    def _refuse(self, one: Message, why: Refused, refused: dict[Part, int]) -> None:
        """A message that can never be counted must not stop those behind it: it is counted apart, and named."""
        refused[one.topic, one.part] += 1
        log.warning(
            "%s, partition %d, offset %d: not counted: %s", printable(one.topic), one.part, one.offset, why.message
        )
