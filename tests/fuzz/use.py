"""What people do with a file, done with a damaged one."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

import surefoot as sf
import surefoot.errors
from surefoot.files.accounting import Manner
from surefoot.files.reading import follow, read

#: Errors that are documented: ours, by name.
DOCUMENTED = tuple(
    one
    for one in vars(surefoot.errors).values()
    if isinstance(one, type) and issubclass(one, Exception) and not issubclass(one, Warning)
)


class Odd(Exception):
    """A result that is not what it should be."""


def use(path: Path, rng: np.random.Generator) -> str:
    """What escaped, in words; empty if the file gave a result or a documented error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _use(path, rng)
    except DOCUMENTED as error:
        if not type(error).__module__.startswith("surefoot"):
            return f"{type(error).__name__}: {error}"
        is_of_another = "/tmp" in str(error) and path.name not in str(error)
        return f"names another file: {error}" if is_of_another else ""
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


def _use(path: Path, rng: np.random.Generator) -> None:
    kind = path.name.split(".")[1] if "." in path.name else ""
    if kind == "monitor":
        monitor = sf.Monitor.load(path)
        monitor.update([True, False, True], [0.9, 0.8, 0.95], ids=["1000", "1001", "z"])
        str(monitor), monitor.e_value, monitor.evidence, monitor.side, monitor.drift, monitor.pending, monitor.history
        again = path.with_name("again.monitor")
        monitor.save(again)
        sf.Monitor.load(again)
    elif kind == "calibrator":
        calibrator = sf.calibrators.load(path)
        p = np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
        out = calibrator.predict_proba(p if len(calibrator.classes_) == 3 else p[:, 1])
        if not (np.isfinite(out).all() and (out >= 0).all() and np.allclose(out.sum(axis=1), 1, atol=1e-6)):
            raise Odd(f"a calibrator gives {out.tolist()}")
    elif kind == "policy":
        policy = sf.Policy.load(path)
        policy.decide([0.2, 0.5, 0.97], None if policy.by is None else ["a", "b", "c"])
    else:
        _use_rows(str(path), kind, rng)


def _use_rows(path: str, kind: str, rng: np.random.Generator) -> None:
    way = rng.random()
    by = str(rng.choice(["region", "predicted", "truth"])) if rng.random() < 0.2 else None
    if way < 0.2 and kind != "tally":
        with standard_input(path) if way < 0.1 else warnings.catch_warnings():
            for rows, _, _ in follow("-" if way < 0.1 else path, {}, identifier=None, delimiter=None):
                len(rows)
        return
    held = read(path, {}, by=by, manner=Manner(drop_missing=rng.random() < 0.5))
    if way < 0.4:
        a = sf.assess(held.held, by=held.by)
        str(a)
        json.loads(a.to_json(), parse_constant=_refuse)


@contextmanager
def standard_input(path: str) -> Any:
    """Within, a file comes through a pipe."""
    before, raw = sys.stdin, os.open(path, os.O_RDONLY)
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(raw)))
    try:
        yield
    finally:
        sys.stdin.close()
        sys.stdin = before


def _refuse(constant: str) -> NoReturn:
    raise Odd(f"JSON with {constant}")
