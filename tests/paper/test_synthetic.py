"""The synthetic half of the paper."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.paper import simulation
from surefoot.paper.agreement import _rate_agrees, bootstrapped, cell, count_agreement, single_cell
from surefoot.paper.claims import synthetic_claims
from surefoot.paper.simulation import Plan, simulate
from surefoot.paper.synthetic import run as run_synthetic
from surefoot.paper.tables import printed_table


def test_the_columns_are_the_metrics_of_every_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """All repetitions by the loop that makes many, and each of them by our metrics."""
    drawn: list[tuple[str, np.ndarray, np.ndarray, np.ndarray]] = []
    draw = simulation._draw_correct

    def keep(name, mode, confidence, doubt, rng):
        correct = draw(name, mode, confidence, doubt, rng)
        drawn.append((name, confidence, doubt, correct))
        return correct

    monkeypatch.setattr(simulation, "_draw_correct", keep)
    monkeypatch.setattr(simulation, "PROFILES", {name: sf.synthetic.PROFILES[name] for name in ("bell", "tight_hi")})
    monkeypatch.setattr(simulation, "in_parallel", lambda jobs: [job() for job in jobs])
    monkeypatch.setattr(simulation, "_PARTS", 1)
    found = simulate(60, 8, 3)
    names = {"acc": "accuracy", "cwa": "cw_accuracy", "gain": "gain", "csr": "csr", "sigma": "csr_sigma"}
    for (key, columns), (mode, confidence, doubt, correct) in zip(found.items(), drawn, strict=True):
        assert key[1] == mode
        for i in range(8):
            p = sf.Predictions.from_correct(correct[i], confidence[i], doubt=doubt[i])
            expected = {ours: getattr(sf, name)(p) for ours, name in {**names, "p_risk": "p_risk"}.items()}
            expected |= {f"over_{k}_sigma": float(sf.csr_z(p) > k) for k in (1, 3)}
            assert {name: columns[name][i] for name in expected} == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_areas_are_those_of_the_library() -> None:
    rng = np.random.default_rng(4)
    confidence, _ = sf.synthetic.PROFILES["uniform"].draw(300, rng)
    correct, truth = rng.random(300) < confidence, rng.random(300) < 0.5
    guess = truth == correct
    lesser = np.minimum(confidence, 1 - confidence)
    found = simulation._areas(confidence, correct, truth)
    assert found[6] == pytest.approx(found[5] - found[4], abs=1e-15)
    from sklearn.metrics import roc_auc_score

    for place, weight in ((4, None), (5, confidence)):
        both = [
            roc_auc_score(truth == label, np.where(guess == label, confidence, lesser), sample_weight=weight)
            for label in (False, True)
        ]
        assert found[place] == pytest.approx(np.mean(both))
    p = sf.Predictions.from_correct(correct, confidence)
    assert found[:2] == pytest.approx([sf.accuracy(p), sf.cw_accuracy(p)], rel=1e-12)
    assert found[3] == pytest.approx(sf.gain(p), rel=1e-12)


def test_draws_repeat_by_seed_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (simulate(50, 40, seed) for seed in (1, 2))
    # on a machine with another number of processors
    for processors in (1, 7):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, n=processors: set(range(n)), raising=False)
        again = simulate(50, 40, 1)
        for key in one:
            np.testing.assert_array_equal(one[key]["csr"], again[key]["csr"])
    key = ("normal", "perfect")
    assert (one[key]["csr"] != other[key]["csr"]).any()
    # confidences are drawn once for all modes
    np.testing.assert_array_equal(one["bell", "perfect"]["sigma"], one["bell", "overconf_half"]["sigma"])


def test_the_tables_agree_with_the_printed_ones(tmp_path: Path) -> None:
    made = run_synthetic(tmp_path, Plan({100: 500, 1000: 500, 10_000: 100, 100_000: 10}, ranked=200))
    agree, every = count_agreement(made.cells)
    # sigma once for all modes, no averages, no extremes and no differences again
    assert every == 10 * (8 * 7 + 1) + 240 + 60 + 8
    assert agree / every > 0.98
    assert len(made.extremes) == 16
    assert all(one.share > 0 for one in made.extremes)
    claims = {claim.text: claim for claim in synthetic_claims(made)}
    assert len(claims) == 9
    found = claims["Beyond one sigma lie fewer than the 15.87% of a normal law: the test is conservative"]
    # the paper's text says 293 of 3,000 too
    assert (found.verdict, found.printed) == ("confirmed", "293 of 3,000")
    for name in ("modes", "perfect_by_size", "perfect_summary", "p_risk_extremes", "cwauc_synthetic", "cwauc_counts"):
        rows = (tmp_path / f"{name}.csv").read_text().splitlines()
        shipped = (
            sum(1 for _ in printed_table(name, 1))
            if name in ("perfect_summary", "cwauc_counts", "cwauc_synthetic")
            else 0
        )
        assert len(rows) - 1 >= max(shipped, 8)


def test_what_is_wrong_is_found() -> None:
    drawn = np.random.default_rng(0).normal(0.5, 0.1, 2000)
    assert cell("t", ("bell",), "acc", 0.5, drawn).agrees
    assert not cell("t", ("bell",), "acc", 0.55, drawn).agrees
    # a single run: the outermost half percent on either side is outside
    runs = np.arange(1000) / 1000
    assert [single_cell("t", ("bell",), "auc", x, runs).agrees for x in (0.003, 0.005, 0.5, 0.996)] == [
        False, True, True, False,
    ]  # fmt: skip
    # infinite variance: a mean of a hundred of ours, whatever its standard error is
    heavy = np.random.default_rng(0).pareto(1.1, 2000)
    low, high = bootstrapped(heavy, 100)
    assert cell("t", ("uniform",), "csr", (low + high) / 2, heavy).agrees
    assert not cell("t", ("uniform",), "csr", 1.5 * high, heavy).agrees
    rare = np.zeros(2000)
    assert _rate_agrees(0.01, rare, 100)
    assert not _rate_agrees(0.2, rare, 100)


def test_sizes_that_are_finished_are_not_done_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plan = Plan({100: 20}, ranked=2)
    run_synthetic(tmp_path, plan)
    done: list[int] = []
    run_synthetic(tmp_path, plan, lambda size, count, profile: done.append(size))
    assert done == []
    (tmp_path / "experiments-100.npz").write_bytes(b"damaged")
    run_synthetic(tmp_path, plan, lambda size, count, profile: done.append(size))
    assert len(done) == 10


def test_the_command(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "full", classmethod(lambda cls, seed=0: cls({100: 20, 1000: 20}, seed, 2)))
    assert run(["paper", "synthetic", "-o", str(tmp_path / "out")]) == 0
    captured = capfd.readouterr()
    assert "printed numbers agree with ours" in captured.out
    assert "n = 1,000      80 of 80" in captured.err
    (tmp_path / "file").write_text("")
    assert run(["paper", "synthetic", "-o", str(tmp_path / "file")]) == 3
