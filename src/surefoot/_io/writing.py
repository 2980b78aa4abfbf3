"""Files appear whole or not at all, alone or several together; what a killed process left behind is cleared away."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from surefoot._io.locking import IS_POSIX, LOCK_END, MARK, hold, try_lock

_END = ".part"
#: Folders that this process has looked through for what others left behind.
_cleared: set[Path] = set()


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text or bytes to ``path`` so that a crash at any instant leaves the old file or the new one.

    A link stays one: what it leads to is written. A pipe, a terminal or ``/dev/null`` is written into. A file that was
    there keeps its permissions; one that may not be written is refused.
    """
    with together() as files:
        files.add(path, content)


@contextmanager
def together() -> Iterator[_Files]:
    """Files that are written within appear at its end: all of them, or none."""
    outer = _open.get()
    if outer is not None:
        yield outer
        return
    files = _Files()
    token = _open.set(files)
    try:
        yield files
        files.commit()
    finally:
        _open.reset(token)
        files.discard()


def target_of(path: str | os.PathLike[str]) -> Path | None:
    """The file that ``path`` leads to, which may be a new one; None for what is no file, and is written into.

    What cannot be written is an error that names it.
    """
    name = os.fspath(Path(path))
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        mode = None
    if mode is not None:
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder; name a file in it", name)
        if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
            raise OSError(errno.EINVAL, "is neither a file nor a pipe", name)
        if not os.access(name, os.W_OK):
            raise PermissionError(errno.EACCES, "may not be written", name)
        if not stat.S_ISREG(mode) or _is_open_file(name):
            return None
    target = Path(os.path.realpath(name))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(target.parent))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the folder may not be written", str(target.parent))
    return target


def _is_open_file(name: str) -> bool:
    """Whether this is a name of a file that is open already, such as /dev/stdout or /dev/fd/3."""
    if name in ("/dev/stdout", "/dev/stderr"):
        return True
    return re.fullmatch(r"/proc/\d+(/task/\d+)?/fd|/dev/fd", os.path.realpath(os.path.dirname(name))) is not None


class _Files:
    """Files that are written beside their places, and then put there."""

    def __init__(self) -> None:
        #: Bytes of each file.
        self.sizes: dict[str, int] = {}
        self._staged: list[_Staged] = []
        self._streams: list[tuple[str, bytes]] = []

    def add(self, path: str | os.PathLike[str], content: str | bytes) -> None:
        data = content.encode() if isinstance(content, str) else content
        self.sizes[os.fspath(path)] = len(data)
        with _named(path):
            target = target_of(path)
            if target is None:
                self._streams.append((os.fspath(path), data))
                return
            _clear(target.parent)
            # known before it is there, so that it is removed whenever an interrupt comes
            staged = _Staged(os.fspath(path), target, _new_name(target.parent), _new_name(target.parent))
            self._staged.append(staged)
            staged.write(data)

    def commit(self) -> None:
        """Put everything in its place; if that fails for one file, none has changed."""
        for path, data in self._streams:
            with _named(path):
                _write_into(path, data)
        try:
            for staged in self._staged:
                with _named(staged.path):
                    staged.put(keep_old=len(self._staged) > 1)
        except BaseException:
            for staged in self._staged:
                staged.undo()
            raise

    def discard(self) -> None:
        """Remove what has not been put in its place, and what was kept to go back to."""
        for staged in self._staged:
            staged.discard()


_open: ContextVar[_Files | None] = ContextVar("_open", default=None)


@dataclass
class _Staged:
    """A file on its way: the new one beside its place, and for a while the old one under another name."""

    path: str
    target: Path
    new: Path
    old: Path
    handle: int = -1
    was_there: bool = False
    is_put: bool = False

    def write(self, data: bytes) -> None:
        try:
            before = os.stat(self.target)
        except FileNotFoundError:
            before = None
        self.was_there = before is not None
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        while True:
            # a new file gets what open() would give it; what replaces another is nobody else's until it has its rights
            self.handle = os.open(self.new, flags, 0o666 if before is None else 0o600)
            if hold(self.handle):
                break
            os.close(self.handle)
        if before is not None and hasattr(os, "fchown"):
            made = os.fstat(self.handle)
            if (made.st_uid, made.st_gid) != (before.st_uid, before.st_gid):
                with suppress(PermissionError):
                    os.fchown(self.handle, before.st_uid, before.st_gid)
            os.fchmod(self.handle, before.st_mode & 0o777)
        left = memoryview(data)
        while left:
            left = left[os.write(self.handle, left[: 1 << 24]) :]
        os.fsync(self.handle)

    def put(self, *, keep_old: bool) -> None:
        if keep_old and self.was_there:
            # where there are no hard links, the old file cannot be kept
            with suppress(OSError):
                os.link(self.target, self.old)
        if not IS_POSIX:
            self._close()
        self.is_put = True
        os.replace(self.new, self.target)

    def undo(self) -> None:
        if not self.is_put or os.path.lexists(self.new):
            return
        with suppress(OSError):
            if self.was_there:
                os.replace(self.old, self.target)
            else:
                self.target.unlink()

    def discard(self) -> None:
        self._close()
        for name in (self.new, self.old):
            with suppress(OSError):
                name.unlink()

    def _close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1


def _new_name(folder: Path) -> Path:
    return folder / f"{MARK}{secrets.token_hex(8)}{_END}"


def _write_into(path: str, data: bytes) -> None:
    """Write to a pipe, a terminal, /dev/null or an open file; a reader that leaves early has what it wanted."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    handle = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
    except BrokenPipeError:
        pass
    finally:
        os.close(handle)


@contextmanager
def _named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors name the file that was asked for, never a temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and MARK not in str(error.filename)):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


# -- what was left behind ------------------------------------------------------------------------------------------


def _clear(folder: Path) -> None:
    """Once in a process: remove files of ours from a folder whose writers are no more."""
    if not IS_POSIX or folder in _cleared:
        return
    _cleared.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(MARK) and entry.name.endswith((_END, LOCK_END)):
                _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    """Remove a file if it is the user's own and nobody is writing it: a writer holds its lock to the end."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            facts = os.fstat(handle)
            if stat.S_ISREG(facts.st_mode) and os.geteuid() in (0, facts.st_uid) and try_lock(handle):
                os.unlink(path)
        finally:
            os.close(handle)
