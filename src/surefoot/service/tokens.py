"""Who may do what: bearer tokens of a model, or of all, with scopes; only their digests are kept."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass

from surefoot.service.batches import check_name
from surefoot.service.database import Database
from surefoot.service.refused import Refused

#: What a token can allow.
SCOPES = ("predictions", "labels", "read", "reference")
EVERY = "*"
#: Seconds for which a token is known without a look into the store: so long a revoked one may still be taken.
_KNOWN = 10.0


@dataclass(frozen=True)
class Grant:
    """What a token allows: scopes, for one model or for all."""

    model: str
    scopes: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Grant:
        """From ``MODEL:SCOPE,SCOPE`` as the command line takes it; ``*`` is every model."""
        model, _, scopes = text.partition(":")
        wanted = tuple(scope.strip() for scope in scopes.split(",")) if scopes else SCOPES
        unknown = next((scope for scope in wanted if scope not in SCOPES), None)
        if unknown is not None:
            raise ValueError(f"{unknown!r} is no scope; there are {', '.join(SCOPES)}")
        if model != EVERY:
            try:
                check_name("model", model)
            except Refused as refused:
                raise ValueError(refused.message) from refused
        return cls(model, wanted)

    def allows(self, scope: str, model: str | None) -> bool:
        """Whether it allows this for a model; None is what concerns all models."""
        return scope in self.scopes and self.model in (EVERY, model)


class Tokens:
    """The tokens of a store."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._grants: dict[str, tuple[Grant, float]] = {}

    def create(self, grant: Grant) -> str:
        """Make a token; it is not kept, so this is the only time it can be shown."""
        token = secrets.token_urlsafe(32)
        with self._database.writing() as cursor:
            cursor.run(
                "INSERT INTO token (digest, model, scopes, created) VALUES (?, ?, ?, ?)",
                _digest(token),
                grant.model,
                ",".join(grant.scopes),
                int(time.time()),
            )
        return token

    def revoke(self, token: str) -> bool:
        """Forget a token; whether there was such a one."""
        with self._database.writing() as cursor:
            return cursor.one("DELETE FROM token WHERE digest = ? RETURNING digest", _digest(token)) is not None

    def exist(self) -> bool:
        """Whether there is any."""
        with self._database.reading() as cursor:
            return cursor.one("SELECT 1 FROM token LIMIT 1") is not None

    def grant_of(self, token: str) -> Grant | None:
        """What a token allows; None if there is no such token."""
        digest = _digest(token)
        with self._database.reading() as cursor:
            found = cursor.one("SELECT model, scopes FROM token WHERE digest = ?", digest)
        if found is None:
            return None
        grant = Grant(found[0], tuple(found[1].split(",")))
        self._grants[digest] = grant, time.monotonic() + _KNOWN
        return grant

    def known(self, token: str) -> Grant | None:
        """What a token allows that was looked up a moment ago, without a look into the store."""
        digest = _digest(token)
        grant, until = self._grants.get(digest, (None, 0.0))
        if grant is not None and time.monotonic() >= until:
            self._grants.pop(digest, None)
            return None
        return grant


def _digest(token: str) -> str:
    # tokens are 256 random bits: there is nothing to guess that a slow digest would protect
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
