"""Where a request without a token may come from: this machine, and no page of another site that its browser shows."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from surefoot._io.printable import printable
from surefoot.service.refused import Refused


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_origin(host: str, origin: str | None) -> None:
    """Raise if a page of another site asks, by our address or by a name of its own that leads to this machine."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = ""
    if not is_loopback(name):
        raise Refused(403, f"host {printable(host)} is not this machine's own; without tokens no other is answered")
    if origin is not None and origin != f"http://{host}":
        raise Refused(403, f"origin {printable(origin)} is another site; without tokens its pages are not answered")
