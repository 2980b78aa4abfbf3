"""A request that is not served, with its HTTP status and one line that says why."""

from __future__ import annotations


class Refused(Exception):
    """Nothing of the request was stored."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message
