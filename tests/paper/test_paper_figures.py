"""The paper's figures: which files there are, how curves are drawn, and what is missing."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_breast_cancer

import surefoot as sf
from surefoot.cli import run
from surefoot.paper import figures
from surefoot.paper.document import document
from surefoot.paper.simulation import Plan
from surefoot.paper.synthetic import run as run_synthetic

#: Of class 1, and so of class 0: three of four pairs are in order.
RANKED = sf.Predictions.from_probabilities([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
#: Pairs in order weighted by confidences 0.9, 0.6, 0.65 and 0.8: 0.65 * 0.9 + 0.8 * 1.5 of 1.45 * 1.5.
WEIGHTED_AREA = 1.785 / 2.175
REGIMES = dict.fromkeys(("raw", "isotonic", "platt"), RANKED)


def test_figure_1_has_a_panel_for_each_set_and_figure_2_one_for_the_others(tmp_path: Path) -> None:
    models = {"adult_income": REGIMES, "cifar10": REGIMES, "breast_cancer": REGIMES, "wine": REGIMES}
    written = figures.draw_figures(tmp_path, models)
    assert [path.name for path in written] == ["paper-figure-1.png", "paper-figure-2.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["paper-figure-1.png", "paper-figure-2.png"]
    # width and height of the image, in pixels
    sizes = [struct.unpack(">II", path.read_bytes()[16:24]) for path in written]
    assert sizes == [(840, 420), (640, 320)]
    # the same curves are the same file
    before = written[0].read_bytes()
    assert figures.draw_figures(tmp_path, models)[0].read_bytes() == before


def test_a_figure_alone_keeps_its_number_on_the_page(tmp_path: Path) -> None:
    made = run_synthetic(tmp_path, Plan({100: 8, 1000: 4, 10_000: 1, 100_000: 1}, ranked=2))
    page = document(made, None, {}, [tmp_path / "paper-figure-2.png"])
    assert "![Figure 2](paper-figure-2.png)" in page
    assert "Figure 1](" not in page


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    assert figures.draw_figures(tmp_path, {}) == []
    assert list(tmp_path.iterdir()) == []


def test_roc_is_solid_and_black_and_cw_roc_dashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(figures, "_save", lambda figure, path: drawn.append(figure) or path)
    figures.draw_figures(tmp_path, {"adult_income": REGIMES, "breast_cancer": REGIMES})
    (first,), (second,) = (figure.axes for figure in drawn)
    assert [line.get_linestyle() for line in first.lines] == ["-", "--", "--", "--"]
    assert first.lines[0].get_color() == "black"
    labels = [text.get_text() for text in first.get_legend().get_texts()]
    assert labels[0] == "ROC 0.7500"
    area = f"{WEIGHTED_AREA:.4f}"
    assert labels[1:] == [f"cwROC {regime} {area}" for regime in ("no post-hoc", "isotonic", "platt")]
    # of class 0, by falling score 0.9, 0.65, 0.6, 0.2: right, wrong, right, wrong
    plain, weighted = second.lines
    assert list(zip(plain.get_xdata(), plain.get_ydata(), strict=True)) == [
        (0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1),
    ]  # fmt: skip
    # confidences 0.9 and 0.6 of class 0, 0.65 and 0.8 of the other
    assert weighted.get_ydata() == pytest.approx([0, 0.6, 0.6, 1, 1])
    assert weighted.get_xdata() == pytest.approx([0, 0, 0.65 / 1.45, 0.65 / 1.45, 1])


def test_the_command_draws_the_sets_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    columns = {f"x{i}": X[:, i] for i in range(X.shape[1])}
    pq.write_table(pa.table({**columns, "target": y}), tmp_path / "breast_cancer.parquet")
    out = tmp_path / "out"
    given = ["paper", "figures", "-o", str(out), "--data", str(tmp_path), "--datasets", "breast_cancer"]
    assert run(given) == 0
    assert "paper-figure-2.png" in capfd.readouterr().out
    assert (out / "paper-figure-2.png").exists()
    assert not (out / "paper-figure-1.png").exists()
    assert run(["paper", "figures", "-o", str(out), "--datasets", "nonsense"]) == 2


def test_what_is_missing_is_said_with_status_3_and_nothing_is_drawn(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sklearn.datasets

    def offline(**given: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    monkeypatch.delenv("SUREFOOT_DATA", raising=False)
    out = tmp_path / "out"
    assert run(["paper", "figures", "-o", str(out)]) == 3
    error = capfd.readouterr().err.splitlines()[-1]
    assert "data sets accelerometer, adult_income" in error
    assert "Name a folder with --data" in error
    assert list(out.iterdir()) == []
    assert run(["paper", "figures", "-o", str(out), "--datasets", "liver"]) == 3
    assert "OpenML could not be reached" in capfd.readouterr().err
