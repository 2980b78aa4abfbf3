"""What is published: the metadata agree with each other, and the wheel and the sdist hold what they need."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import surefoot as sf

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())


def tracked_files() -> list[str]:
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def build(kind: str, folder: Path) -> Path:
    """Build by the backend itself: no network, no environment of its own."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (built,) = folder.iterdir()
    return built


def requirement_name(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found is not None
    return found[0].lower().replace("_", "-")


def test_the_version_is_the_same_everywhere() -> None:
    assert CITATION["version"] == sf.__version__
    assert (ROOT / f"docs/releases/{sf.__version__}.md").read_text().startswith(f"# surefoot {sf.__version__}\n")


def test_the_changelog_has_the_version_and_its_date() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert f"{sf.__version__} - {CITATION['date-released']}" in headings


def test_the_citation_names_the_software_and_the_paper() -> None:
    # what the format requires, of the file and of each reference
    assert {"cff-version", "message", "title", "authors"} <= CITATION.keys()
    (paper,) = CITATION["references"]
    assert {"type", "title", "authors"} <= paper.keys()
    assert paper["title"] in (ROOT / "README.md").read_text().replace("\n", " ")
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["repository-code"] == PROJECT["urls"]["Source"]


def test_python_versions_are_those_that_are_tested() -> None:
    promised = [
        found[1] for text in PROJECT["classifiers"] if (found := re.search(r"Python :: (3\.\d+)$", text)) is not None
    ]
    assert promised == WORKFLOW["jobs"]["everything"]["strategy"]["matrix"]["python"]
    assert PROJECT["requires-python"] == f">={promised[0]}"
    assert WORKFLOW["jobs"]["lowest"]["container"] == f"python:{promised[0]}-bookworm"
    assert f"| Python | {promised[0]} to {promised[-1]} |" in (ROOT / "SUPPORT.md").read_text()


def test_the_workflow_runs_what_the_repository_runs() -> None:
    steps = {name: [step.get("run") for step in job["steps"]] for name, job in WORKFLOW["jobs"].items()}
    assert ".ci/run" in steps["everything"]
    assert "make test-lowest" in steps["lowest"]
    assert "make dist" in steps["distributions"]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert set(re.findall(r"^make ([a-z-]+)", (ROOT / ".ci/run").read_text(), flags=re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name)
def test_an_issue_form_can_be_filled_in(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    if path.name == "config.yml":
        assert all({"name", "url", "about"} <= link.keys() for link in form["contact_links"])
        return
    assert {"name", "description", "body"} <= form.keys()
    names = [field["id"] for field in form["body"]]
    assert len(names) == len(set(names))
    assert all(field["attributes"]["label"] for field in form["body"])


def test_every_hook_before_a_commit_is_a_tool_of_the_checks() -> None:
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    tools = {hook["entry"].split()[0] for hook in local["hooks"]}
    assert tools == {".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/lint-imports", ".venv/bin/python"}


def test_every_import_of_the_package_is_promised() -> None:
    """What comes with `pip install surefoot`, or with one of the extras for users."""
    extras = PROJECT["optional-dependencies"]
    promised = [*PROJECT["dependencies"], *extras["plots"], *extras["demo"], *extras["torch"], *extras["spark"]]
    promised += [*extras["paper"], *extras["inspect"], *extras["mlflow"], *extras["evaluate"]]
    promised += [*extras["excel"], *extras["databases"], *extras["serve"], *extras["kafka"]]
    names = {requirement_name(text) for text in promised}
    # scikit-learn is imported under another name; Triton comes with torch, MarkupSafe with Jinja, anyio with Starlette
    known = {name.replace("-", "_") for name in names} - {"scikit_learn"} | {
        "sklearn",
        "triton",
        "markupsafe",
        "anyio",
    }
    # frames come from the user, who then has the package; datasets comes with evaluate
    known |= {"pandas", "polars", "dask", "duckdb", "cloudpickle", "datasets"}
    imported: dict[str, str] = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {name.name.partition(".")[0]: path.name for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported[str(node.module).partition(".")[0]] = path.name
    strange = {name: where for name, where in imported.items() if name not in sys.stdlib_module_names}
    assert strange.keys() - known - {"surefoot"} == set()


def test_the_wheel_holds_what_it_needs(tmp_path: Path) -> None:
    with zipfile.ZipFile(build("wheel", tmp_path)) as wheel:
        held = set(wheel.namelist())
        (metadata,) = [name for name in held if name.endswith("METADATA")]
        text = wheel.read(metadata).decode()
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src/surefoot").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in held if not name.startswith(f"surefoot-{sf.__version__}.dist-info/")} == source
    assert {
        "surefoot/py.typed",
        "surefoot/__init__.pyi",
        "surefoot/cli/breast_cancer.csv",
        "surefoot/integrations/huggingface/calibration/calibration.py",
        "surefoot/render/page/report.html.jinja",
        "surefoot/render/page/report.css",
        "surefoot/render/page/report.js",
    } <= held
    assert f"Version: {sf.__version__}\n" in text
    assert "License-Expression: Apache-2.0\n" in text


def test_the_sdist_holds_every_tracked_file(tmp_path: Path) -> None:
    expected = set(tracked_files())
    with tarfile.open(build("sdist", tmp_path)) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    assert expected - held == set()


def test_no_tracked_file_names_a_package_host_or_a_path_of_a_developer() -> None:
    # put together here, so that this file does not contain them
    hosts = ["py" + "pi.org", "python" + "hosted.org", "ana" + "conda.org", "pypi" + "/simple"]
    paths = ["/wo" + "rk/", "/opt/" + "wheels", "/ro" + "ot/", "/Us" + "ers/", "C:" + "\\Users"]
    words = [word.encode() for word in [*hosts, *paths]]
    for name in tracked_files():
        text = (ROOT / name).read_bytes()
        assert [word for word in words if word in text] == [], name
