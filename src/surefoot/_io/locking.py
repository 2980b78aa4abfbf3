"""Locks on files: of a process that writes one, and of a state that one process at a time may count into.

A lock is the system's, so it ends with the process that holds it, however that ends.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    _fcntl: Any = import_module("fcntl")
except ImportError:  # Windows
    _fcntl = None

#: Whether a file may be locked and put in another's place while it is open.
IS_POSIX = _fcntl is not None

#: What the files begin with that surefoot keeps beside others for a while, and what locks end with.
MARK, LOCK_END = ".surefoot-", ".lock"
#: Seconds to wait for another process, until it is told that we wait, and between two looks.
_PATIENCE, _SOON, _PAUSE = 60.0, 0.5, 0.05


def try_lock(handle: int) -> bool:
    """Whether an open file is now this process's alone; False if another has it."""
    try:
        if IS_POSIX:
            _fcntl.flock(handle, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        else:
            windows: Any = import_module("msvcrt")
            windows.locking(handle, windows.LK_NBLCK, 1)
    except OSError as error:
        # EACCES is what Windows says of a file that another process has
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def unlock(handle: int) -> None:
    """Let a file go before it is closed, for all processes that have it open by inheritance."""
    if IS_POSIX:
        _fcntl.flock(handle, _fcntl.LOCK_UN)


def hold(handle: int) -> bool:
    """Lock a file that was just made, so that others see that it is being written.

    False if another has taken it for one left behind, and removed it.
    """
    if not IS_POSIX:
        return True
    # where files cannot be locked, nobody clears them away either
    with suppress(OSError):
        _fcntl.flock(handle, _fcntl.LOCK_EX)
    return os.fstat(handle).st_nlink > 0


@contextmanager
def exclusive(path: str | os.PathLike[str], waiting: Callable[[str], object] = lambda holder: None) -> Iterator[None]:
    """Within, no other process that asks for the same file has it.

    The second one waits a minute, after ``waiting`` was told who has it, and is then refused.
    """
    target = Path(os.path.realpath(path))
    # a file of its own, for the state is replaced whenever it is saved
    lock = target.parent / f"{MARK}{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:20]}{LOCK_END}"
    handle = _locked(lock, path, waiting)
    try:
        yield
    finally:
        # before it is let go, so that nobody takes a file that has no name any more for the lock
        with suppress(OSError):
            lock.unlink()
        os.close(handle)


def _locked(lock: Path, path: str | os.PathLike[str], waiting: Callable[[str], object]) -> int:
    until, is_told = time.monotonic() + _PATIENCE, False
    while True:
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as error:
            raise OSError(error.errno, f"cannot be locked: {error.strerror}", os.fspath(path)) from None
        try:
            if try_lock(handle) and _is_at(handle, lock):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
                return handle
            holder = _holder(handle)
        except OSError as error:
            os.close(handle)
            raise OSError(error.errno, f"cannot be locked: {error.strerror}", os.fspath(path)) from None
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)
        if time.monotonic() >= until:
            said = f"in use by {holder}; wait until it has ended, or stop it"
            raise BlockingIOError(errno.EAGAIN, said, os.fspath(path))
        if not is_told and time.monotonic() >= until - _PATIENCE + _SOON:
            is_told = True
            waiting(holder)
        time.sleep(_PAUSE)


def _is_at(handle: int, lock: Path) -> bool:
    """Whether an open file is still the one of this name: whoever had it before has taken its name away."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock))
    except FileNotFoundError:
        return False


def _holder(handle: int) -> str:
    """Who has a lock, as far as that is written in it."""
    try:
        number = os.pread(handle, 20, 0).decode() if hasattr(os, "pread") else ""
    except (OSError, UnicodeDecodeError):
        number = ""
    return f"another process ({number})" if number.isdecimal() else "another process"
