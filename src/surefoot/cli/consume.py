"""``surefoot consume``."""

from __future__ import annotations

import logging
import signal
import threading
from typing import Annotated, Any

import typer

from surefoot.cli.errors import Failed, clear_errors, print_error, say
from surefoot.cli.serve import KeepHours, KeepIds, LabelWindow, MeanTime


def command(
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...", help="Topics to read.", show_default=False)],
    brokers: Annotated[
        str, typer.Option("--brokers", metavar="HOST:PORT", help="Kafka brokers, separated by commas.")
    ] = "127.0.0.1:9092",
    store: Annotated[
        str,
        typer.Option("--store", metavar="FILE|URL", help="SQLite file, made if it is missing, or postgresql://..."),
    ] = "surefoot.db",
    group: Annotated[str, typer.Option("--group", metavar="NAME", help="Consumer group.")] = "surefoot",
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="Model of messages that have no header 'model'.")
    ] = "default",
    version: Annotated[
        str, typer.Option("--version", metavar="NAME", help="Version of messages that have no header 'version'.")
    ] = "1",
    settings: Annotated[
        str | None,
        typer.Option(
            "--config", metavar="FILE", help="Further settings of the client, as name=value lines.", show_default=False
        ),
    ] = None,
    label_window: LabelWindow = 100_000,
    keep_ids: KeepIds = 24,
    keep_hours: KeepHours = 168,
    mean_time: MeanTime = 10_000,
    stop_at_end: Annotated[bool, typer.Option("--stop-at-end", help="Exit at the end of the topics.")] = False,
) -> None:
    """Read predictions and labels from Kafka into the store of surefoot serve.

    A message is JSON or an Arrow stream, as a request to the server is. Each is counted once, however often this
    command is killed, and several may run in one group. It also drops what is no longer kept: give it the --keep-ids
    and the other numbers that surefoot serve has on the same store.

    \b
      surefoot consume predictions --brokers broker:9092 --model fraud
      surefoot serve    # in another terminal: the pages
    """
    with clear_errors():
        from surefoot._io.masking import masked
        from surefoot.errors import MissingPackage
        from surefoot.service.consuming import Intake
        from surefoot.service.database import connect
        from surefoot.service.kafka import KafkaError, consume, properties
        from surefoot.service.service import Service

        more = _properties(properties, settings)
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
        try:
            database = connect(store)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
        except Exception as error:
            raise Failed(print_error(f"{masked(store)}: cannot be opened: {_line(error)}", 3)) from error
        service = Service(
            database, label_window=label_window, keep_ids=keep_ids, keep_hours=keep_hours, mean_time=mean_time
        )
        service.start()
        say(f"  Reading    {', '.join(topics)} at {brokers} as group {group}")
        say(f"  Store      {masked(store)}")
        try:
            received = consume(
                Intake(database, group),
                topics,
                {**more, "bootstrap.servers": brokers, "group.id": group},
                model=model,
                version=version,
                stop=stop,
                stop_at_end=stop_at_end,
            )
        except MissingPackage as error:
            raise Failed(print_error(str(error), 2)) from error
        except KafkaError as error:
            raise Failed(print_error(f"Kafka: {error}", 3)) from error
        except Exception as error:
            reason = f"{_line(error)}; the messages that were being read are read again at the next start"
            raise Failed(print_error(reason, 3)) from error
        finally:
            service.stop()
        say(
            f"  Read {received.messages:,} messages: {received.counted:,} rows counted, {received.repeated:,} that "
            f"came again, {received.refused:,} messages refused"
        )


def _properties(read: Any, path: str | None) -> dict[str, str]:
    if path is None:
        return {}
    try:
        found: dict[str, str] = read(path)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise typer.BadParameter(f"--config: {path}: {_line(error)}") from error
    return found


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
