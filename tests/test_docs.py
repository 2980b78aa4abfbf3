"""The code on the documentation's pages runs, and so do the examples of the gallery."""

from __future__ import annotations

import gc
import os
import re
import runpy
import shutil
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import surefoot

pytest.importorskip("matplotlib")

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
sys.path.insert(0, str(DOCS))

from check_links import problems_of  # noqa: E402
from executed import BLOCK, VALUE, close_figures, run_page  # noqa: E402

PAGES = sorted(path for path in DOCS.rglob("*.md") if "adr" not in path.parts)
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Blocks that need more than the page: Java, or a package. They run with the heavy tests, after the rest of the page.
NEEDS = re.compile(r"^```\{code-block\} python\n:class: needs-(\w+)\n\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Blocks that are only shown: none but these languages may stand on a page.
SHOWN = {
    "sh",
    "make",
    "yaml",
    "text",
    "bibtex",
    "python",
    "{run}",
    "{toctree}",
    "{glossary}",
    "{code-block}",
    "{eval-rst}",
}
#: Packages that pages use beyond those of the suite; a page that needs one is run with the heavy tests.
HEAVY = re.compile(r"^\s*(?:import|from) (torch|torchmetrics|netcal|mapie|relplot|calibration)\b", re.MULTILINE)


def named(path: Path) -> str:
    return str(path.relative_to(DOCS))


def code_on(path: Path) -> bool:
    text = path.read_text()
    return bool(BLOCK.search(text) or VALUE.search(text) or "surefoot " in "".join(SHELL.findall(text)))


def pages() -> Iterator[object]:
    for path in PAGES:
        if code_on(path):
            heavy = HEAVY.search(NEEDS.sub("", path.read_text()))
            yield pytest.param(path, id=named(path), marks=[pytest.mark.heavy] if heavy else [])


@pytest.mark.filterwarnings("default::DeprecationWarning", "default::FutureWarning")
@pytest.mark.parametrize("path", [*pages()])
def test_the_code_of_a_page_runs(path: Path, tmp_path: Path) -> None:
    text = path.read_text()
    for package in set(HEAVY.findall(NEEDS.sub("", text))):
        pytest.importorskip(package)
    try:
        run_page(text, named(path), tmp_path)
    finally:
        close_figures()
    for command in commands(text):
        files = files_of(command)
        assert all(any(tmp_path.glob(name)) for name in files), f"the page does not make the files of: {command}"
        if files:
            run_command(command, tmp_path)


def commands(text: str) -> list[str]:
    """The lines of a page's shell blocks that call surefoot."""
    lines = [line for block in SHELL.findall(text) for line in block.splitlines()]
    return [line for line in lines if re.match(r"(?:tail -f \S+ \| )?surefoot ", line)]


def files_of(command: str) -> list[str]:
    """The files that a command reads: names and globs, but for what it writes."""
    read = re.sub(r"(?:-o|--\w+-tally|--save|--html|--junit|--markdown) \S+", "", command)
    return re.findall(r"[\w./*-]+\.(?:csv|jsonl|parquet|tally)", read) or re.findall(r"[\w./*-]+\.state", read)


def run_command(command: str, folder: Path) -> None:
    """Run it; a rule of a gate may hold, anything else must succeed."""
    full = re.sub(r"\bsurefoot ", f"{sys.executable} -m surefoot ", command.replace("tail -f", "cat"), count=1)
    done = subprocess.run(["bash", "-c", full], cwd=folder, capture_output=True, text=True, env=environment())
    assert done.returncode in ((0, 1) if "--fail-on" in command else (0,)), f"{command}\n{done.stderr}"


def environment() -> dict[str, str]:
    source = str(Path(surefoot.__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}


#: What pages need for some of their blocks, by page.
NEEDED = [(path, need) for path in PAGES for need in sorted({need for need, _ in NEEDS.findall(path.read_text())})]


@pytest.mark.heavy
@pytest.mark.parametrize(("path", "need"), NEEDED, ids=lambda value: value if isinstance(value, str) else named(value))
def test_a_block_that_needs_more_runs(
    path: Path, need: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if need == "java":
        if shutil.which("java") is None:
            pytest.skip("needs Java")
        pytest.importorskip("pyspark")
        monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    elif need == "wandb":
        request.getfixturevalue("wandb")
    else:
        pytest.importorskip(need)
    for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK", "HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE"):
        monkeypatch.setenv(name, "1" if name.startswith("HF") else "true")
    text = path.read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        page = run_page(text, named(path), tmp_path)
        if need in ("java", "uvicorn"):
            monkeypatch.chdir(tmp_path)
        if need == "java":
            labelled(tmp_path / "labelled")
            end_java()
        if need == "uvicorn":
            page.namespace.update(request.getfixturevalue("service"))
        printed = [page.run(code).text for asked, code in NEEDS.findall(text) if asked == need]
        # what packages leave to the garbage collector is theirs
        gc.collect()
    if need == "java" and path.stem == "service":
        from surefoot.service.database import connect
        from surefoot.service.store import Store

        database = connect("surefoot.db")
        assert Store(database).find("fraud", "3").counts.labelled == 400
        database.close()
    elif need == "java":
        assert printed[-1].splitlines()[-1] == page.namespace["a"].verdict
    elif need == "mlflow":
        page.namespace["mlflow"].set_tracking_uri(None)
        assert printed[0].splitlines()[-1] == page.namespace["a"].verdict
    elif need == "uvicorn":
        assert printed == ["No drift and no alarm so far\n"]
    elif need == "wandb":
        (logged,) = sys.modules["wandb"].logged
        assert logged["verdict"] == page.namespace["a"].verdict
    else:
        assert "csr" in printed[-1].lower() or "CalibratedSizeRatio" in printed[-1]


def end_java() -> None:
    """End the Java that an earlier test started: relative paths are for ever those of the folder it was started in."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(60)
        SparkContext._gateway = SparkContext._jvm = None


def labelled(folder: Path) -> None:
    """Rows of which it is known whether they are correct."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    pq.write_table(pa.table({"correct": [True, False] * 200, "confidence": [0.75] * 400}), folder / "rows.parquet")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The address and a token of a server that the page can talk to."""
    from tests.service.serving import Server

    server = Server(str(tmp_path / "store.db"))
    server.start()
    yield {"url": server.url, "token": server.token}
    server.kill()


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Weights & Biases that keeps what it is given: the real one asks for an account."""
    logged: list[dict[str, object]] = []
    module = types.SimpleNamespace(
        logged=logged, init=lambda **options: types.SimpleNamespace(log=logged.append), Html=Path
    )
    monkeypatch.setitem(sys.modules, "wandb", module)


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_of_the_gallery_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path)
    try:
        runpy.run_path(str(path), run_name="__main__")
    finally:
        close_figures()


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_no_block_escapes_the_tests(path: Path) -> None:
    """Python is written in blocks that run; what is only shown is in a language that cannot be mistaken for it."""
    opened = re.findall(r"^[ ]*```+([^\s`]+)", path.read_text(), flags=re.MULTILINE)
    assert set(opened) <= SHOWN
    assert len(NEEDS.findall(path.read_text())) == opened.count("{code-block}")


def test_every_public_name_is_in_the_reference() -> None:
    from reference import groups

    listed = [name for _, _, names in groups() for name in names]
    assert sorted(listed) == sorted(surefoot._HOMES)


def test_no_group_of_the_reference_is_left_over() -> None:
    from reference import groups

    assert groups()[-1] == ("More", "", [])


@pytest.mark.heavy
def test_the_site_builds_without_a_warning_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    pytest.importorskip("sphinx")
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, str(DOCS / "build.py"), str(site)], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert problems_of(site) == []
    assert "0.000" in (site / "why" / "ece.html").read_text()
    assert "<math" in (site / "theory" / "csr.html").read_text()


BROKEN = {
    '<a href="b.html#there">': [],
    '<a href="missing.html">': ["a.html: missing.html: no such file"],
    '<a href="b.html#nowhere">': ["a.html: b.html#nowhere: no such place on that page"],
    '<a href="https://nowhere">': ["a.html: https://nowhere: not an address"],
    '<a href="https://example.org/x">': [],
    '<script src="https://example.org/x.js"></script>': ["a.html: loads https://example.org/x.js"],
    '<link rel="stylesheet" href="//example.org/x.css">': ["a.html: loads //example.org/x.css"],
    '<img src="picture.png">': ["a.html: picture.png: no such file"],
}


@pytest.mark.parametrize(("html", "problems"), BROKEN.items())
def test_broken_links_are_found(html: str, problems: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<html>{html}</html>")
    (tmp_path / "b.html").write_text('<h2 id="there">There</h2>')
    assert problems_of(tmp_path) == problems
