"""What needs a package that is not installed says so, with the line to type."""

from __future__ import annotations

import subprocess
import sys

import pytest

import surefoot as sf

#: Without the packages, what is asked for says which to install.
MISSING = {
    "torch": ("sf.torchmetrics", "need torch and torchmetrics: pip install 'surefoot[torch]'"),
    "torchmetrics": ("sf.torchmetrics", "torchmetrics: pip install 'surefoot[torch]'"),
    "sklearn": ("sf.calibrators.Calibrated(None)", "Calibrated needs scikit-learn, 1.6 or newer: pip install"),
    "matplotlib": ("sf.plots.RocDisplay.from_predictions([1, 0], [0.9, 0.1]).plot()", "pip install 'surefoot[plots]'"),
}


@pytest.mark.parametrize("package", list(MISSING))
def test_what_is_missing_is_named(package: str) -> None:
    asked, said = MISSING[package]
    program = (
        f"import sys; sys.modules[{package!r}] = None\nimport surefoot as sf\n"
        f"try: {asked}\nexcept sf.MissingPackage as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert said in done.stdout, done.stderr
    assert issubclass(sf.MissingPackage, ImportError)
