"""Files appear whole or not at all, wherever their names lead; what was left behind is cleared away."""

from __future__ import annotations

import errno
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from surefoot._io import locking, writing
from surefoot._io.writing import together, write_whole


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file may grow beyond this, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("old")
    (tmp_path / "link").symlink_to("real/a")
    (tmp_path / "dangling").symlink_to("real/b")
    (tmp_path / "twice").symlink_to("link")
    for name in ("link", "dangling", "twice"):
        write_whole(tmp_path / name, name)
        assert (tmp_path / name).is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "twice"
    assert (tmp_path / "real" / "b").read_text() == "dangling"
    assert names(tmp_path / "real") == ["a", "b"]
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="round") as caught:
        write_whole(tmp_path / "round", "x")
    assert caught.value.errno == errno.ELOOP


def test_another_name_of_the_same_file_keeps_what_it_had(tmp_path: Path) -> None:
    """A hard link: the file could only change under both names by being written in place, which is not whole."""
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    write_whole(tmp_path / "a", "new")
    assert [(tmp_path / name).read_text() for name in "ab"] == ["new", "old"]


def test_special_files_are_written_into(tmp_path: Path, null: Path, full: Path) -> None:
    write_whole(null, "x")
    assert null.is_char_device()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through" * 100_000)
    reader.join()
    assert read == ["through" * 100_000]
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="full") as caught:
        write_whole(full, "x")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(full))
    assert full.is_char_device()
    assert names(tmp_path) == ["pipe"]


def test_a_reader_that_leaves_a_pipe_has_what_it_wanted(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: os.close(os.open(pipe, os.O_RDONLY)))
    reader.start()
    write_whole(pipe, "x" * (1 << 20))
    reader.join()


