"""The folder for compiled code: nobody else can have written there, and what lies there is what was put there.

Numba's cache is pickle, which runs code when it is read. So the way to the folder is walked from the root down, each
step opened from the one before it, which is open and was checked: it belongs to the user or to root, and nobody else
may write to it. Where that holds for all of it, nobody else can change it between the check and the use either.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from surefoot._io.locking import try_lock, unlock
from surefoot._io.writing import write_whole

#: Numba keeps compiled code in a folder below that of its source.
BELOW = "__pycache__"
#: Seconds to wait for another process that compiles.
_PATIENCE = 60.0
#: What the list of a kernel's files ends with.
_LIST = ".files.json"


class Unsafe(Exception):
    """The folder is not used, and why."""


def kernel_folder() -> Path:
    """The folder for kernels, made if need be; raise if others could have written to it, or nobody can."""
    folder = _chosen()
    if not hasattr(os, "getuid"):
        # Windows has no such modes: the folder is as private as the user's profile
        (folder / BELOW).mkdir(parents=True, exist_ok=True)
        return folder
    if folder.is_symlink():
        raise Unsafe(f"{folder} is a link")
    for place in folder.parents:
        if place.is_symlink() and place.lstat().st_uid not in (0, os.getuid()):
            raise Unsafe(f"{place} is a link of somebody else")
    folder = Path(os.path.realpath(folder))
    with _opened(folder) as handle:
        if os.fstat(handle).st_mode & 0o077:
            raise Unsafe(f"{folder} is open to others; it should be yours, with mode 700")
        _check_files(handle, folder)
        with _stepped(handle, BELOW, folder / BELOW) as below:
            _check_files(below, folder / BELOW)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Unsafe(f"{folder} cannot be written")
    return folder


def _chosen() -> Path:
    chosen, base = os.environ.get("SUREFOOT_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    for name, path in (("SUREFOOT_CACHE_DIR", chosen), ("XDG_CACHE_HOME", None if chosen else base)):
        if path and not os.path.isabs(path):
            # it would be another folder wherever the program is started, such as in a folder of somebody else
            raise Unsafe(f"{name} is {path!r}, which is no absolute path")
    return Path(chosen) if chosen else Path(base or Path.home() / ".cache") / "surefoot" / "kernels"


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """A folder of the user's own, opened step by step from the root; made where it is missing."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    handle = os.open("/", flags)
    try:
        place = Path("/")
        for name in folder.parts[1:]:
            _check_folder(handle, place)
            place /= name
            with _stepped(handle, name, place) as below:
                os.dup2(below, handle, inheritable=False)
        _check_folder(handle, place)
        if os.fstat(handle).st_uid != os.getuid():
            raise Unsafe(f"{folder} belongs to somebody else")
        yield handle
    finally:
        os.close(handle)


@contextmanager
def _stepped(handle: int, name: str, place: Path) -> Iterator[int]:
    """What lies in an open folder, made if it is missing, and no link."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        below = os.open(name, flags, dir_fd=handle)
    except FileNotFoundError:
        # another process may make it meanwhile; it is checked like any other
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=handle)
        below = os.open(name, flags, dir_fd=handle)
    try:
        _check_folder(below, place)
        yield below
    finally:
        os.close(below)


def _check_folder(handle: int, place: Path) -> None:
    """Refuse a folder that others own, or may write to; in one like /tmp nobody may take away what others own."""
    facts = os.fstat(handle)
    if facts.st_uid not in (0, os.getuid()):
        raise Unsafe(f"{place} belongs to somebody else")
    if facts.st_mode & 0o022 and not facts.st_mode & stat.S_ISVTX:
        raise Unsafe(f"{place} may be written by others")


def _check_files(handle: int, place: Path) -> None:
    """Refuse a folder with files that others own or may write to, that are links, or that have a second name."""
    for name in os.listdir(handle):
        try:
            facts = os.stat(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(facts.st_mode) and name == BELOW:
            continue
        own = stat.S_ISREG(facts.st_mode) and facts.st_uid == os.getuid() and facts.st_nlink <= 1
        if not own or facts.st_mode & 0o022:
            raise Unsafe(f"{place / name} could have been put there by others; remove it")


# -- what belongs to a kernel ------------------------------------------------------------------------------------------


@contextmanager
def in_turn(folder: Path, name: str) -> Iterator[None]:
    """Within, no other process compiles the same kernel; after a minute it is no longer waited for."""
    handle = os.open(folder / f".{name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        until = time.monotonic() + _PATIENCE
        while not try_lock(handle) and time.monotonic() < until:
            time.sleep(0.02)
        yield
    finally:
        # a child that was forked meanwhile has the file open too
        unlock(handle)
        os.close(handle)


def seal(folder: Path, name: str) -> None:
    """Note the files of a kernel, so that any other, or any that has changed, is found out."""
    content = json.dumps(_digests(folder, name), sort_keys=True)
    place = folder / f"{name}{_LIST}"
    if not place.exists() or place.read_text(encoding="utf-8") != content:
        write_whole(place, content)
    for path in (*folder.glob(f"{name}*"), *folder.glob(f"{BELOW}/{name}*")):
        # whatever the user lets others do with new files
        path.chmod(0o600)


def is_sealed(folder: Path, name: str) -> bool:
    """Whether the files of a kernel are just those that were noted; True of a kernel that has none yet."""
    found = _digests(folder, name)
    try:
        noted = json.loads((folder / f"{name}{_LIST}").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        noted = {}
    return bool(noted == found)


def discard(folder: Path, name: str) -> None:
    """Remove all files of a kernel."""
    for path in (*folder.glob(f"{name}*"), *folder.glob(f"{BELOW}/{name}*")):
        path.unlink(missing_ok=True)


def _digests(folder: Path, name: str) -> dict[str, str]:
    """What Numba keeps of a kernel: each file by a fingerprint of its contents."""
    found = {}
    for path in folder.glob(f"{BELOW}/{name}*"):
        try:
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
        except FileNotFoundError:
            continue
    return found
