"""What a typed user sees: every public name is exported, with its signature, and nothing else is offered."""

import subprocess
import sys
from pathlib import Path

import surefoot as sf

SCRIPT = """
import surefoot as sf
from surefoot import Monitor, Predictions, assess, calibrate, compare, csr, ece, required_n, risk_test, tally
from surefoot.metrics import ALL

p: Predictions = Predictions.from_probabilities([0, 1], [0.2, 0.9])
value: float = csr(p)
other: float = ece([0, 1], [0, 1], [0.9, 0.8], n_bins=10)
a: sf.Assessment = assess(p, level=0.05)
verdict: str = a.verdict
risk: sf.RiskResult = risk_test(p)
t: sf.Tally = tally(p) + tally(p)
number: int = required_n([0.7, 0.9], deflation=0.1)
print(value, other, verdict, risk.pvalue, t, number, ALL["csr"].title, sf.__version__, sf.plots, calibrate, compare)
print(sf.metrics.ALL["ece"].title, sf.calibrators.Platt, Monitor)
"""

WRONG = SCRIPT + "\nwrong: int = sf.csr(p)\nsf.not_there\n"


def test_a_strictly_typed_script_passes_and_mistakes_are_found(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(SCRIPT)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--follow-imports=silent"]
    found = subprocess.run(
        [*command, "right.py", "wrong.py"], capture_output=True, text=True, cwd=tmp_path, check=False
    ).stdout
    assert "right.py" not in found
    assert "Incompatible types in assignment" in found
    assert 'has no attribute "not_there"' in found
    assert "Found 2 errors in 1 file (checked 2 source files)" in found


def test_the_stub_is_what_the_list_of_names_makes() -> None:
    stub = Path(sf.__file__).with_name("__init__.pyi")
    assert stub.read_text() == sf._stub(), "run `make stub`"


def test_only_public_names_are_offered() -> None:
    offered = dir(sf)
    assert {"Predictions", "assess", "csr", "plots", "metrics", "__version__"} <= set(offered)
    assert not [name for name in offered if name in ("Any", "TYPE_CHECKING", "import_module")]
    assert not [name for name in offered if name.startswith("_") and name != "__version__"]
    for name in offered:
        if name not in ("sklearn", "torchmetrics"):
            assert getattr(sf, name) is not None