def test_an_open_file_is_added_to(tmp_path: Path) -> None:
    """What `--html /dev/stdout > a.txt` writes follows what was printed, and does not take its place."""
    assert writing._is_open_file("/dev/stdout")
    code = "from surefoot._io.writing import write_whole; print('first'); write_whole('/proc/self/fd/1', 'second\\n')"
    with (tmp_path / "a.txt").open("wb") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "a.txt").read_text() == "first\nsecond\n"
    handle = os.open(tmp_path / "a.txt", os.O_WRONLY)
    write_whole(f"/dev/fd/{handle}", "third\n")
    os.close(handle)
    assert (tmp_path / "a.txt").read_text() == "first\nsecond\nthird\n"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_the_new_file_has_the_rights_of_the_old_one_before_anything_is_in_it(
    mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(mode)
    seen: list[tuple[int, int]] = []
    whole = os.write

    def write(handle: int, data: bytes) -> int:
        facts = os.fstat(handle)
        seen.append((stat.S_IMODE(facts.st_mode), facts.st_size))
        return whole(handle, data)

    monkeypatch.setattr(os, "write", write)
    write_whole(tmp_path / "a", "new")
    assert seen == [(mode, 0)]
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == mode


def test_a_new_file_has_the_rights_that_the_user_gives_new_files(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", "new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_stays_its_owners(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    os.chown(tmp_path / "a", 12345, 12346)
    (tmp_path / "a").chmod(0o640)
    write_whole(tmp_path / "a", "new")
    facts = (tmp_path / "a").stat()
    assert (facts.st_uid, facts.st_gid, stat.S_IMODE(facts.st_mode)) == (12345, 12346, 0o640)


def test_where_nothing_can_be_written_the_file_that_was_asked_for_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path, why in (
        (tmp_path / "folder", "is a folder; name a file in it"),
        (tmp_path / "none" / "a", "no such folder"),
        (tmp_path / ("a" * 300), "name too long"),
        (Path("/proc/a"), ""),
    ):
        with pytest.raises(OSError, match=r".") as caught:
            write_whole(path, "x")
        assert why in str(caught.value.strerror).lower()
        assert str(caught.value.filename) in (str(path), str(path.parent))
        assert ".surefoot" not in str(caught.value)
    assert names(tmp_path) == ["folder"]


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path / "a")
    with pytest.raises(PermissionError, match="may not be written"):
        write_whole(tmp_path / "a", "new")
    assert (tmp_path / "a").read_text() == "old"


# -- several files -----------------------------------------------------------------------------------------------------


def test_a_full_disk_changes_neither_of_two_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(OSError, match="b") as caught, room_for(1000), together():  # noqa: PT012
        write_whole(tmp_path / "a", "new")
        write_whole(tmp_path / "b", "x" * 100_000)
    assert caught.value.errno == errno.EFBIG
    assert str(caught.value.filename) == str(tmp_path / "b")
    assert (tmp_path / "a").read_text() == "old"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [OSError(errno.EROFS, "read-only"), KeyboardInterrupt()])
def test_what_was_put_in_place_before_another_failed_is_taken_back(
    error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")
    whole, calls = os.replace, 0

    def replace(one: str, other: str) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise error
        whole(one, other)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(type(error)), together():  # noqa: PT012
        for name in ("a", "b", "c"):
            write_whole(tmp_path / name, "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_nothing_is_seen_before_all_is_written(tmp_path: Path, full: Path) -> None:
    with together() as files:
        write_whole(tmp_path / "a", "one")
        assert not (tmp_path / "a").exists()
        write_whole(tmp_path / "b", b"two!")
    assert files.sizes == {str(tmp_path / "a"): 3, str(tmp_path / "b"): 4}
    assert names(tmp_path) == ["a", "b"]
    with pytest.raises(OSError, match="full"), together():  # noqa: PT012
        write_whole(tmp_path / "a", "new")
        write_whole(full, "x")
    assert (tmp_path / "a").read_text() == "one"


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_an_interrupt_leaves_nothing_partial(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "a", "new")
    assert names(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


# -- what was left behind ----------------------------------------------------------------------------------------------

HOLD = """
import os, sys, time
from surefoot._io import writing
writing.os.fsync = lambda handle: (print("here", flush=True), time.sleep(60))
writing.write_whole(sys.argv[1], "half")
"""


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / ".surefoot-of-somebody-else.txt"
    other.write_text("kept")
    processes = [
        subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / name)], stdout=subprocess.PIPE) for name in "ab"
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == b"here\n"
        assert len(names(tmp_path)) == 3
        processes[0].kill()
        processes[0].wait()
        monkeypatch.setattr(writing, "_cleared", set())
        write_whole(tmp_path / "c", "new")
        assert len(names(tmp_path)) == 3  # the other's, that of the living process, and the new file
        processes[1].kill()
        processes[1].wait()
        monkeypatch.setattr(writing, "_cleared", set())
        write_whole(tmp_path / "c", "newer")
        assert names(tmp_path) == [other.name, "c"]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_a_file_that_was_taken_for_one_left_behind_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process looks just between the making of a file and its lock."""
    whole, calls = os.open, 0

    def opened(path: str, flags: int, *rest: int, **more: int) -> int:
        nonlocal calls
        handle = whole(path, flags, *rest, **more)
        if flags & os.O_EXCL:
            calls += 1
            if calls == 1:
                writing._remove_if_left(os.fspath(path))
        return handle

    monkeypatch.setattr(os, "open", opened)
    write_whole(tmp_path / "a", "whole")
    assert calls == 2
    assert (tmp_path / "a").read_text() == "whole"
    assert names(tmp_path) == ["a"]


# -- locks -------------------------------------------------------------------------------------------------------------


def test_a_second_process_waits_and_is_then_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_PATIENCE", 0.2)
    monkeypatch.setattr(locking, "_SOON", 0.0)
    (tmp_path / "link").symlink_to("s")
    told: list[str] = []
    with locking.exclusive(tmp_path / "s"):
        with pytest.raises(BlockingIOError) as caught, locking.exclusive(tmp_path / "link", told.append):
            pass
        assert str(caught.value.filename) == str(tmp_path / "link")
        assert f"in use by another process ({os.getpid()})" in str(caught.value.strerror)
        assert told == [f"another process ({os.getpid()})"]
        with locking.exclusive(tmp_path / "another"):
            pass
    with locking.exclusive(tmp_path / "s"):
        pass
    assert names(tmp_path) == ["link"]


def test_whoever_waits_never_holds_a_lock_that_was_removed(tmp_path: Path) -> None:
    """Eight threads take turns a hundred times: no two are within at once, and none of the turns is lost."""
    within, most, turns = 0, 0, 0

    def take_turns() -> None:
        nonlocal within, most, turns
        for _ in range(12):
            with locking.exclusive(tmp_path / "s"):
                within += 1
                most = max(most, within)
                turns += 1
                within -= 1

    threads = [threading.Thread(target=take_turns) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, turns) == (1, 96)
    assert names(tmp_path) == []


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from surefoot._io.locking import exclusive\n"
        "with exclusive(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=False)
    assert len(names(tmp_path)) == 1
    with locking.exclusive(tmp_path / "s"):
        pass
    assert names(tmp_path) == []
