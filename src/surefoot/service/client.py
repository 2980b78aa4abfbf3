"""A client of the service: it repeats what fails, and with a spool it loses nothing when either side stops."""

from __future__ import annotations

import http.client
import json
import re
import sqlite3
import threading
import time
import warnings
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any
from urllib.parse import urlsplit

from surefoot._io.printable import printable
from surefoot.service.batches import check_name, check_rows
from surefoot.service.refused import Refused
from surefoot.service.requests import requests_of
from surefoot.service.rounded import add_doubts, doubt_of_ones

#: Statuses after which the same request may succeed in a moment; of those that refuse a token, and of those that refuse
#: rows for good if surefoot itself says so.
_AGAIN, _OF_TOKEN, _OF_ROWS = (408, 429, 500, 502, 503, 504), (401, 403), (400, 409, 413)
#: Seconds for which nobody waits for a server that does not answer, or for a path that is refused.
_PAUSE = 5.0


class ServiceError(Exception):
    """The service refused a request, or could not be reached.

    Parameters
    ----------
    message : str
        What went wrong, in one line.
    status : int, optional
        The HTTP status of the answer, if there was one.
    is_final : bool, default=False
        Whether surefoot refuses these rows whenever they are sent.

    Attributes
    ----------
    status : int or None
        The HTTP status; None if there was no answer.
    is_final : bool
        Whether surefoot refuses these rows whenever they are sent. If not, the same request may succeed later.
    """

    def __init__(self, message: str, status: int | None = None, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.status, self.is_final = status, is_final


class Client:
    """Send predictions and labels to a server that ``surefoot serve`` runs.

    Requests are repeated until they are acknowledged; as every row has an id, that is safe. With ``spool``, rows are
    first written to a file, so that they survive a crash of this process and a server that is away for hours.

    Parameters
    ----------
    url : str
        Where the server is, such as ``"http://127.0.0.1:8787"``.
    token : str, optional
        The token that the server gave.
    spool : str or path-like, optional
        A file that keeps rows until the server has them.
    timeout : float, default=10
        Seconds to wait for an answer.
    retries : int, default=4
        How often a request is repeated, after 0.1, 0.2, 0.4, ... seconds.

    Examples
    --------
    >>> import surefoot as sf
    >>> client = sf.Client("http://127.0.0.1:8787", "my-token")
    >>> client.waiting
    0
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        spool: str | PathLike[str] | None = None,
        timeout: float = 10.0,
        retries: int = 4,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url is {url!r}; give an address such as http://127.0.0.1:8787.")
        if token is not None and not re.fullmatch(r"[\x21-\x7e]+", token):
            raise ValueError("token has characters that no token has; copy it again, without what stands around it.")
        self.url, self._token, self._timeout, self._retries = url.rstrip("/"), token, timeout, retries
        self._parts = parts
        self._lock = threading.RLock()
        self._connection: http.client.HTTPConnection | None = None
        self._spool = None if spool is None else _Spool(spool)
        #: Until when nothing is sent, until when not to some paths, and which paths were warned of.
        self._not_before = 0.0
        self._paused: dict[str, float] = {}
        self._warned: set[str] = set()

    # -- sending -----------------------------------------------------------------------------------------------------

    def predictions(
        self,
        model: str,
        version: str,
        ids: Sequence[str | int],
        confidence: Sequence[float],
        *,
        doubt: Sequence[float] | None = None,
        predicted: Sequence[Any] | None = None,
        slice: Sequence[Any] | None = None,
        group: Sequence[Any] | None = None,
        correct: Sequence[bool] | None = None,
    ) -> None:
        """Send predictions, at the time when they are made.

        Parameters
        ----------
        model, version : str
            The model, and its version.
        ids : sequence of str or int
            An id for each prediction, by which its label will come.
        confidence : sequence of float
            The confidence in each predicted class. One of exactly 1 states certainty, unless all are numbers of a type
            that rounds to it, such as float32.
        doubt : sequence of float, optional
            1 - confidence, where you know it more precisely.
        predicted : sequence, optional
            The predicted classes, if labels will come as classes.
        slice : sequence, optional
            A part of the data for each, which is also counted apart.
        group : sequence, optional
            Predictions of this call that may depend on each other have the same group. Between the first and the last
            prediction of a group lie at most 10,000.
        correct : sequence of bool, optional
            Whether each was correct, where that is known already. Such rows are in the totals and are never bet on.

        Raises
        ------
        ValueError
            If the model's name, or with ``spool`` a row, is one that no server takes; nothing is sent then.
        ServiceError
            If the server refuses them, or without ``spool`` cannot be reached.
        """
        columns = {
            "confidence": confidence, "doubt": doubt, "predicted": predicted, "slice": slice, "group": group,
            "correct": correct,
        }  # fmt: skip
        rows = _rows(ids, columns)
        add_doubts(rows, doubt_of_ones(confidence))
        self._send(model, version, "predictions", rows)

    def labels(
        self,
        model: str,
        version: str,
        ids: Sequence[str | int],
        correct: Sequence[bool] | None = None,
        *,
        label: Sequence[Any] | None = None,
    ) -> None:
        """Send labels, when they are known.

        Parameters
        ----------
        model, version : str
            The model, and its version.
        ids : sequence of str or int
            The ids of the predictions.
        correct : sequence of bool, optional
            Whether each prediction was correct.
        label : sequence, optional
            In place of ``correct``: the true classes, if the predictions came with their predicted classes.

        Raises
        ------
        ValueError
            If the model's name, or with ``spool`` a row, is one that no server takes; nothing is sent then.
        ServiceError
            If the server refuses them, or without ``spool`` cannot be reached.
        """
        if (correct is None) == (label is None):
            raise ValueError("labels takes either correct= or label=.")
        self._send(model, version, "labels", _rows(ids, {"correct": correct, "label": label}))

    def state(self, model: str, version: str) -> dict[str, Any]:
        """Return where a model stands.

        Parameters
        ----------
        model, version : str
            The model, and its version.

        Returns
        -------
        dict
            What ``GET .../state`` answers.
        """
        return self._ask("GET", f"{_path(model, version)}/state", None, "monitor")

    @property
    def waiting(self) -> int:
        """Number of requests in the spool that the server does not have yet."""
        return 0 if self._spool is None else self._spool.count()

    def flush(self) -> int:
        """Send what waits in the spool now.

        Returns
        -------
        int
            How many requests still wait, because the server cannot be reached, or did not take them.

        Raises
        ------
        ServiceError
            If the server refuses the token for some of them; these wait, and all others were sent.
        """
        self._not_before = 0.0
        self._paused.clear()
        self._empty_spool()
        return self.waiting

    def close(self) -> None:
        """Close the connection and the spool; what waits in it is sent by the next client that opens it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            if self._spool is not None:
                self._spool.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # -- within ------------------------------------------------------------------------------------------------------

    def _send(self, model: str, version: str, what: str, rows: list[dict[str, Any]]) -> None:
        path, requests = f"{_path(model, version)}/{what}", list(requests_of([rows]))
        if self._spool is None:
            done = 0
            for request in requests:
                try:
                    self._post(path, request)
                except ServiceError as error:
                    if not done:
                        raise
                    words = f"{error} (counted from row {done:,}; those before it are stored)"
                    raise ServiceError(words, error.status, is_final=error.is_final) from error
                done += len(request)
        else:
            # what a server would refuse for ever is told now
            try:
                check_rows(what, rows)
            except Refused as refused:
                raise ValueError(refused.message) from refused
            self._spool.add(path, [json.dumps({what: request}) for request in requests])
            self._empty_spool()

    def _post(self, path: str, rows: list[dict[str, Any]]) -> None:
        self._ask("POST", path, json.dumps({path.rpartition("/")[2]: rows}), "counted")

    def _empty_spool(self) -> None:
        spool, last = self._spool, 0
        refused: ServiceError | None = None
        with self._lock:
            now = time.monotonic()
            self._paused = {path: until for path, until in self._paused.items() if now < until}
            # a path that is paused when this begins stays so until it ends: its requests keep their order
            while spool is not None and now >= self._not_before and (first := spool.first(last, list(self._paused))):
                last, path, body = first
                ((_, rows),) = json.loads(body).items()
                try:
                    self._deliver(path, rows)
                except ServiceError as error:
                    # it stays where it is
                    if error.status is None or error.status in _AGAIN:
                        self._not_before = time.monotonic() + _PAUSE
                        break
                    self._pause(path, error)
                    if error.status in _OF_TOKEN:
                        refused = refused or error
                    continue
                spool.remove(last)
                self._warned.discard(path)
        if refused is not None:
            raise refused

    def _pause(self, path: str, error: ServiceError) -> None:
        """For a while send nothing to a path, and all else to the others."""
        until = time.monotonic() + _PAUSE
        self._paused[path] = until
        if error.status in _OF_TOKEN:
            return
        # the next try may succeed, and labels that come before their predictions are no evidence
        self._paused[f"{path.rpartition('/')[0]}/labels"] = until
        if path not in self._warned:
            self._warned.add(path)
            warnings.warn(
                f"{error}; the rows for {path} stay in the spool and are sent again later. Check the address, and any "
                "proxy in front of the server",
                stacklevel=5,
            )

    def _deliver(self, path: str, rows: list[dict[str, Any]]) -> None:
        """Send rows; those that the server will never take are named, and the others arrive."""
        try:
            self._post(path, rows)
        except ServiceError as error:
            if not error.is_final:
                raise
            # rows of a group stay together; of others, those that are refused are found
            if len(rows) == 1 or any(row.get("group") is not None for row in rows):
                count = f"{len(rows):,} row{'s' * (len(rows) > 1)}"
                warnings.warn(f"the service refused {count} for good: {error}", stacklevel=5)
                return
            half = len(rows) // 2
            self._deliver(path, rows[:half])
            self._deliver(path, rows[half:])

    def _ask(self, method: str, path: str, body: str | None, field: str) -> dict[str, Any]:
        """What the server answers: an object that has a field; anything else may come from a proxy before it."""
        for attempt in range(self._retries + 1):
            try:
                status, answer = self._request(method, path, body)
            except (OSError, http.client.HTTPException) as why:
                error = ServiceError(f"{self.url} cannot be reached: {why or type(why).__name__}")
            else:
                found = _object(answer)
                if status == 200 and field in found:
                    return found
                reason = printable(" ".join(str(found.get("error", answer.decode("utf-8", "replace"))).split()), 300)
                is_final = status in _OF_ROWS and isinstance(found.get("error"), str)
                error = ServiceError(f"{self.url} answered {status}: {reason}", status, is_final=is_final)
                if status not in _AGAIN:
                    raise error
            if attempt < self._retries:
                time.sleep(0.1 * 2**attempt)
        raise error

    def _request(self, method: str, path: str, body: str | None) -> tuple[int, bytes]:
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        with self._lock:
            if self._connection is None:
                secure = self._parts.scheme == "https"
                kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
                assert self._parts.hostname is not None
                self._connection = kind(self._parts.hostname, self._parts.port, timeout=self._timeout)
            try:
                encoded = None if body is None else body.encode()
                self._connection.request(method, self._parts.path.rstrip("/") + path, encoded, headers)
                response = self._connection.getresponse()
                return response.status, response.read()
            except BaseException:
                self._connection.close()
                self._connection = None
                raise


class _Spool:
    """Requests in a file, in the order in which they were made."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._held = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        self._lock = threading.Lock()
        self._held.execute("PRAGMA journal_mode=WAL")
        self._held.execute("PRAGMA synchronous=FULL")
        self._held.execute("CREATE TABLE IF NOT EXISTS request (number INTEGER PRIMARY KEY, path TEXT, body TEXT)")

    def add(self, path: str, bodies: Iterable[str]) -> None:
        with self._lock:
            self._held.execute("BEGIN IMMEDIATE")
            try:
                self._held.executemany(
                    "INSERT INTO request (path, body) VALUES (?, ?)", [(path, body) for body in bodies]
                )
            except BaseException:
                self._held.rollback()
                raise
            self._held.commit()

    def first(self, after: int, paused: list[str]) -> tuple[int, str, str] | None:
        """The first request behind another one that goes to none of some paths."""
        with self._lock:
            found: tuple[int, str, str] | None = self._held.execute(
                "SELECT number, path, body FROM request WHERE number > ? "
                "AND path NOT IN (SELECT value FROM json_each(?)) ORDER BY number LIMIT 1",
                (after, json.dumps(paused)),
            ).fetchone()
        return found

    def remove(self, number: int) -> None:
        with self._lock:
            self._held.execute("DELETE FROM request WHERE number = ?", (number,))

    def count(self) -> int:
        with self._lock:
            return int(self._held.execute("SELECT count(*) FROM request").fetchone()[0])

    def close(self) -> None:
        self._held.close()


def _path(model: str, version: str) -> str:
    try:
        return f"/v1/models/{check_name('model', model)}/{check_name('version', version)}"
    except Refused as refused:
        raise ValueError(refused.message) from refused


def _rows(ids: Sequence[str | int], columns: dict[str, Any]) -> list[dict[str, Any]]:
    """One object for each row, of the columns that are given."""
    held = {"id": _plain(ids), **{name: _plain(values) for name, values in columns.items() if values is not None}}
    lengths = {name: len(values) for name, values in held.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"lengths differ: {', '.join(f'{name} has {n}' for name, n in lengths.items())}.")
    return [dict(zip(held, values, strict=True)) for values in zip(*held.values(), strict=True)]


def _plain(values: Any) -> list[Any]:
    """Plain Python values, of arrays and columns of frames as well."""
    plain: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return [value.item() if hasattr(value, "item") else value for value in plain]


def _object(answer: bytes) -> dict[str, Any]:
    """What an answer holds; nothing if it is no JSON object."""
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
