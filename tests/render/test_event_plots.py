"""Displays of events and classes, in the manner of the others."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from event_sets import SETS, assessed, assessed_classes, event
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from test_plots import outside, overlapping

import surefoot as sf
from surefoot import plots

OF_EVENTS = (plots.EventReliabilityDisplay, plots.DecisionCurveDisplay, plots.DecompositionDisplay)
OF_PREDICTIONS = (
    plots.ReliabilityDisplay,
    plots.StretchedReliabilityDisplay,
    plots.RiskCoverageDisplay,
    plots.ConcentrationDisplay,
)
RNG = np.random.default_rng(0)
P = RNG.beta(1, 3, 500)
Y = (RNG.random(500) < 0.6 * P).astype(int)


@pytest.mark.parametrize("display", [*OF_EVENTS, plots.ClassReliabilityDisplay], ids=lambda d: d.__name__)
def test_displays_draw_where_they_are_told_and_leave_the_style_alone(display: Any) -> None:
    before = dict(mpl.rcParams)
    found = display.from_predictions(Y, P)
    figure, ax = plt.subplots()
    assert found.plot(ax=ax) is found
    assert (found.ax_, found.figure_) == (ax, figure)
    assert ax.get_title(loc="left")
    figure.canvas.draw()
    assert dict(mpl.rcParams) == before
    assert len(pd.DataFrame(found.frame())) > 1
    plt.close("all")


@pytest.mark.parametrize("display", [*OF_EVENTS, plots.ClassReliabilityDisplay], ids=lambda d: d.__name__)
def test_from_estimator(display: Any) -> None:
    X = RNG.normal(size=(300, 3))
    y = np.array(["no", "yes"])[(X[:, 0] + RNG.normal(size=300) > 0).astype(int)]
    model = LogisticRegression().fit(X[:150], y[:150])
    found = pd.DataFrame(display.from_estimator(model, X[150:], y[150:]).frame())
    p = model.predict_proba(X[150:])
    is_event = display in OF_EVENTS
    named: dict[str, Any] = {"pos_label": "yes"} if is_event else {}
    by_hand = display.from_predictions(y[150:], p, labels=["no", "yes"], **named)
    assert found.equals(pd.DataFrame(by_hand.frame()))


def test_the_bins_are_those_of_scikit_learn() -> None:
    frame = plots.EventReliabilityDisplay.from_predictions(Y, P).frame()
    observed, predicted = calibration_curve(Y, P, n_bins=15)
    assert frame["observed"] == pytest.approx(observed)
    assert frame["predicted"] == pytest.approx(predicted)
    assert sum(frame["rows"]) == 500


def test_the_curves_are_those_of_the_functions() -> None:
    frame = plots.DecisionCurveDisplay.from_predictions(Y, P).frame()
    expected = sf.decision_curve(Y, P, of="event")
    assert frame["net_benefit"] == expected.net_benefit.tolist()
    assert frame["treat_all"] == expected.treat_all.tolist()
    smoothed = plots.EventReliabilityDisplay.from_predictions(Y, P).curve
    assert smoothed is not None
    assert smoothed.observed.tolist() == sf.flexible_curve(Y, P, of="event").observed.tolist()
    parts = sf.score_decomposition(Y, P, of="event")
    ends = plots.DecompositionDisplay.from_predictions(Y, P).frame()["end"]
    assert ends[0] == pytest.approx(parts.uncertainty)
    assert ends[-1] == pytest.approx(parts.score)


def test_an_assessment_of_another_view_is_refused_with_what_to_use() -> None:
    a, b = assessed("overpredicts"), sf.assess(Y, P, pos_label=1)
    for display in OF_PREDICTIONS:
        with pytest.raises(sf.InvalidPredictions, match="use EventReliabilityDisplay"):
            display.from_assessment(a)
    for display in (*OF_EVENTS, plots.ClassReliabilityDisplay):
        with pytest.raises(sf.InvalidPredictions, match="this one has of='prediction'"):
            display.from_assessment(b)  # type: ignore[attr-defined]
    with pytest.raises(sf.InvalidPredictions, match="needs the rows"):
        plots.DecisionCurveDisplay.from_assessment(sf.assess(sf.tally(event(SETS["overpredicts"]))))


@pytest.mark.parametrize("name", [*SETS, "classes", "two classes"])
def test_no_words_cover_each_other_or_are_cut(name: str) -> None:
    a = {"classes": assessed_classes(), "two classes": assessed_classes(200, 2, 2.0)}.get(name)
    a = assessed(name) if a is None else a
    displays = OF_EVENTS if a.view == "event" else (plots.ClassReliabilityDisplay, plots.SlicesDisplay)
    for display in displays:
        found = display.from_assessment(a).plot()  # type: ignore[attr-defined]
        assert overlapping(found.figure_) == [], display.__name__
        assert outside(found.figure_) == [], display.__name__
        plt.close(found.figure_)
    whole = a.plot()
    assert overlapping(whole) == []
    assert outside(whole) == []
    plt.close(whole)


def test_small_pictures_say_how_many_are_left_out() -> None:
    ax = plots.ClassReliabilityDisplay.from_assessment(assessed_classes()).plot().ax_
    assert ax.get_title(loc="left") == "Reliability by class: worst 12 of 15"
    assert len(ax.child_axes) == 12
    plt.close("all")


def test_slices_of_an_event_are_drawn_by_their_ratio() -> None:
    a = sf.assess(Y, P, of="event", by=np.arange(500) % 3)
    found = plots.SlicesDisplay.from_assessment(a)
    frame = found.frame()
    for i, value in enumerate(frame["value"]):
        inside = np.arange(500) % 3 == value
        assert frame["oe_ratio"][i] == pytest.approx(Y[inside].sum() / P[inside].sum())
        assert frame["oe_lower"][i] < frame["oe_ratio"][i] < frame["oe_upper"][i]
    assert "csr" not in frame
    assert found.plot().ax_.get_title(loc="left") == "O/E by slice"
    plt.close("all")


def test_the_roc_curve_of_an_event_is_the_plain_one() -> None:
    from sklearn.metrics import roc_auc_score, roc_curve

    found = plots.RocDisplay.from_predictions(Y, P, of="event", pos_label=1)
    assert found.auc == pytest.approx(roc_auc_score(Y, P))
    assert np.isnan(found.cw_auc)
    fpr, tpr, _ = roc_curve(Y, P)
    frame = found.frame()
    assert set(frame) == {"false_alarms", "found"}
    assert np.max(np.abs(np.interp(frame["false_alarms"], fpr, tpr) - frame["found"])) < 0.06
    found.plot()
    assert found.ax_.get_title(loc="left").startswith("ROC")
    assert "weighted" not in found.ax_.get_title(loc="left")
    assert not any("cwROC" in text.get_text() for text in found.ax_.texts)
    plt.close("all")


def test_a_display_of_predictions_names_displays_that_take_the_view() -> None:
    for of in ("event", "classes"):
        with pytest.raises(sf.InvalidPredictions) as caught:
            plots.ReliabilityDisplay.from_predictions(Y, P, of=of, pos_label=1)
        named = [name for name in plots.__all__ if name in str(caught.value) and name != "ReliabilityDisplay"]
        named = [name for name in named if f" {name}" in str(caught.value)]
        assert len(named) >= 2
        for name in named:
            display = getattr(plots, name)
            options = {"by": "predicted"} if name == "SlicesDisplay" and of == "event" else {}
            a = sf.assess(y_true=Y, probabilities=P, of=of, **options)  # type: ignore[arg-type]
            assert display.from_assessment(a).frame()


@pytest.mark.parametrize("display", [*OF_EVENTS, plots.ClassReliabilityDisplay], ids=lambda d: d.__name__)
def test_help_says_that_the_default_is_the_view_of_the_display(display: Any) -> None:
    text = display.from_predictions.__doc__
    assert 'of : {"event", "classes"}, optional' in text
    assert 'default "prediction"' not in text


def test_the_titles_over_many_classes_do_not_meet() -> None:
    figure = assessed_classes(600, 10, 1.8).plot()
    figure.canvas.draw()
    headline = figure._suptitle.get_window_extent()
    (source,) = [text for text in figure.texts if "as an event" in text.get_text()]
    box = source.get_window_extent()
    # the headline has a second line, which is empty: only its first may be crossed by nothing
    first = headline.y1 - (headline.y1 - headline.y0) / 2
    assert box.y1 <= first + 1
    titles = [ax._left_title.get_window_extent() for ax in figure.axes[:1]]
    assert all(box.y0 >= title.y1 - 1 for title in titles)
    assert headline.x1 <= figure.bbox.x1
    plt.close("all")
