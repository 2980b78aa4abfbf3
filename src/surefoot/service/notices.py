"""What is announced: an alarm, an episode of drift, a slice that is flagged. Each is kept in a table and sent once."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from surefoot.render.monitor_view import alarm_words, episode_words, open_episode
from surefoot.service.database import Cursor, Database
from surefoot.service.following import Follower
from surefoot.service.store import Stream

#: Seconds for which a server that sends a notice keeps it to itself.
LEASE = 60


@dataclass(frozen=True)
class Happening:
    """Something to announce: its kind, a name that tells it from others of the kind, and the rows that it spans."""

    kind: str
    name: str
    first: int
    last: int
    words: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Notice:
    """A happening as it is sent."""

    key: int
    body: str


def happenings(follower: Follower) -> Iterator[Happening]:
    """What there is to announce of a stream as it stands; call it within ``follower.looking()``."""
    m = follower.monitor
    numbers: dict[str, Any]
    if m.alarm_row is not None:
        numbers = {"row": m.alarm_row, "level": m.level, "log_e_value": _finite(m.log_e)}
        yield Happening("alarm", "", m.alarm_row, m.alarm_row, alarm_words(m), numbers)
    # one that is over was none when this was asked before: its rows came, and ended, in between
    for episode in m.episodes:
        numbers = {
            "side": episode.side,
            "onset": episode.onset,
            "detected": episode.first_alarm,
            "expected_errors": episode.expected_errors,
            "observed_errors": episode.observed_errors,
            "open": episode is open_episode(m),
        }
        yield Happening("drift", "", episode.onset, episode.last_alarm, episode_words(episode), numbers)
    for part in follower.parts.look():
        if part.is_flagged:
            words = f"slice {part.name}: {part.monitor.errors:,} errors where {part.monitor.stated:,.1f} were expected"
            numbers = {
                "slice": part.name,
                "rows": part.monitor.rows,
                "expected_errors": part.monitor.stated,
                "observed_errors": part.monitor.errors,
                "largest_log_e_value": _finite(part.log_peak),
            }
            yield Happening("slice", part.name, 0, 0, words, numbers)


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


class Outbox:
    """Notices in the store, which outlive a crash; several servers may share it.

    Parameters
    ----------
    database : Database
        Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, stream: Stream, found: list[Happening], title: str) -> int:
        """Add what was not announced before; return how many that were."""
        with self._database.writing() as cursor:
            # who else would add them waits here, and then finds them added
            cursor.one("UPDATE stream SET followed = followed WHERE id = ? RETURNING id", stream.key)
            return sum(self._add(cursor, stream, one, title) for one in found)

    def _add(self, cursor: Cursor, stream: Stream, one: Happening, title: str) -> bool:
        known = cursor.one(
            "SELECT max(until) FROM notice WHERE stream = ? AND kind = ? AND name = ?", stream.key, one.kind, one.name
        )
        until = None if known is None else known[0]
        # a change that began before the last episode ended is that episode, seen again, or by another server
        if until is not None and (one.kind != "drift" or one.first <= until):
            if one.last > until:
                cursor.run(
                    "UPDATE notice SET until = ? WHERE stream = ? AND kind = ? AND name = ? AND until = ?",
                    one.last, stream.key, one.kind, one.name, until,
                )  # fmt: skip
            return False
        now = int(time.time())
        body = {
            "kind": one.kind,
            "model": stream.model,
            "version": stream.version,
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
            "headline": title,
            "text": one.words,
            **one.numbers,
        }
        cursor.run(
            "INSERT INTO notice (stream, kind, name, until, created, body) VALUES (?, ?, ?, ?, ?, ?)",
            stream.key, one.kind, one.name, one.last, now, json.dumps(body),
        )  # fmt: skip
        # earlier episodes that are sent say nothing any more
        cursor.run(
            "DELETE FROM notice WHERE stream = ? AND kind = 'drift' AND sent IS NOT NULL AND until < ?",
            stream.key,
            one.first,
        )
        return True

    def counts(self, stream: Stream) -> dict[str, int]:
        """How many notices of a stream are acknowledged, and how many wait."""
        with self._database.reading() as cursor:
            found = cursor.one("SELECT count(sent), count(*) FROM notice WHERE stream = ?", stream.key)
        assert found is not None
        return {"acknowledged": found[0], "waiting": found[1] - found[0]}

    def waiting(self) -> list[int]:
        """Those that are not acknowledged, the oldest first."""
        with self._database.reading() as cursor:
            return [key for (key,) in cursor.all("SELECT id FROM notice WHERE sent IS NULL ORDER BY id")]

    def claim(self, key: int) -> Notice | None:
        """Take one to send, for a minute; None if another server has it, or has sent it."""
        now = int(time.time())
        with self._database.writing() as cursor:
            # a lease from the future was given before the clock was moved back
            found = cursor.one(
                "UPDATE notice SET leased = ? WHERE id = ? AND sent IS NULL "
                "AND (leased IS NULL OR leased <= ? OR leased > ?) RETURNING body",
                now, key, now - LEASE, now + LEASE,
            )  # fmt: skip
        return None if found is None else Notice(key, found[0])

    def release(self, key: int, *, is_sent: bool) -> None:
        """Give one back that could not be sent, or note that it is acknowledged."""
        with self._database.writing() as cursor:
            cursor.run(
                "UPDATE notice SET leased = NULL, sent = ? WHERE id = ?", int(time.time()) if is_sent else None, key
            )
