"""The synthetic half of the paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.paper import simulation
from surefoot.paper.agreement import _rate_agrees, cell, counted
from surefoot.paper.printed import printed
from surefoot.paper.simulation import Plan, simulated
from surefoot.paper.synthetic import run as simulate


def test_the_numbers_are_those_of_the_library() -> None:
    """An experiment drawn by hand, once by our metrics and once by the loop that makes many."""
    rng = np.random.default_rng(3)
    confidence, doubt = sf.synthetic.PROFILES["bell"].draw(500, rng)
    correct = rng.random(500) < confidence
    p = sf.Predictions.from_correct(correct, confidence, doubt=doubt)
    sums = [correct.mean(), (confidence * correct).sum() / confidence.sum(), (~correct / doubt).mean()]
    sigma = np.sqrt((confidence / doubt).sum()) / 500
    told = simulation._told(*(np.array([value]) for value in (*sums, sigma)))
    names = ("accuracy", "cw_accuracy", "gain", "csr", "csr_sigma", "p_risk")
    for ours, name in zip(("acc", "cwa", "gain", "csr", "sigma", "p_risk"), names, strict=True):
        assert told[ours][0] == pytest.approx(getattr(sf, name)(p)), name


def test_areas_are_those_of_the_library() -> None:
    rng = np.random.default_rng(4)
    confidence, _ = sf.synthetic.PROFILES["uniform"].draw(300, rng)
    correct, truth = rng.random(300) < confidence, rng.random(300) < 0.5
    guess = truth == correct
    lesser = np.minimum(confidence, 1 - confidence)
    found = simulation._areas(confidence, correct, truth)
    from sklearn.metrics import roc_auc_score

    for place, weight in ((4, None), (5, confidence)):
        both = [
            roc_auc_score(truth == label, np.where(guess == label, confidence, lesser), sample_weight=weight)
            for label in (False, True)
        ]
        assert found[place] == pytest.approx(np.mean(both))


def test_draws_do_not_depend_on_how_they_are_dealt_out_and_repeat_by_seed() -> None:
    one, again, other = (simulated(50, 40, seed) for seed in (1, 1, 2))
    key = ("normal", "perfect")
    np.testing.assert_array_equal(one[key]["csr"], again[key]["csr"])
    assert (one[key]["csr"] != other[key]["csr"]).any()
    # confidences are drawn once for all modes
    np.testing.assert_array_equal(one["bell", "perfect"]["sigma"], one["bell", "overconf_half"]["sigma"])


def test_the_tables_agree_with_the_printed_ones(tmp_path: Path) -> None:
    cells = simulate(tmp_path, Plan({100: 500, 1000: 500, 10_000: 100, 100_000: 10}, ranked=100))
    agree, comparable, _ = counted(cells)
    assert comparable > 900
    assert agree / comparable > 0.985
    for name in ("modes", "perfect_by_size", "perfect_summary", "p_risk_extremes", "cwauc_synthetic", "cwauc_counts"):
        rows = (tmp_path / f"{name}.csv").read_text().splitlines()
        shipped = (
            sum(1 for _ in printed(name, 1)) if name in ("perfect_summary", "cwauc_counts", "cwauc_synthetic") else 0
        )
        assert len(rows) - 1 >= max(shipped, 8)


def test_what_is_wrong_is_found() -> None:
    drawn = np.random.default_rng(0).normal(0.5, 0.1, 2000)
    assert cell("t", ("bell",), "acc", 0.5, drawn).agrees
    assert not cell("t", ("bell",), "acc", 0.55, drawn).agrees
    rare = np.zeros(2000)
    assert _rate_agrees(0.01, rare, 100)
    assert not _rate_agrees(0.2, rare, 100)


def test_sizes_that_are_finished_are_not_done_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plan = Plan({100: 20}, ranked=2)
    simulate(tmp_path, plan)
    done: list[int] = []
    simulate(tmp_path, plan, lambda size, count, profile: done.append(size))
    assert done == []
    (tmp_path / "experiments-100.npz").write_bytes(b"damaged")
    simulate(tmp_path, plan, lambda size, count, profile: done.append(size))
    assert len(done) == 10


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "full", classmethod(lambda cls, seed=0: cls({100: 20, 1000: 20}, seed, 2)))
    assert run(["paper", "synthetic", "-o", str(tmp_path / "out")]) == 0
    captured = capfd.readouterr()
    assert "cells agree with the paper" in captured.out
    assert "n = 1,000      80 of 80" in captured.err
    (tmp_path / "file").write_text("")
    assert run(["paper", "synthetic", "-o", str(tmp_path / "file")]) == 3
