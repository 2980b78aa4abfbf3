"""The bar for what takes long, and how a command ends."""

import io
import sys

import pytest

import surefoot as sf
from surefoot import cli
from surefoot.cli import progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("patience", "is_drawn"), [(-1.0, True), (1000.0, False)])
def test_a_bar_is_drawn_in_a_terminal_after_a_while(
    patience: float, is_drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PATIENCE", patience)
    with progress.bar("reading a.csv") as bar:
        bar(0.25, 12_000)
        bar(0.5, 24_000)
    assert ("reading a.csv" in screen.getvalue()) == is_drawn
    assert ("24,000 rows" in screen.getvalue()) == is_drawn


def test_no_bar_is_drawn_into_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setattr(progress, "_PATIENCE", -1.0)
    with progress.bar("reading a.csv") as bar:
        bar(0.5, 24_000)
    assert written.getvalue() == ""


def test_the_version_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["--version"]) == 0
    assert capfd.readouterr().out == f"surefoot {sf.__version__}\n"


@pytest.mark.parametrize("error", [KeyboardInterrupt, EOFError])
def test_an_interrupted_command_ends_with_130(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(cli, "app", interrupted)
    assert cli.run(["assess", "a.csv"]) == 130


def test_main_takes_the_arguments_of_the_process_and_exits_with_the_status(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["surefoot", "assess", "none.csv"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 3
    assert "none.csv" in capfd.readouterr().err
