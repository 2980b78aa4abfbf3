"""Memory with millions of pending labels, false alarms of calibrated streams with late labels, and how late drift is."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.evidence_report import table
from surefoot.service.batches import Prediction
from surefoot.service.database import connect
from surefoot.service.service import Service
from surefoot.service.totals import fold_all
from tests.service.simulation import STEP, Simulated, draw, run

#: Streams of one store, rows of a stream, and where the streams change that do.
_TOGETHER, _ROWS, _CHANGE = 500, 1_000, 300
LEVEL = 0.05

_MONITOR = """
import re, sys
import numpy as np
import surefoot as sf

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024

rows, before = int(sys.argv[1]), peak()
m = sf.Monitor(label_window=rows + 1)
for start in range(0, rows, 20_000):
    m.expect(list(range(start, start + 20_000)), np.full(20_000, 0.9), groups=np.arange(20_000))
assert m.pending == rows
print(peak() - before)
"""


def pending(rows: int, window: int = 100_000) -> str:
    """Memory of the service with a label window, by default its own, and of a monitor that awaits every label."""
    looks = []
    with tempfile.TemporaryDirectory() as folder:
        service = Service(connect(str(Path(folder) / "store.db")), label_window=window)
        step, began = 10_000, time.process_time()
        rng = np.random.default_rng(0)
        for start in range(0, rows, step):
            confidence = rng.uniform(0.5, 0.999, step).tolist()
            job = [Prediction(f"row {start + i}", c, 1.0 - c) for i, c in enumerate(confidence)]
            service.add("model", "1", job).result()
            with service.looking(service.find("model", "1")):
                pass
            if (start + step) % max(step, rows // 50) == 0:
                # as the chores do: ids are dropped once they are counted
                fold_all(service.database, service.find("model", "1"))
                service.tidy(service.find("model", "1"))
            if (start + step) % max(step, rows // 5) == 0:
                with service.looking(service.find("model", "1")) as follower:
                    monitor = follower.monitor
                size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 2**20
                line = [
                    f"{start + step:,}",
                    f"{monitor.pending:,}",
                    f"{monitor.unlabelled:,}",
                    f"{_peak():.0f} MiB",
                    f"{size:.0f} MiB",
                ]
                print(line, flush=True)
                looks.append(line)
        took = time.process_time() - began
        service.stop()
    alone = subprocess.run([sys.executable, "-c", _MONITOR, str(rows)], capture_output=True, text=True, check=True)
    columns = [
        "predictions without a label",
        "awaited",
        "no longer awaited",
        "peak memory of the process",
        "store on disk",
    ]
    return f"""Predictions whose labels never come, through the service in one process (store, monitor, saves, ids dropped), with a label window of {window:,} predictions (the default is 100,000):

{table(columns, looks)}

{took / rows * 1e6:.0f} microseconds of processor time a prediction. With a label window of {rows:,}, so that all of them are awaited at once, the monitor takes {float(alone.stdout):,.0f} MiB: {float(alone.stdout) * 2**20 / rows:.0f} bytes a label that is awaited, which the window bounds. Saving it takes about three times as much for a moment.
"""


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def alarms(streams: int) -> str:
    """False alarms of calibrated streams, and how soon drift is found in those that change."""
    calm = {
        "random delays": _simulated(streams, lambda seed: draw(_ROWS, seed)),
        "errors at once, the other labels late": _simulated(
            streams // 4, lambda seed: draw(_ROWS, 1_000_000 + seed, errors_first=True)
        ),
    }
    changed = _simulated(streams // 10, lambda seed: draw(_ROWS, 2_000_000 + seed, change=_CHANGE))
    rows = []
    for name, found in calm.items():
        share = np.mean([one.alarmed["service"] is not None for one in found])
        limit = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / len(found))
        different = sum(one.differences for one in found)
        rows.append([name, f"{len(found):,}", f"{share:.2%}", f"{limit:.2%}", f"{different}"])
    delays = {name: _delays(changed, name) for name in ("service", "offline")}
    later = sum((one.drifted["service"] or 1e9) > (one.drifted["offline"] or 1e9) for one in changed)
    return f"""Streams of {_ROWS:,} predictions, looked at after every {STEP} of them until the last label has come. Labels come up to 400 rows late; each stream draws its longest delay, and each row its own. All pass through the store and the follower, as requests do, beside a `Monitor` that gets the same predictions and labels in the same order.

{table(["calibrated streams", "streams", f"alarmed at level {LEVEL:.0%}", "level and 3 standard errors", "looks at which the service and the monitor differ"], rows)}

Twice as many errors from row {_CHANGE} on ({len(changed)} streams): drift was found in {delays["service"][0]:.1%} by the service and in {delays["offline"][0]:.1%} by the monitor, at a median of {delays["service"][1]:.0f} and {delays["offline"][1]:.0f} rows issued after the change; in {later} streams later by the service than by the monitor, at {sum(one.differences for one in changed)} looks they differ.
"""


def _delays(streams: list[Simulated], name: str) -> tuple[float, float]:
    """In which share drift was found, and the median of rows that were issued after the change until then."""
    found = [one.drifted[name] for one in streams if one.drifted[name] is not None]
    return len(found) / len(streams), float(np.median([(look + 1) * STEP - _CHANGE for look in found]))


def _simulated(number: int, make: Any) -> list[Simulated]:
    found: list[Simulated] = []
    while len(found) < number:
        some = [make(len(found) + i) for i in range(min(_TOGETHER, number - len(found)))]
        with tempfile.TemporaryDirectory() as folder:
            database = connect(str(Path(folder) / "store.db"))
            run(database, some)
            database.close()
        found += some
        print(f"{len(found):,} streams, {sum(one.alarmed['service'] is not None for one in found)} alarms", flush=True)
    return found
