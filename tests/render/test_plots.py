"""Displays in the manner of scikit-learn: computed apart from drawing, and no global style touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from looked_at import KINDS, SIZES, assessed
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

import surefoot as sf
from surefoot import plots

RNG = np.random.default_rng(0)
P = RNG.dirichlet(np.ones(3) * 0.5, 400)
TRUTH = np.array([RNG.choice(3, p=row) for row in P])
PREDICTIONS = sf.Predictions.from_probabilities(TRUTH, P**2 / (P**2).sum(axis=1, keepdims=True))

#: Displays of predicted labels; those of events are in test_event_plots.py.
OF_EVENTS = ("ClassReliabilityDisplay", "DecisionCurveDisplay", "DecompositionDisplay", "EventReliabilityDisplay")
SINGLE = [getattr(plots, name) for name in plots.__all__ if name not in ("CalibratorsDisplay", *OF_EVENTS)]


@pytest.mark.parametrize("display", SINGLE, ids=lambda d: d.__name__)
def test_displays_draw_where_they_are_told_and_leave_the_style_alone(display: Any) -> None:
    before = dict(mpl.rcParams)
    found = display.from_predictions(PREDICTIONS)
    figure, ax = plt.subplots()
    assert found.plot(ax=ax) is found
    assert found.ax_ is ax
    assert found.figure_ is figure
    assert len(ax.lines) + len(ax.patches) > 1
    assert ax.get_title(loc="left")
    assert found.plot().ax_ is not ax
    figure.canvas.draw()
    assert dict(mpl.rcParams) == before
    frame = pd.DataFrame(found.frame())
    assert len(frame) > 1
    plt.close("all")


@pytest.mark.parametrize("display", SINGLE, ids=lambda d: d.__name__)
def test_from_estimator(display: Any) -> None:
    X = RNG.normal(size=(300, 3))
    y = np.array(["no", "yes"])[(X[:, 0] + RNG.normal(size=300) > 0).astype(int)]
    model = LogisticRegression().fit(X[:150], y[:150])
    found = display.from_estimator(model, X[150:], y[150:])
    found.plot()
    plt.close("all")
    expected = sf.Predictions.from_probabilities(y[150:], model.predict_proba(X[150:]), labels=model.classes_)
    assert pd.DataFrame(found.frame()).equals(pd.DataFrame(display.from_predictions(expected).frame()))


def test_raw_arguments_as_in_scikit_learn() -> None:
    from_columns = plots.ReliabilityDisplay.from_predictions(TRUTH, PREDICTIONS.predicted, PREDICTIONS.confidence)
    frame = from_columns.frame()
    assert sum(frame["rows"]) == 400
    assert sum(frame["seen"]) == (~PREDICTIONS.correct).sum()
    by_probability = plots.RocDisplay.from_predictions(TRUTH == 1, probabilities=P[:, 1])
    false, true, _ = roc_curve(TRUTH == 1, P[:, 1])
    found = by_probability.frame()
    assert found["found"] == pytest.approx(np.interp(found["false_alarms"], false, true))


def test_slices_by_truth_carry_no_inference() -> None:
    frame = plots.SlicesDisplay.from_predictions(PREDICTIONS, by="truth").frame()
    assert set(frame) == {"value", "rows", "stated", "seen", "csr"}
    assert "pvalue_adjusted" in plots.SlicesDisplay.from_predictions(PREDICTIONS).frame()


def test_wealth_ends_where_the_monitor_does() -> None:
    m = sf.Monitor()
    m.update(PREDICTIONS.correct, doubt=PREDICTIONS.doubt)
    shown = plots.WealthDisplay.from_predictions(PREDICTIONS)
    assert shown.log_e[-1] == pytest.approx(m.log_e)
    assert shown.rows[-1] == 400


def test_calibrators_on_the_plane_of_value_and_risk() -> None:
    certain = sf.Predictions.from_correct(PREDICTIONS.correct, np.ones(400))
    found = plots.CalibratorsDisplay.from_predictions({"sharp": PREDICTIONS, "certain": certain})
    frame = found.frame()
    assert frame["name"] == ["sharp", "certain"]
    assert frame["csr"][0] == sf.csr(PREDICTIONS)
    assert frame["csr"][1] == np.inf
    found.plot()
    plt.close("all")
    with pytest.raises(sf.InvalidPredictions, match="by name"):
        plots.CalibratorsDisplay.from_predictions({})


@pytest.mark.parametrize(
    ("draw", "why"),
    [
        (
            lambda: plots.RocDisplay.from_predictions([1, 0], [1, 0], [0.9, 0.9]),
            "need probabilities or scores of all classes",
        ),
        (lambda: plots.ConcentrationDisplay.from_predictions([1, 0], [1, 0], [0.9, 0.9]), "no error"),
        (lambda: plots.SlicesDisplay.from_assessment(sf.assess(PREDICTIONS)), "no slices"),
        (lambda: plots.ReliabilityDisplay.from_predictions(PREDICTIONS, [1]), "takes no other data arguments"),
    ],
)
def test_what_cannot_be_drawn_says_why(draw: Callable[[], object], why: str) -> None:
    with pytest.raises(sf.InvalidPredictions, match=why):
        draw()


def test_wealth_leaves_out_what_weighs_nothing_and_refuses_unequal_weights() -> None:
    p = sf.Predictions.from_correct([True] * 90 + [False] * 10, [0.99] * 100, sample_weight=[1] * 90 + [0] * 10)
    assert plots.WealthDisplay.from_predictions(p).rows[-1] == 90
    unequal = sf.Predictions.from_correct([True] * 100, [0.99] * 100, sample_weight=np.arange(1, 101))
    with pytest.raises(sf.InvalidPredictions, match="equal weight"):
        plots.WealthDisplay.from_predictions(unequal)


def test_many_names_stand_in_a_column_beside_the_plot_and_do_not_cover_each_other() -> None:
    models = {f"model {i}": sf.assess(PREDICTIONS, metrics=()) for i in range(6)}
    ax = plots.CalibratorsDisplay.from_predictions(models).plot().ax_
    places = [text.get_position() for text in ax.texts if text.get_text().startswith("model ")]
    assert len(places) == 6
    assert {x for x, _ in places} == {1.06}
    heights = sorted(y for _, y in places)
    assert np.diff(heights) == pytest.approx([0.06] * 5)
    assert heights[-1] <= 1.0
    plt.close("all")


def test_one_assessment_or_several_estimators_on_the_plane() -> None:
    a = sf.assess(PREDICTIONS)
    one = plots.CalibratorsDisplay.from_assessment(a).frame()
    assert (one["name"], one["csr"], one["verdict"]) == (["this model"], [a.risk.csr], [a.verdict])
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    several = plots.CalibratorsDisplay.from_estimator({"first": model, "again": model}, X[1::2], y[1::2]).frame()
    assert several["name"] == ["first", "again"]
    p = model.predict_proba(X[1::2])
    by_hand = np.mean((p.argmax(axis=1) != y[1::2]) / (1 - p.max(axis=1)))
    assert several["csr"] == pytest.approx([by_hand] * 2, rel=1e-9)


def boxes(figure: Any) -> list[tuple[str, Any]]:
    """What is written in a figure, and where."""
    figure.canvas.draw()
    texts = [text for ax in figure.axes for text in (*ax.texts, ax._left_title, ax.xaxis.label, ax.yaxis.label)]
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            places = zip(axis.get_ticklocs(), axis.get_ticklabels(), strict=True)
            texts += [label for place, label in places if low <= place <= high]
        texts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
    return [(t.get_text(), t.get_window_extent()) for t in texts if t.get_text() and t.get_visible()]


def overlapping(figure: Any) -> list[tuple[str, str]]:
    found = boxes(figure)
    return [
        (one, other)
        for i, (one, box) in enumerate(found)
        for other, second in found[:i]
        # a pixel is no overlap
        if min(box.x1, second.x1) - max(box.x0, second.x0) > 1 and min(box.y1, second.y1) - max(box.y0, second.y0) > 1
    ]


def outside(figure: Any) -> list[str]:
    width, height = figure.get_size_inches() * figure.dpi
    return [
        words for words, box in boxes(figure) if box.x0 < -1 or box.y0 < -1 or box.x1 > width + 1 or box.y1 > height + 1
    ]


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_over", [True, False])
def test_no_words_cover_each_other_or_are_cut(kind: str, rows: int, is_over: bool) -> None:
    a = assessed(kind, rows, is_over=is_over)
    drawn = 0
    for name in plots.__all__:
        try:
            found = getattr(plots, name).from_assessment(a).plot()
        except sf.InvalidPredictions:
            continue
        assert tuple(found.figure_.get_size_inches()) == (6.0, 5.0)
        assert overlapping(found.figure_) == [], name
        assert outside(found.figure_) == [], name
        plt.close(found.figure_)
        drawn += 1
    assert drawn >= 4
    whole = a.plot()
    assert 3 <= len(whole.axes) <= 4
    assert all(len(ax.lines) + len(ax.patches) > 1 for ax in whole.axes)
    assert overlapping(whole) == []
    assert outside(whole) == []
    plt.close(whole)


def test_the_overview_has_no_empty_frame() -> None:
    single = sf.assess(correct=[True], confidence=[0.9]).plot()
    assert all(len(ax.lines) + len(ax.patches) > 1 for ax in single.axes)
    titles = [ax.get_title(loc="left") for ax in single.axes]
    assert "ROC and confidence-weighted ROC" not in titles
    assert "Errors by coverage" in titles
    plt.close(single)


def test_figures_say_n_and_ece_and_what_marks_mean() -> None:
    a = sf.assess(PREDICTIONS)
    ax = plots.ReliabilityDisplay.from_assessment(a).plot().ax_
    assert f"n = 400,  ECE {a['ece']:.4f}" in [text.get_text() for text in ax.texts]
    key = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "more errors than expected" in key
    plt.close("all")


def test_powers_of_ten_are_written_with_exponents() -> None:
    rng = np.random.default_rng(0)
    sure = sf.Predictions.from_correct(rng.random(3000) < 0.5, np.full(3000, 0.95))
    found = plots.WealthDisplay.from_predictions(sure).plot()
    labels = [label.get_text() for label in found.ax_.get_yticklabels()]
    assert any(label.startswith("10") and label[-1] in "⁰¹²³⁴⁵⁶⁷⁸⁹" for label in labels)
    assert not any("^" in label or "e+" in label for label in labels)
    plt.close("all")


def test_wealth_of_a_monitor() -> None:
    m = sf.Monitor()
    for start in range(0, 400, 50):
        part = PREDICTIONS[start : start + 50]
        m.update(part.correct, doubt=part.doubt)
    found = plots.WealthDisplay.from_monitor(m)
    assert (found.rows[0], found.log_e[0]) == (0, 0.0)
    assert (found.rows[-1], found.log_e[-1]) == (400, pytest.approx(m.log_e))
    assert found.drifts == m.drift_rows
    assert found.plot().ax_.get_title(loc="left")
    plt.close("all")
    with pytest.raises(sf.InvalidPredictions, match=r"give a surefoot.Monitor"):
        plots.WealthDisplay.from_monitor(PREDICTIONS)  # type: ignore[arg-type]


@pytest.mark.parametrize("display", SINGLE, ids=lambda d: d.__name__)
def test_labels_that_look_like_formulas_are_drawn_as_text(display: Any) -> None:
    names = np.array([r"$\frac$", "$", "a_b^{c"])
    p = sf.Predictions.from_probabilities(names[TRUTH], P, labels=names.tolist())
    display.from_predictions(p).plot()
    plt.gcf().canvas.draw()
    plt.close("all")
    sf.assess(p, by="truth").plot()
    plt.gcf().canvas.draw()
    plt.close("all")
