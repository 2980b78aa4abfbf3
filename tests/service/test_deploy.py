"""What is in deploy/ fits the service: its metrics, options and ports; and the tools that read it accept it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from surefoot import cli
from surefoot.service.exposition import exposition

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = yaml.safe_load((DEPLOY / "surefoot-rules.yml").read_text())["groups"][0]["rules"]
DASHBOARD = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
METRICS = set(re.findall(r"^# TYPE (\w+) ", exposition([]), re.MULTILINE))
COUNTERS = set(re.findall(r"^# TYPE (\w+) counter$", exposition([]), re.MULTILINE))


def expressions() -> list[str]:
    panels = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
    variables = [one["definition"] for one in DASHBOARD["templating"]["list"] if "definition" in one]
    return [*panels, *variables, *(rule["expr"] for rule in RULES)]


@pytest.mark.parametrize("expression", expressions())
def test_rules_and_dashboard_ask_for_metrics_that_there_are(expression: str) -> None:
    names = set(re.findall(r"\bsurefoot_\w+", expression))
    assert names <= METRICS
    assert names or expression.startswith('up{job="surefoot"}')
    # a rate is that of a counter, and a difference that of a gauge
    for function, name in re.findall(r"(rate|increase|delta)\((surefoot_\w+)", expression):
        assert (name in COUNTERS) == (function != "delta")


def test_alerts_and_panels_tell_all_that_the_webhook_tells() -> None:
    panels = " ".join(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"])
    alerts = " ".join(rule["expr"] for rule in RULES)
    for name in ("surefoot_alarm", "surefoot_drift_total", "surefoot_slice_flagged"):
        assert name in panels
        assert name in alerts


def test_alerts_advise_what_there_is_and_what_helps() -> None:
    options = {option for one in command_of("serve").params for option in one.opts}
    told = {rule["alert"]: rule["annotations"]["description"] for rule in RULES}
    assert set(re.findall(r"--[a-z][\w-]+", " ".join(told.values()))) <= options
    assert "at most once in the rows of --mean-time-between-false-alarms" in told["SurefootDrift"]
    # a model keeps the window that it began with
    assert "begin a new version" in told["SurefootLabelsTooLate"]


def test_the_guide_names_the_files_and_where_they_keep_the_store() -> None:
    guide = (DEPLOY.parent / "docs/guide/service.md").read_text()
    section = guide[guide.index("## Deploying") : guide.index("## Trouble")]
    for path in DEPLOY.iterdir():
        assert f"`{path.name}`" in section or path.name == "Dockerfile.dockerignore"
    assert "--store /data/surefoot.db" in section
    assert '"--store", "/data/surefoot.db"' in (DEPLOY / "Dockerfile").read_text()
    # %S is /var/lib
    assert "--store /var/lib/surefoot/surefoot.db" in section
    assert "--store %S/surefoot/surefoot.db" in (DEPLOY / "surefoot.service").read_text()


def test_panels_lie_side_by_side() -> None:
    places: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not own & places
        assert at["x"] + at["w"] <= 24
        places |= own
    numbers = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(numbers)) == len(numbers)


def command_of(name: str) -> Any:
    command: Any = typer.main.get_command(cli.app)
    return command.commands[name]


@pytest.mark.parametrize("name", ["Dockerfile", "surefoot.service"])
def test_commands_take_the_options_that_they_are_given(name: str) -> None:
    text, parameters = (DEPLOY / name).read_text(), command_of("serve").params
    (line,) = re.findall(r'^(?:CMD \["|ExecStart=\S+/surefoot )(serve.*)$', text, re.MULTILINE)
    assert set(re.findall(r"--[\w-]+", line)) <= {option for one in parameters for option in one.opts}
    defaults = {one.name: one.default for one in parameters}
    if name == "Dockerfile":
        assert f"EXPOSE {defaults['port']}\n" in text
        assert f"http://127.0.0.1:{defaults['port']}/readyz" in text


def test_the_image_is_built_from_files_that_there_are() -> None:
    root = DEPLOY.parent
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    names = [name for line in copied for name in line.split()]
    assert all((root / name).exists() for name in names)
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text()
    assert all(f"!{name}\n" in ignored for name in names)


@pytest.mark.heavy
def test_prometheus_and_systemd_accept_the_files(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("needs promtool")
    subprocess.run(["promtool", "check", "rules", str(DEPLOY / "surefoot-rules.yml")], check=True, capture_output=True)
    shutil.copy(DEPLOY / "surefoot-rules.yml", tmp_path)
    (tmp_path / "token").write_text("token")
    config = (DEPLOY / "prometheus.yml").read_text().replace("/etc/prometheus/surefoot.token", "token")
    (tmp_path / "prometheus.yml").write_text(config)
    subprocess.run(["promtool", "check", "config", str(tmp_path / "prometheus.yml")], check=True, capture_output=True)
    if shutil.which("systemd-analyze") is None:
        pytest.skip("needs systemd-analyze")
    unit = (DEPLOY / "surefoot.service").read_text().replace("/opt/surefoot/bin/surefoot", "/bin/true")
    (tmp_path / "surefoot.service").write_text(unit)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "surefoot.service")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
