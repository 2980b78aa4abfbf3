"""A service for the tests: in this process, or as a program of its own that can be killed."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np


class Server:
    """``surefoot serve`` as a program."""

    def __init__(self, store: str, *options: str) -> None:
        self.store, self.options = store, options
        self.process: subprocess.Popen[str] | None = None
        self.url = self.token = ""

    def start(self) -> float:
        """Start it; how many seconds it took until it was ready."""
        began = time.monotonic()
        command = [sys.executable, "-m", "surefoot", "serve", "--store", self.store, "--port", "0", *self.options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if found := re.search(r"Serving at (\S+)", line):
                self.url = found[1]
            elif found := re.search(r"Token +([\w-]{30,})$", line):
                self.token = found[1]
            elif "/state" in line:
                break
        while self.ask("/readyz")[0] != 200:
            time.sleep(0.02)
        return time.monotonic() - began

    def kill(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self._end()

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self._end()

    def _end(self) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.wait(30)
        self.process.stdout.close()

    def ask(self, path: str, rows: Any = None) -> tuple[int, Any]:
        """The status of an answer and what it says; 0 if there is none."""
        body = None if rows is None else json.dumps(rows).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        except (OSError, http.client.HTTPException):
            # also an answer of which only a part came
            return 0, None
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text.decode()


def sample(rows: int, seed: int = 0, honest: float = 1.0) -> tuple[Any, Any]:
    """Confidences, and whether each prediction was correct."""
    rng = np.random.default_rng(seed)
    confidence = rng.uniform(0.5, 0.999, rows)
    return confidence, rng.random(rows) < confidence * honest


def database_of(folder: Path) -> str:
    return str(folder / "store.db")
