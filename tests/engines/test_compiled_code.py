"""Compiled code: kept between processes in a folder of the user's own, and thrown away when damaged."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot.engines import numba_cache

SHORT = """
import numpy as np, surefoot as sf
c = np.full(600_000, 0.75)
print(sf.csr(sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, c)))
"""


def run(code: str, folder: Path, **environment: str) -> str:
    variables = {**os.environ, "SUREFOOT_CACHE_DIR": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_compiled_code_is_thrown_away(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "kernels"
    run(SHORT, folder)
    for path in folder.glob(f"__pycache__/*.{suffix}"):
        path.write_bytes(b"damaged")
    for _ in range(2):
        assert float(run(SHORT, folder)) == pytest.approx(1)


def test_no_other_folder_is_used_for_compiled_code(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o777)
    run(SHORT, tmp_path / "kernels", NUMBA_CACHE_DIR=str(tmp_path / "elsewhere"))
    assert not list((tmp_path / "elsewhere").iterdir())
    assert list((tmp_path / "kernels").glob("__pycache__/*.nbc"))


AT_EXIT = """
import atexit, numpy as np, surefoot as sf
p = sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, np.full(600_000, 0.75))
atexit.register(lambda: print(sf.csr(p)))
"""


FORK = """
import os, sys, threading, time
import numpy as np, surefoot as sf
p = sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, np.full(600_000, 0.75))
thread = threading.Thread(target=lambda: sf.tally(p))
thread.start()
time.sleep(0.3)
if os.fork() == 0:
    print(sf.csr(p), flush=True)
    os._exit(0)
_, status = os.wait()
thread.join()
sys.exit(status)
"""


FIRST_TOGETHER = """
import sys, threading
import numpy as np, surefoot as sf
sys.setswitchinterval(1e-6)
p = sf.Predictions.from_correct(np.arange(600_000) % 4 > 0, np.full(600_000, 0.75))
found, start = [], threading.Barrier(8)
threads = [threading.Thread(target=lambda: (start.wait(), found.append(sf.csr(p)))) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sum(found) / 8)
"""


@pytest.mark.parametrize("code", [AT_EXIT, FORK, FIRST_TOGETHER])
def test_at_exit_in_a_child_forked_meanwhile_and_first_used_by_eight_threads(tmp_path: Path, code: str) -> None:
    assert float(run(code, tmp_path / "kernels")) == pytest.approx(1)


def test_a_folder_below_that_others_could_read_is_used_if_they_cannot_reach_it(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o700)
    (folder / "__pycache__").mkdir(mode=0o755)
    run(SHORT, folder)
    assert list(folder.glob("__pycache__/*.nbc"))


PROBE = """
import sys, time
import numpy as np
start = time.perf_counter()
import surefoot as sf
from surefoot.engines import numba_cache
rng = np.random.default_rng(0)
c = rng.random({rows})
p = sf.Predictions.from_correct(rng.random({rows}) < c, c)
value = sf.csr(p)
print(repr(value), "numba" in sys.modules, numba_cache.cache_folder())
"""


def probe(rows: int, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(rows=rows)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def expected_csr(rows: int) -> float:
    rng = np.random.default_rng(0)
    c = rng.random(rows)
    return float(np.mean((rng.random(rows) >= c) / (1 - c)))


def test_small_data_compile_nothing(tmp_path: Path) -> None:
    value, numba, _ = probe(10_000, SUREFOOT_CACHE_DIR=str(tmp_path / "k"))
    assert float(value) == pytest.approx(expected_csr(10_000), rel=1e-11)
    assert numba == "False"


def test_kernels_are_kept_for_the_next_process_in_a_folder_of_the_users_own(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    for _ in range(2):
        value, numba, _ = probe(600_000, SUREFOOT_CACHE_DIR=str(folder))
        assert float(value) == pytest.approx(expected_csr(600_000), rel=1e-11)
        assert numba == "True"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    cached = list(folder.glob("__pycache__/*.nbc"))
    assert cached
    before = {path: path.stat().st_mtime_ns for path in cached}
    probe(600_000, SUREFOOT_CACHE_DIR=str(folder))
    assert {path: path.stat().st_mtime_ns for path in folder.glob("__pycache__/*.nbc")} == before


def test_a_folder_open_to_others_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    value, numba, where = probe(600_000, SUREFOOT_CACHE_DIR=str(folder))
    assert float(value) == pytest.approx(expected_csr(600_000), rel=1e-11)
    assert (numba, where) == ("False", "None")
    assert not list(folder.iterdir())


@pytest.mark.parametrize("place", ["/proc/1/kernels", "/dev/null/kernels"])
def test_where_nothing_can_be_written_numpy_does_the_work(place: str) -> None:
    value, numba, where = probe(600_000, HOME=place, XDG_CACHE_HOME=place, SUREFOOT_CACHE_DIR="")
    assert float(value) == pytest.approx(expected_csr(600_000), rel=1e-11)
    assert (numba, where) == ("False", "None")


def test_a_link_is_not_followed_to_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setenv("SUREFOOT_CACHE_DIR", str(tmp_path / "link"))
    assert numba_cache.cache_folder() is None
