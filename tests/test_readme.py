"""The README's code runs, and prints what the README says."""

import re
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, flags=re.DOTALL)


def test_the_first_example_prints_exactly_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (language, code), (_, shown) = BLOCKS[:2]
    assert language == "python"
    exec(code, {})
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("code", [code for language, code in BLOCKS[2:] if language == "python"])
def test_every_other_example_runs(code: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(code, {})


def test_the_error_shown_is_the_error_raised() -> None:
    import surefoot as sf

    shown = next(text for language, text in BLOCKS[2:] if language == "text")
    with pytest.raises(sf.InvalidPredictions) as raised:
        sf.Predictions.from_correct([True] * 3, [0.5, 0.5, 97.5])
    assert str(raised.value) == shown.strip()
