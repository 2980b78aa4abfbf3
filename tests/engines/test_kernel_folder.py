"""The folder for compiled code: used only where nobody else can have written, and with what was put there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from surefoot.engines import kernel_folder as kept
from surefoot.engines import numba_cache
from surefoot.engines.kernel_folder import BELOW, Unsafe, discard, is_sealed, kernel_folder, seal

SOMEBODY = 12345
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root makes files that belong to somebody else")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("SUREFOOT_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "surefoot" / "kernels"


@pytest.fixture
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
def test_it_is_made_for_the_user_alone_whatever_others_may_do_with_new_files(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    assert kernel_folder() == cache
    for folder in (cache.parent, cache, cache / BELOW):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (cache / BELOW / "k.nbi").write_bytes(b"index")
    seal(cache, "k")
    assert [stat.S_IMODE(path.stat().st_mode) for path in (cache / BELOW / "k.nbi", cache / "k.files.json")] == [
        0o600
    ] * 2
    assert kernel_folder() == cache


@pytest.mark.parametrize("variable", ["XDG_CACHE_HOME", "SUREFOOT_CACHE_DIR"])
def test_a_relative_folder_is_refused(
    variable: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, "cache")
    with pytest.raises(Unsafe, match=f"{variable} is 'cache', which is no absolute path"):
        kernel_folder()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_no_folder_on_the_way_may_be_written_by_others(depth: int, cache: Path) -> None:
    kernel_folder()
    place = [cache, *cache.parents][depth]
    place.chmod(0o770)
    with pytest.raises(Unsafe, match=str(place)):
        kernel_folder()
    assert numba_cache.cache_folder() is None
    place.chmod(0o700)
    assert kernel_folder() == cache


@only_root
@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_every_folder_on_the_way_belongs_to_the_user_or_to_root(depth: int, cache: Path) -> None:
    kernel_folder()
    place = [cache, *cache.parents][depth]
    os.chown(place, SOMEBODY, SOMEBODY)
    with pytest.raises(Unsafe, match=f"{place} belongs to somebody else"):
        kernel_folder()


@only_root
def test_in_a_folder_like_tmp_what_somebody_else_made_is_refused(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """XDG_CACHE_HOME=/tmp: others may make surefoot/ there first, as a folder or as a link."""
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    (shared / "surefoot").mkdir()
    os.chown(shared / "surefoot", SOMEBODY, SOMEBODY)
    with pytest.raises(Unsafe, match="surefoot belongs to somebody else"):
        kernel_folder()
    (shared / "surefoot").rmdir()
    (tmp_path / "mine").mkdir(mode=0o700)
    (shared / "surefoot").symlink_to(tmp_path / "mine")
    os.chown(shared / "surefoot", SOMEBODY, SOMEBODY, follow_symlinks=False)
    with pytest.raises(Unsafe, match="is a link of somebody else"):
        kernel_folder()
    (shared / "surefoot").unlink()
    assert kernel_folder() == shared / "surefoot" / "kernels"
    shared.chmod(0o777)
    with pytest.raises(Unsafe, match="shared may be written by others"):
        kernel_folder()


def test_a_folder_that_is_swapped_for_a_link_on_the_way_is_not_followed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the names and the walk."""
    kernel_folder()
    planted = tmp_path / "planted"
    (planted / "kernels" / BELOW).mkdir(parents=True, mode=0o700)
    whole = os.path.realpath

    def swap(path: Path) -> str:
        found = whole(path)
        cache.parent.rename(tmp_path / "away")
        cache.parent.symlink_to(planted)
        return found

    monkeypatch.setattr(kept.os.path, "realpath", swap)
    with pytest.raises(OSError, match="surefoot"):
        kernel_folder()


def plant(place: Path, kind: str) -> None:
    if kind == "link":
        place.symlink_to("/etc/hostname")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.write_bytes(b"planted")
        if kind == "writable":
            place.chmod(0o620)
        elif kind == "second name":
            place.with_suffix(".2").hardlink_to(place)
        else:
            os.chown(place, SOMEBODY, SOMEBODY)


@pytest.mark.parametrize("below", [".", BELOW])
@pytest.mark.parametrize(
    "kind", ["link", "pipe", "folder", "writable", "second name", pytest.param("of somebody else", marks=only_root)]
)
def test_no_file_that_others_can_have_put_there_is_used(kind: str, below: str, cache: Path) -> None:
    kernel_folder()
    plant(cache / below / "surefoot_kernel_x.nbi", kind)
    with pytest.raises(Unsafe, match="surefoot_kernel_x"):
        kernel_folder()


def test_files_are_those_that_were_noted_and_no_others(cache: Path) -> None:
    below = kernel_folder() / BELOW
    assert is_sealed(cache, "k")
    (below / "k.nbi").write_bytes(b"index")
    assert not is_sealed(cache, "k")  # nobody noted it
    seal(cache, "k")
    assert is_sealed(cache, "k")
    assert is_sealed(cache, "l")
    (below / "k.cpython-311.pyc").write_bytes(b"another")
    assert not is_sealed(cache, "k")
    (below / "k.cpython-311.pyc").unlink()
    assert is_sealed(cache, "k")
    (below / "k.nbi").write_bytes(b"Index")
    assert not is_sealed(cache, "k")
    (below / "l.nbi").write_bytes(b"of another kernel")
    discard(cache, "k")
    assert [path.name for path in below.iterdir()] == ["l.nbi"]
    assert is_sealed(cache, "k")
