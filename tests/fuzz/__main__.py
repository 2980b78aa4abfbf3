"""Try damaged files: ``python -m tests.fuzz --n 5000 --seed 1``.

Each file is read in a child process, for it may take the process down. It escapes if anything comes out but a result or
a documented error: another exception, a death by signal, more than 10 seconds of the processor, or more than 2 GiB of
memory. What escapes is kept in the folder ``--keep``, by default ``build/fuzz``; made small, it belongs into
``tests/data/broken``, where the quick suite reads it for ever.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import select
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import numpy as np

from tests.fuzz.damage import case
from tests.fuzz.use import use

SECONDS, MEMORY = 10, 2 << 30
TOO_MUCH = "more than 2 GiB of memory"
#: Files that one child reads, and seconds without a word after which it is taken for stuck.
BLOCK, SILENCE = 250, 300


def try_files(seed: int, indices: range) -> list[tuple[int, str]]:
    """The cases that escaped, and how."""
    escaped: list[tuple[int, str]] = []
    at = indices.start
    while at < indices.stop:
        at = _try_block(seed, range(at, min(at + BLOCK, indices.stop)), escaped)
    return escaped


def _try_block(seed: int, block: range, escaped: list[tuple[int, str]]) -> int:
    """Read some files in a child; the index after the last one that was tried."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if not child:
        os.close(reading)
        _read_all(seed, block, writing)
    os.close(writing)
    done, told = block.start, b""
    with open(reading, "rb", buffering=0) as pipe:
        while select.select([pipe], [], [], SILENCE)[0] and (some := pipe.read(1 << 16)):
            *lines, told = (told + some).split(b"\n")
            for line in lines:
                index, words = json.loads(line)
                done = index + 1
                if words:
                    escaped.append((index, words))
    if done < block.stop:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        if not escaped or escaped[-1] != (done - 1, TOO_MUCH):
            escaped.append((done, "the process died, or took too long"))
            done += 1
    os.waitpid(child, 0)
    return done


def _read_all(seed: int, block: range, pipe: int) -> None:
    """What a child does; it never returns."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # more is a death; what is taken and not filled does not count, and may be refused
        resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with tempfile.TemporaryDirectory() as folder:
            for index in block:
                name, data = case(seed, index)
                path = Path(folder, name)
                path.write_bytes(data)
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                words = use(path, np.random.default_rng([seed, index, 1]))
                signal.setitimer(signal.ITIMER_PROF, 0)
                if not words and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10 > MEMORY:
                    words = TOO_MUCH
                os.write(pipe, json.dumps([index, words]).encode() + b"\n")
                for left in Path(folder).iterdir():
                    left.unlink()
                if words == TOO_MUCH:
                    break
        code = 0
    finally:
        os._exit(code)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--n", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"))
    given = parser.parse_args()
    escaped = try_files(given.seed, range(given.start, given.start + given.n))
    for index, words in escaped:
        name, data = case(given.seed, index)
        given.keep.mkdir(parents=True, exist_ok=True)
        (given.keep / f"{given.seed}-{index}-{name}").write_bytes(data)
        print(f"{given.seed}-{index}-{name}: {words}")
    print(f"{given.n} files of seed {given.seed} tried, {len(escaped)} escaped")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
