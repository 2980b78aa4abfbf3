"""A PostgreSQL server for the tests, which lives as long as they do."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

PASSWORD = "pa55 w/rd@"


class Postgres:
    """A server in a folder of its own, on a port of this machine alone."""

    def __init__(self, initdb: str, pg_ctl: str, *, syncs: bool) -> None:
        # the server does not run as root, and no other user may look into pytest's folders
        self.home, self._pg_ctl = Path(tempfile.mkdtemp(prefix="surefoot-postgres-")), pg_ctl
        as_user: dict[str, Any] = {}
        if os.geteuid() == 0:
            shutil.chown(self.home, "postgres")
            as_user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (self.home / "password").write_text(PASSWORD)
        (self.home / "password").chmod(0o644)
        self._common: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "cwd": self.home, **as_user}
        data = str(self.home / "data")
        start = [initdb, "-D", data, "-U", "ann", "-A", "scram-sha-256", "--pwfile", str(self.home / "password")]
        subprocess.run([*start, "-E", "UTF8", "--no-sync"], **self._common)
        folder = f"-c unix_socket_directories={self.home}"
        self._options = f"-p {port} -c listen_addresses=127.0.0.1 {folder} -c fsync={'on' if syncs else 'off'}"
        self.address = f"postgresql://ann:{quote(PASSWORD, safe='')}@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        log, data = str(self.home / "log"), str(self.home / "data")
        command = [self._pg_ctl, "-D", data, "-o", self._options, "-l", log, "-w", "start"]
        subprocess.run(command, **self._common)

    def stop(self) -> None:
        """Stop at once, as a crash would."""
        command = [self._pg_ctl, "-D", str(self.home / "data"), "-m", "immediate", "-w", "stop"]
        subprocess.run(command, **self._common)


@contextmanager
def running(*, syncs: bool = False) -> Iterator[Postgres]:
    """A server; skip if PostgreSQL is not installed."""
    initdb, pg_ctl = binary("initdb"), binary("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("needs PostgreSQL")
    made = Postgres(initdb, pg_ctl, syncs=syncs)
    made.start()
    try:
        yield made
    finally:
        made.stop()
        shutil.rmtree(made.home, ignore_errors=True)


def binary(name: str) -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)
