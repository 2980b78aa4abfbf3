"""Files and numbers of the version before: they still load, and nothing has changed."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from saved_samples import STATED, numbers, samples

import surefoot as sf

FOLDER = Path(__file__).parent / "data" / "version-0.1.0"
BEFORE: dict[str, Any] = json.loads((FOLDER / "numbers.json").read_text())


@cache
def sample(name: str) -> sf.Predictions:
    return samples()[name]


def same(value: float) -> Any:
    return pytest.approx(value, rel=1e-12, abs=1e-300, nan_ok=True)


@pytest.mark.parametrize("name", BEFORE["metrics"])
def test_every_number_is_what_it_was(name: str) -> None:
    now = numbers(sample(name))
    assert {key: now[key] for key in BEFORE["metrics"][name]} == {
        key: same(value) for key, value in BEFORE["metrics"][name].items()
    }


@pytest.mark.parametrize("name", BEFORE["tallies"])
def test_a_saved_tally_gives_the_same_numbers(name: str) -> None:
    kept = sf.Tally.load(FOLDER / f"{name}.tally")
    assert {key: sf.metrics.ALL[key].of(kept) for key in BEFORE["tallies"][name]} == {
        key: same(value) for key, value in BEFORE["tallies"][name].items()
    }
    for value, part in (kept.slices or {}).items():
        for key, before in BEFORE["slices"][name][str(value)].items():
            assert sf.metrics.ALL[key].of(part) == same(before)


def test_a_saved_tally_adds_to_a_new_one() -> None:
    kept = sf.Tally.load(FOLDER / "logits.tally")
    both = kept + sf.tally(sample("logits"), metrics=["csr", "cw_f1", "ece"])
    assert sf.metrics.ALL["ece"].of(both) == pytest.approx(BEFORE["tallies"]["logits"]["ece"], rel=1e-12)


@pytest.mark.parametrize("name", BEFORE["tallies"])
def test_what_accumulates_over_versions_goes_on(name: str, tmp_path: Path) -> None:
    """A saved tally lacks the terms of metrics that are new: these are left out of the sum."""
    kept = sf.Tally.load(FOLDER / f"{name}.tally")
    if name == "logits":
        return  # made for some metrics only
    new = sf.tally(sample(name), by=kept.by)
    for both in (kept + new, new + kept):
        both.save(tmp_path / "both.tally")
        again = sf.Tally.load(tmp_path / "both.tally") + new
        for total in (both, again):
            assert sf.metrics.ALL["ece"].of(total) == pytest.approx(BEFORE["tallies"][name]["ece"], rel=1e-12)
            assert "top_label_ece" not in sf.assess(total).metrics


def test_terms_that_both_should_know_are_still_missed() -> None:
    kept = sf.Tally.load(FOLDER / "binary.tally")
    with pytest.raises(sf.InvalidTally, match="only the first has"):
        kept + sf.tally(sample("binary"), metrics=["csr"], by="predicted")


@pytest.mark.parametrize("name", BEFORE["calibrators"])
def test_a_saved_calibrator_corrects_as_before(name: str) -> None:
    loaded = sf.calibrators.load(FOLDER / f"{name}.calibrator.json")
    assert type(loaded).__name__ == name
    np.testing.assert_allclose(loaded.predict_proba(STATED), BEFORE["calibrators"][name], rtol=1e-12)


def test_a_saved_monitor_goes_on_as_before() -> None:
    before = BEFORE["monitor"]
    monitor = sf.Monitor.load(FOLDER / "monitor.json")
    assert monitor.e_value == same(before["e_value"])
    monitor.update(sample("bare").correct[140:160], ids=[f"q{i}" for i in range(20, 40)])
    assert monitor.e_value == same(before["later"])
    assert (monitor.alarm, monitor.drift) == (before["alarm"], before["drift"])
