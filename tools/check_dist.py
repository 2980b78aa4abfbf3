"""Install what was built, each in a clean environment, and use it from another folder, as a new user does.

``python tools/check_dist.py dist`` expects one wheel and one sdist in the folder. The wheel is installed alone: what
``surefoot demo`` needs must come with it. The sdist must give the same files, and its tests must run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

SCRIPT = """
from pathlib import Path
import surefoot as sf

p = sf.Predictions.from_labels([1, 0, 1, 1], [1, 0, 1, 0], [0.9, 0.8, 0.7, 0.75])
assert sf.csr(p) == 1.0, sf.csr(p)
a = sf.assess(p)
print(a.verdict)
a.to_html("report.html")
assert "<html" in Path("report.html").read_text(encoding="utf-8")
Path("small.csv").write_text("correct,confidence\\ntrue,0.9\\nfalse,0.6\\ntrue,0.8\\n")
print(sf.assess(sf.load("small.csv")).verdict)
"""

#: Tests that need nothing but surefoot, pytest and Hypothesis.
TESTS = ("tests/core", "tests/test_import.py", "tests/test_saved_by_earlier_versions.py")


def main(folder: Path) -> None:
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as scratch:
        environment, elsewhere = Path(scratch) / "environment", Path(scratch) / "elsewhere"
        elsewhere.mkdir()
        python, command = create_environment(environment)

        run(python, "-m", "pip", "install", "--quiet", str(wheel.resolve()), cwd=elsewhere)
        use(python, command, elsewhere)
        before = installed_files(environment)

        run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "surefoot", cwd=elsewhere)
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", str(sdist.resolve()), cwd=elsewhere)
        assert installed_files(environment) == before, "the sdist installs other files than the wheel"
        use(python, command, elsewhere)

        with tarfile.open(sdist) as archive:
            archive.extractall(scratch, filter="data")
        run(python, "-m", "pip", "install", "--quiet", "pytest", "hypothesis", cwd=elsewhere)
        source = Path(scratch) / sdist.name.removesuffix(".tar.gz")
        run(python, "-m", "pytest", "-p", "no:cacheprovider", *TESTS, cwd=source)
    print(f"{wheel.name} and {sdist.name}: installed alone, and they work")


def create_environment(folder: Path) -> tuple[str, str]:
    """A virtual environment with pip alone: its Python, and where its ``surefoot`` will be."""
    venv.create(folder, with_pip=True)
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    suffix = ".exe" if os.name == "nt" else ""
    return str(scripts / f"python{suffix}"), str(scripts / f"surefoot{suffix}")


def use(python: str, command: str, folder: Path) -> None:
    """The first things that people do."""
    run(command, "--version", cwd=folder)
    run(command, "demo", cwd=folder)
    run(python, "-c", SCRIPT, cwd=folder)


def run(*arguments: str, cwd: Path) -> None:
    """Run to success; nothing of the checkout is on the path."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run(arguments, cwd=cwd, env={**inherited, "PYTHONUTF8": "1"}, check=True)


def installed_files(environment: Path) -> set[str]:
    """The installed files of the package, without compiled code."""
    (package,) = environment.rglob("site-packages/surefoot")
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
