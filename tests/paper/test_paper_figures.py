"""The paper's figures: which files there are, and the areas that they print."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

import surefoot as sf
from surefoot.paper import figures

#: Of class 1, and so of class 0: three of four pairs are in order.
RANKED = sf.Predictions.from_probabilities([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
#: Pairs in order weighted by confidences 0.9, 0.6, 0.65 and 0.8: 0.65 * 0.9 + 0.8 * 1.5 of 1.45 * 1.5.
WEIGHTED_AREA = 1.785 / 2.175
REGIMES = dict.fromkeys(("raw", "isotonic", "platt"), RANKED)


def test_adult_has_three_panels_and_the_others_one_each(tmp_path: Path) -> None:
    told: list[str] = []
    models = {"adult_income": REGIMES, "breast_cancer": REGIMES}
    written = figures.draw_figures(tmp_path, models, told.append)
    assert [path.name for path in written] == ["roc-adult_income.png", "roc-others.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["roc-adult_income.png", "roc-others.png"]
    # width and height of the image, in pixels
    sizes = [struct.unpack(">II", path.read_bytes()[16:24]) for path in written]
    assert sizes == [(1100, 374), (1430, 352)]
    assert told == ["breast_cancer: figure"]


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    assert figures.draw_figures(tmp_path, {}) == []
    assert list(tmp_path.iterdir()) == []


def test_the_areas_are_printed_in_the_panel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[Any] = []
    monkeypatch.setattr(figures, "_save", lambda figure, path: drawn.append(figure) or path)
    figures.draw_figures(tmp_path, {"breast_cancer": REGIMES})
    (ax,) = drawn[0].axes
    words = " ".join(text.get_text() for text in ax.texts)
    assert "ROC 0.7500" in words
    assert f"cwROC {WEIGHTED_AREA:.4f}" in words
    plain = next(line for line in ax.lines if line.get_linestyle() == "--")
    # of class 0, by falling score 0.9, 0.65, 0.6, 0.2: right, wrong, right, wrong
    assert list(zip(plain.get_xdata(), plain.get_ydata(), strict=True)) == [
        (0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1),
    ]  # fmt: skip
