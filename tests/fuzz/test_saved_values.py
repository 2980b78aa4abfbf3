"""Saved tallies and calibrators with a valid checksum and values that cannot be: refused by name, or read."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surefoot as sf
from surefoot._io import documents
from surefoot.calibrators import load
from surefoot.calibrators.registry import NAMED, new_calibrator

VALUES: list[Any] = [
    *(0, -1, 1, 2, 1e300, -1e300, 1e-320, 0.5, 1.5, 2**53, 2**63, 10**30),
    *(True, False, None, "", "x", "inf", "nan", "-inf", [], {}, [0], {"a": 1}, [[[]]], "\ud800"),
]
RNG = np.random.default_rng(0)
P = RNG.uniform(0.02, 0.98, 400)
Y = (RNG.random(400) < P).astype(int)
DOCUMENTED = (sf.InvalidTally, sf.InvalidCalibrator, sf.InvalidPredictions, sf.MetricUnavailable)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for name, one in value.items() if isinstance(value, dict) else enumerate(value[:6] if type(value) is list else ()):
        yield from _paths(one, (*path, name))


def _mutated(body: Any, chance: random.Random) -> Any:
    made = copy.deepcopy(body)
    *parents, last = chance.choice([*_paths(body)])
    place = made
    for name in parents:
        place = place[name]
    if chance.random() < 0.15:
        del place[last]
    else:
        place[last] = copy.deepcopy(chance.choice(VALUES))
    return made


def _use_tally(path: Path) -> None:
    tally = sf.Tally.load(path)
    found = sf.assess(tally)
    assert str(found)
    found.to_json()
    (tally + tally).to_text()


def _use_calibrator(path: Path) -> None:
    calibrator = load(path)
    calibrator.predict_proba([0.2, 0.8] if len(calibrator.classes_) == 2 else np.full((2, 3), 1 / 3))
    assert repr(calibrator)


def _check(path: Path, use: Callable[[Path], None], runs: int) -> None:
    use(path)
    document = json.loads(path.read_text())
    kind, schema = document["surefoot"], document["schema"]
    body = {key: value for key, value in document.items() if key not in ("surefoot", "schema", "sha256")}
    chance = random.Random(1)
    for _ in range(runs):
        made = _mutated(body, chance)
        try:
            text = documents.dump(kind, schema, made)
        except ValueError:
            continue
        path.write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                use(path)
            except DOCUMENTED:
                continue


def test_tallies(tmp_path: Path) -> None:
    sf.tally(sf.Predictions.from_correct(Y == 1, P)).save(tmp_path / "a.tally")
    _check(tmp_path / "a.tally", _use_tally, 60)


@pytest.mark.filterwarnings("ignore::surefoot.CertaintyWarning")
@pytest.mark.parametrize("name", NAMED)
def test_calibrators(name: str, tmp_path: Path) -> None:
    new_calibrator(name).fit(P, Y, labels=[0, 1]).save(tmp_path / "c.json")
    _check(tmp_path / "c.json", _use_calibrator, 60)


def _edit(path: Path, change: Callable[[Any], None]) -> None:
    document = json.loads(path.read_text())
    body = {key: value for key, value in document.items() if key not in ("surefoot", "schema", "sha256")}
    change(body)
    path.write_text(documents.dump(document["surefoot"], document["schema"], body))


@pytest.mark.parametrize(
    ("value", "error"), [("nan", "a number"), ("inf", "not a number from 0 up"), (-1, "not a number from 0 up")]
)
def test_a_count_that_cannot_be_is_damage(value: Any, error: str, tmp_path: Path) -> None:
    def change(body: Any) -> None:
        body["tables"]["decades of doubt"]["totals"]["wrong by decade of doubt"][0][3] = value

    sf.tally(sf.Predictions.from_correct(Y == 1, P)).save(tmp_path / "a.tally")
    _edit(tmp_path / "a.tally", change)
    with pytest.raises(sf.InvalidTally, match=error):
        sf.assess(sf.Tally.load(tmp_path / "a.tally"))


def test_a_tally_without_what_is_shown_is_refused(tmp_path: Path) -> None:
    sf.tally(sf.Predictions.from_correct(Y == 1, P)).save(tmp_path / "a.tally")
    _edit(tmp_path / "a.tally", lambda body: body["tables"]["all rows"]["totals"].pop("confidence"))
    with pytest.raises(sf.MetricUnavailable, match="does not hold what an assessment needs"):
        sf.assess(sf.Tally.load(tmp_path / "a.tally"))


def test_a_whole_number_beyond_64_bits_in_a_calibrator_is_a_float(tmp_path: Path) -> None:
    new_calibrator("beta").fit(P, Y, labels=[0, 1]).save(tmp_path / "c.json")
    _edit(tmp_path / "c.json", lambda body: body["maps"][0].__setitem__("of_p", 10**30))
    assert np.isfinite(load(tmp_path / "c.json").predict_proba([0.2, 0.8])).all()
