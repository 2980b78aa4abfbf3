"""Build the documentation site: ``python docs/build.py [FOLDER]``, by default into
build/docs.

The pages are copied to build/docs-source first, with the measurements, the changelog
and other files of the repository that belong to the site; Sphinx writes its generated
pages there, and the repository stays clean. Warnings are errors. Links between pages
are checked in the HTML that comes out, and so is that no page loads anything from
elsewhere.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from check_links import problems_of

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "build" / "docs-source"
#: Files of the repository that become pages: where they are, and where they go.
PAGES = {
    "benchmarks/RESULTS.md": "measured/speed.md",
    "benchmarks/VALIDITY.md": "measured/validity.md",
    "benchmarks/GPU.md": "measured/gpu.md",
    "benchmarks/SPARK.md": "measured/spark.md",
    "benchmarks/SLICES.md": "measured/slices.md",
    "benchmarks/SERVICE.md": "measured/service.md",
    "CHANGELOG.md": "changelog.md",
    "SUPPORT.md": "support.md",
    "SECURITY.md": "security.md",
}
#: One thread of linear algebra for each of two processes: more of them only wait for each other.
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
NOT_PAGES = ("_ext", "_static", "_templates", "adr", "__pycache__")


def copy_pages() -> None:
    """Put all pages into one folder, with links between them as they are there."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.copytree(
        ROOT / "docs", SOURCE, ignore=shutil.ignore_patterns(*NOT_PAGES, "*.py")
    )
    for origin, place in PAGES.items():
        (SOURCE / place).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / origin, SOURCE / place)
    for path in SOURCE.rglob("*.md"):
        path.write_text(_relink(path.read_text(), path))


def _relink(text: str, path: Path) -> str:
    """Links to files that have moved, seen from a page."""
    for origin, place in PAGES.items():
        target = os.path.relpath(SOURCE / place, path.parent)
        text = re.sub(rf"\]\((?:\.\./)*{re.escape(origin)}", f"]({target}", text)
    # files of the repository name pages by their folder
    return text.replace("](docs/", f"]({os.path.relpath(SOURCE, path.parent)}/")


def main() -> int:
    """Copy, build, check; return the exit status."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    copy_pages()
    shutil.rmtree(site, ignore_errors=True)
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-j",
        "2",
        "-c",
        "docs",
    ]
    command += os.environ.get("SPHINXOPTS", "").split()
    environment = {**os.environ, "PYTHONHASHSEED": "0", "MPLBACKEND": "agg", **THREADS}
    doctrees = ROOT / "build" / "docs-doctrees"
    shutil.rmtree(doctrees, ignore_errors=True)
    done = subprocess.run(
        [*command, "-d", str(doctrees), str(SOURCE), str(site)],
        cwd=ROOT,
        env=environment,
    )
    if done.returncode:
        return done.returncode
    problems = problems_of(site)
    for problem in problems:
        print(problem, file=sys.stderr)
    pages = len(list(site.rglob("*.html")))
    print(f"{site / 'index.html'}: {pages} pages, {len(problems)} broken links")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
