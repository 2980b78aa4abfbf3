"""Kill a command at random moments, and look at what it leaves. Arguments: COMMAND KILLS SEED FOLDER.

Half of the kills come at any moment of the run, the other half while its files are being written. Each run is a process
of its own, forked from one that has loaded surefoot. Prints what was found as JSON; anything wrong is an error.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import random
import signal
import sys
import time
from pathlib import Path

import surefoot as sf
from surefoot._io.locking import MARK
from surefoot.cli import run

#: The packages that commands load.
LOADED = ("cli", "files", "assessment", "render", "calibrators", "risk", "metrics")
#: Each command, with the file that it replaces.
COMMANDS = {
    "assess-html": ("assess in.csv --html out.html", "out.html"),
    "save-tally": ("assess in.csv --save-tally out.tally", "out.tally"),
    "monitor": ("monitor in.csv --state out.state --id id", "out.state"),
    "calibrate": ("calibrate --fit in.csv --save out.json --method platt", "out.json"),
}


def prepare(name: str) -> bytes:
    """The input, and the old file: of fewer rows."""
    arguments, target = COMMANDS[name]
    rows = [f"{i},{i % 2},{0.25 + 0.5 * (i % 2)}\n" for i in range(400)]
    for part in (rows[:100], rows):
        Path("in.csv").write_text("id,truth,prob\n" + "".join(part))
        if len(part) < len(rows):
            complete(arguments)
    return Path(target).read_bytes()


def start(arguments: str) -> int:
    child = os.fork()
    if child:
        return child
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os._exit(run(arguments.split()))


def complete(arguments: str) -> float:
    """The seconds of a run that nobody kills."""
    began = time.perf_counter()
    _, status = os.waitpid(start(arguments), 0)
    assert status == 0, f"{arguments} ended with {status}"
    return time.perf_counter() - began


def left_behind() -> list[str]:
    return [name for name in os.listdir() if name.startswith(MARK)]


def kill(arguments: str, moment: float, *, while_writing: bool) -> bool:
    """Kill a run at a moment, counted from its start or from when it begins to write; whether it was still running."""
    child = start(arguments)
    if while_writing:
        while not any(one.endswith(".part") for one in left_behind()) and os.waitpid(child, os.WNOHANG) == (0, 0):
            pass
    time.sleep(moment)
    try:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    except (ChildProcessError, ProcessLookupError):
        return False
    return status == signal.SIGKILL


def main(name: str, kills: int, seed: int, folder: str) -> None:
    os.chdir(folder)
    for module in pkgutil.walk_packages(sf.__path__, "surefoot."):
        if module.name.split(".")[1] in LOADED and not module.name.startswith("surefoot.render.mpl"):
            importlib.import_module(module.name)
    for package in ("pyarrow.csv", "jinja2", "scipy.stats", "scipy.optimize"):
        importlib.import_module(package)
    rng = random.Random(seed)
    (arguments, target), old = COMMANDS[name], prepare(name)
    lasts = complete(arguments)
    new = Path(target).read_bytes()
    assert new != old
    found = {"command": name, "kills": 0, "old": 0, "new": 0, "left_temporary_files": 0}
    while found["kills"] < kills:
        Path(target).write_bytes(old)
        Path(target).chmod(0o640)
        if not kill(
            arguments,
            rng.uniform(0, lasts) if (is_early := rng.random() < 0.5) else rng.uniform(0, 0.004),
            while_writing=not is_early,
        ):
            continue
        found["kills"] += 1
        held = Path(target).read_bytes()
        assert held in (old, new), f"{target} is neither the old file nor the new one"
        assert Path(target).stat().st_mode & 0o777 == 0o640
        found["new" if held == new else "old"] += 1
        if left := left_behind():
            found["left_temporary_files"] += 1
            # with the rights of what they would have replaced, or fewer
            assert all(os.stat(one).st_mode & 0o777 in (0o640, 0o600) for one in left if one.endswith(".part"))
            Path(target).write_bytes(old)
            complete(arguments)
            assert not left_behind(), f"{left_behind()} after the next run"
            assert Path(target).read_bytes() == new
    Path(target).write_bytes(old)
    complete(arguments)
    assert not left_behind()
    assert Path(target).read_bytes() == new
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
