"""A consumer group of Kafka that feeds a store, with confluent-kafka."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from surefoot._io.printable import printable
from surefoot.errors import MissingPackage
from surefoot.service.consuming import Intake, Message, Received

log = logging.getLogger("surefoot.service")

#: Messages that are taken in one transaction at most, and seconds to wait for the first.
_TOGETHER, _WAIT = 1_000, 0.2


class KafkaError(Exception):
    """The broker cannot be used any more."""


def properties(path: str | PathLike[str]) -> dict[str, str]:
    """The settings of a file of ``name=value`` lines, as Kafka's own tools read them."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            name, equals, value = text.partition("=")
            if not equals or not name.strip():
                raise ValueError(f"line {number} is {printable(text)!r}; it should be name=value")
            found[name.strip()] = value.strip()
    return found


def consume(
    intake: Intake,
    topics: Sequence[str],
    settings: Mapping[str, Any],
    *,
    model: str,
    version: str,
    stop: threading.Event,
    stop_at_end: bool = False,
) -> Received:
    """Read topics until told to stop, or until their end.

    Messages with a header ``model`` or ``version`` belong to that one. Offsets count as read when they are stored;
    the broker is told of them only so that its tools show the lag.
    """
    try:
        import confluent_kafka as kafka
    except ImportError as error:
        raise MissingPackage("consume needs confluent-kafka: pip install 'surefoot[kafka]'.") from error
    received = Received()
    awaited: set[tuple[str, int]] = set()
    is_assigned = threading.Event()

    def assign(consumer: Any, parts: list[Any]) -> None:
        for part in parts:
            start = intake.next_of(part.topic, part.partition)
            if start is not None:
                part.offset = start
        awaited.update((part.topic, part.partition) for part in parts)
        consumer.assign(parts)
        is_assigned.set()

    def revoke(consumer: Any, parts: list[Any]) -> None:
        awaited.difference_update((part.topic, part.partition) for part in parts)
        consumer.unassign()

    consumer = kafka.Consumer(
        {
            "auto.offset.reset": "earliest",
            "client.id": "surefoot",
            **settings,
            # whatever the settings say: a message is done when the store has it
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.subscribe(list(topics), on_assign=assign, on_revoke=revoke, on_lost=revoke)
        while not stop.is_set():
            found = consumer.consume(_TOGETHER, _WAIT)
            messages, ends = [], []
            for one in found:
                why = one.error()
                if why is None:
                    if one.value() is not None:
                        messages.append(_message(one, model, version))
                elif why.code() == kafka.KafkaError._PARTITION_EOF:
                    ends.append((one.topic(), one.partition()))
                elif why.fatal() or why.code() in _hopeless(kafka):
                    raise KafkaError(printable(why.str(), 300))
                else:
                    log.warning("Kafka: %s", printable(why.str(), 300))
            awaited.update((one.topic, one.part) for one in messages)
            if messages:
                received += intake.add(messages)
                _report(consumer, kafka, messages)
            awaited.difference_update(ends)
            if stop_at_end and is_assigned.is_set() and not awaited:
                break
    finally:
        consumer.close()
    return received


def _hopeless(kafka: Any) -> tuple[int, ...]:
    """Errors that waiting does not mend."""
    names = ("UNKNOWN_TOPIC_OR_PART", "TOPIC_AUTHORIZATION_FAILED", "GROUP_AUTHORIZATION_FAILED", "_AUTHENTICATION")
    return tuple(getattr(kafka.KafkaError, name) for name in names)


def _message(one: Any, model: str, version: str) -> Message:
    headers = {name: value.decode("utf-8", "replace") for name, value in one.headers() or () if value is not None}
    return Message(
        one.topic(),
        one.partition(),
        one.offset(),
        one.value(),
        headers.get("model", model),
        headers.get("version", version),
    )


def _report(consumer: Any, kafka: Any, messages: Sequence[Message]) -> None:
    """Tell the broker how far messages were read."""
    last = {(one.topic, one.part): one.offset + 1 for one in messages}
    consumer.commit(
        offsets=[kafka.TopicPartition(topic, part, offset) for (topic, part), offset in last.items()], asynchronous=True
    )
