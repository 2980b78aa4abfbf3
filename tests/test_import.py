"""What `import surefoot` costs."""

import json
import subprocess
import sys

PROBE = """
import json, sys, time
import numpy
before = set(sys.modules)
start = time.perf_counter()
import surefoot
took = time.perf_counter() - start
print(json.dumps([took, sorted({name.partition(".")[0] for name in set(sys.modules) - before})]))
"""


def test_import_loads_numpy_and_the_standard_library_only() -> None:
    out = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True).stdout
    _, packages = json.loads(out)
    assert {p for p in packages if p not in sys.stdlib_module_names} <= {"numpy", "surefoot"}


def test_importing_surefoot_does_not_load_scipy() -> None:
    import subprocess

    code = "import sys, surefoot; sys.exit('scipy' in sys.modules or 'surefoot.risk' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
