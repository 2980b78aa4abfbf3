"""One address that is told of alarms: signed, and again until it acknowledges."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import logging
import ssl
import threading
import time
from urllib.parse import urlsplit

from surefoot._io.masking import masked
from surefoot._io.printable import printable
from surefoot.service.notices import Notice, Outbox
from surefoot.service.refused import Refused

log = logging.getLogger("surefoot.service")

SIGNATURE, DELIVERY = "Surefoot-Signature", "Surefoot-Delivery"
#: Seconds for an answer, until the next attempt at first and at most, and between looks at the outbox.
_TIMEOUT, _FIRST, _LONGEST, _LOOK = 10.0, 1.0, 300.0, 2.0


def sign(secret: bytes, timestamp: int, body: bytes) -> str:
    """The signature of a body: HMAC-SHA256, in hexadecimal digits, of ``TIMESTAMP.BODY``."""
    return hmac.new(secret, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


class Webhook:
    """Sends what is in the outbox to one URL, and to no other: redirects are not followed, proxies not asked.

    Parameters
    ----------
    url : str
        Where notices are posted.
    secret : bytes
        What signs them; it is kept in memory only.

    Raises
    ------
    ValueError
        If the URL is none, or the secret is shorter than 16 bytes.
    """

    def __init__(self, url: str, secret: bytes) -> None:
        parts = urlsplit(url)
        is_plain = url.isascii() and url.isprintable() and " " not in url
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or not is_plain:
            raise ValueError(f"{masked(url)} is no address; give one such as https://example.com/hook")
        if len(secret) < 16:
            raise ValueError("the secret is shorter than 16 bytes; 32 random ones cannot be guessed")
        self._secret, self.url = secret, masked(url)
        self._host, self._port, self._is_secure = parts.hostname, parts.port, parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def send(self, notice: Notice) -> str:
        """Post a notice; return why it is not acknowledged, or nothing."""
        body, now = notice.body.encode(), int(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "surefoot",
            DELIVERY: str(notice.key),
            SIGNATURE: f"t={now},v1={sign(self._secret, now, body)}",
        }
        connection: http.client.HTTPConnection
        if self._is_secure:
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=_TIMEOUT, context=context)
        else:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=_TIMEOUT)
        try:
            connection.request("POST", self._path, body, headers)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            return printable(" ".join(str(error).split()), 120) or type(error).__name__
        finally:
            connection.close()
        return "" if 200 <= status < 300 else f"it answered {status}"


class Messenger:
    """A thread that empties the outbox.

    Parameters
    ----------
    outbox : Outbox
        What is to be sent.
    webhook : Webhook
        Where to.
    """

    def __init__(self, outbox: Outbox, webhook: Webhook) -> None:
        self._outbox, self._webhook = outbox, webhook
        #: Of notices that could not be sent: how often, and when to try again, by a clock that nobody moves.
        self._failed: dict[int, tuple[int, float]] = {}
        self._wake, self._stopped = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="surefoot-webhook", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def wake(self) -> None:
        """There is something new to send."""
        self._wake.set()

    def stop(self) -> None:
        """End; what is not acknowledged stays in the outbox."""
        self._stopped = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped:
            try:
                self.send_due()
            except Refused as refused:
                log.warning("webhook: %s", refused.message)
            self._wake.wait(_LOOK)
            self._wake.clear()

    def send_due(self) -> None:
        """Send what waits and is due."""
        waiting = self._outbox.waiting()
        self._failed = {key: self._failed[key] for key in waiting if key in self._failed}
        for key in waiting:
            attempts, due = self._failed.get(key, (0, 0.0))
            if self._stopped or time.monotonic() < due or (notice := self._outbox.claim(key)) is None:
                continue
            reason = self._webhook.send(notice)
            if reason:
                pause = min(_FIRST * 2**attempts, _LONGEST)
                self._failed[key] = (min(attempts + 1, 30), time.monotonic() + pause)
                log.warning("webhook %s: %s; again in %.0f seconds", self._webhook.url, reason, pause)
            self._outbox.release(key, is_sent=not reason)
