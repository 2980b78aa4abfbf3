"""SVG and matplotlib draw the same figure."""

from __future__ import annotations

import re
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import surefoot as sf
from surefoot import plots
from surefoot.render import svg
from surefoot.render.numbers import score

DISPLAYS = [
    plots.ReliabilityDisplay,
    plots.StretchedReliabilityDisplay,
    plots.ConcentrationDisplay,
    plots.RiskCoverageDisplay,
    plots.RocDisplay,
]


@pytest.fixture(scope="module")
def assessment() -> sf.Assessment:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3) * 0.5, 400)
    truth = np.array([rng.choice(3, p=row) for row in p])
    return sf.assess(sf.Predictions.from_probabilities(truth, p**3 / (p**3).sum(axis=1, keepdims=True)))


@pytest.mark.parametrize("display", DISPLAYS, ids=lambda d: d.__name__)
def test_both_renderers_draw_the_same_marks_ticks_and_words(display: Any, assessment: sf.Assessment) -> None:
    found = display.from_assessment(assessment)
    figure = found._figure()
    drawn = svg.draw(figure, "in words")
    ax = found.plot().ax_
    found.figure_.canvas.draw()

    ticks = re.findall(r'<text[^>]*class="tick">([^<]*)</text>', drawn)
    on_axes = [label.get_text() for axis in (ax.yaxis, ax.xaxis) for label in axis.get_ticklabels()]
    assert [tick for tick in ticks if tick != "rows"] == on_axes

    layer = figure.layers["all"]
    n_marks = sum(len(point.marks) for point in layer.points) + sum(text.mark is not None for text in figure.texts)
    assert drawn.count("<use ") == n_marks
    assert sum(line.get_marker() in ("v", "^", "o", "_") for line in ax.lines) == n_marks

    n_lines = sum(point.interval is not None for point in layer.points) + len(figure.curves) + bool(figure.ideal)
    assert len(re.findall(r'class="(?:ci \w+|curve|curve plain|ideal)"', drawn)) == n_lines
    assert sum(line.get_marker() == "None" for line in ax.lines) == n_lines
    assert drawn.count('class="bar"') == len(ax.patches) == len(layer.bars)

    facts = f"n = 400,  ECE {score(assessment['ece'])}"
    written = {text.get_text() for text in ax.texts}
    assert facts in written
    words = written - {facts}
    texts = [*figure.texts, *(point.label for point in layer.points if point.label)]
    assert words == {*(one.words for one in texts), *(bar.label for bar in layer.bars if bar.label)}
    assert all(f">{each}</text>" in drawn for each in words)
    assert f"{figure.x.title} →" in drawn
    assert ax.get_xlabel() == f"{figure.x.title} →"
    plt.close("all")


def test_positions_agree(assessment: sf.Assessment) -> None:
    """The first mark, in percent of the width and pixels of the height, is where matplotlib's data are."""
    found = plots.ReliabilityDisplay.from_assessment(assessment)
    figure = found._figure()
    first = re.search(r'<use href="[^"]*" x="([\d.]+)%" y="([\d.]+)"', svg.draw(figure, ""))
    assert first is not None
    x, y = float(first[1]) / 100, 1 - float(first[2]) / 300
    mark = next(line for line in found.plot().ax_.lines if line.get_marker() in ("v", "^", "o"))
    assert mark.get_xdata()[0] == pytest.approx(figure.x.value(x), abs=1e-3)
    assert mark.get_ydata()[0] == pytest.approx(figure.y.value(y), abs=1e-3)
    plt.close("all")
