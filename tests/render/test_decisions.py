"""How acting alone is shown: every case in full, beside words written by hand."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pytest

import surefoot as sf
from surefoot.figures.risk_coverage import RiskCoverage
from surefoot.render.act_alone_figure import risk_coverage_of
from surefoot.render.act_alone_view import render
from surefoot.render.text import Terminal

WIDE = Terminal(symbols=True, width=80)
CONDITION = """
  This holds for new rows like these, with confidences computed in the same way,
  if rows are independent of each other (one per patient, user or prompt).
  Repeat it when the data or the confidences change, and do not use rows that
  the model, a calibrator or another threshold was fitted to.
"""
USAGE = """
  Save these decisions (on the command line: -o policy.json), and apply them
  where predictions are made:
    found.policy.save("policy.json")
    policy = surefoot.Policy.load("policy.json")
    policy.decide(confidence)
"""


def rows(*groups: tuple[float, int, int]) -> dict[str, Any]:
    """Rows of some confidences: how many of each, and how many of them are wrong."""
    confidence = np.repeat([one for one, _, _ in groups], [n for _, n, _ in groups])
    return {"confidence": confidence, "correct": np.concatenate([np.arange(n) >= wrong for _, n, wrong in groups])}


#: 10 of 1,000 are wrong at 95%, 160 of 1,000 at 80%, 120 of 200 at 40%.
SAMPLE = rows((0.95, 1000, 10), (0.8, 1000, 160), (0.4, 200, 120))
REGION = np.repeat(["north", "south", "north", "south"], [990, 10, 1000, 200])


def text(**options: Any) -> str:
    return render(sf.act_alone(**SAMPLE, **options), WIDE)


def test_a_threshold_that_keeps_the_promise() -> None:
    # 1,000 of 2,200 by Clopper and Pearson: 43.35% to 47.56%
    assert text(error=0.05) == (
        """  2,200 rows

  From 95% confidence on, at most 5% of predictions are wrong (guaranteed with
  95% confidence).

  45.5% of rows qualify (95% CI 43.3% to 47.6%); 10 of these 1,000 were wrong
  (1.0%). The other 54.5% need a review.

  Decisions
    decision  confidence      rows  share  wrong  error rate
    accept    95% and above  1,000  45.5%     10        1.0%
    review    below 95%      1,200  54.5%    280       23.3%
"""
        + CONDITION
        + USAGE.rstrip()
    )


def test_what_is_refused() -> None:
    words = text(error=0.05, refuse=0.4)
    assert (
        """  45.5% of rows qualify (95% CI 43.3% to 47.6%); 10 of these 1,000 were wrong
  (1.0%). Below 40.1% confidence, at least 40% of predictions are wrong (both
  promises hold together): 9.1% of rows are refused; 120 of these 200 were wrong
  (60.0%). The other 45.5% need a review.

  Decisions
    decision  confidence      rows  share  wrong  error rate
    accept    95% and above  1,000  45.5%     10        1.0%
    review    40.1% to 95%   1,000  45.5%    160       16.0%
    refuse    40% to 40.1%     200   9.1%    120       60.0%
"""
        in words
    )


def test_a_refusal_that_is_not_found() -> None:
    assert """  (1.0%). No confidence was found below which at least 90% of predictions are
  wrong, so nothing is refused. The other 54.5% need a review.
""" in text(error=0.05, refuse=0.9)


def test_every_row_may_be_accepted() -> None:
    assert text(error=0.2) == (
        """  2,200 rows

  It may act alone from 40% confidence on, which is every row seen: at most 20%
  of predictions are wrong (guaranteed with 95% confidence).

  290 of 2,200 rows were wrong (13.2%).
"""
        + CONDITION
        + USAGE.rstrip()
    )


def test_no_threshold_will_do() -> None:
    assert text(error=0.005) == (
        """  2,200 rows

  No threshold keeps this promise: at most 0.5% of predictions are wrong (with
  95% confidence).

  The best seen: from 95% confidence on, 10 of 1,000 rows were wrong (1.0%).
  Every row needs a review.

  Nothing here suggests that more rows would help. These rows could have
  promised at most 3% (error 0.03). Each promise stands by itself: choose the
  error rate that you can bear, not the first that passes.
"""
        + CONDITION.rstrip()
    )


def test_more_rows_might_do() -> None:
    few = sf.act_alone(**rows((0.99, 200, 0), (0.5, 200, 100)), error=0.01)
    # 0.99 ** 299 is the first power below 0.05, and half of all rows are that confident
    assert 598 <= few.rows_needed == 4656
    assert render(few, WIDE).split("\n\n")[2:4] == [
        "  The best seen: from 99% confidence on, none of 200 rows was wrong; so few rows\n"
        "  do not rule out that more than 1% are. Every row needs a review.",
        "  About 4,700 labelled rows like these in all might be enough, 4,300 more than\n"
        "  here; this is a guess from the errors seen so far. These rows could have\n"
        "  promised at most 2% (error 0.02). Each promise stands by itself: choose the\n"
        "  error rate that you can bear, not the first that passes.",
    ]


def test_the_least_cost() -> None:
    assert text(cost_error=10, cost_review=1).startswith(
        """  2,200 rows

  It costs least to act alone from 95% confidence on.

  45.5% of rows qualify (95% CI 43.3% to 47.6%); 10 of these 1,000 were wrong
  (1.0%). The other 54.5% need a review.

  This costs 0.591 a row (95% CI 0.540 to 0.659); acting on every row costs
  1.32, a review of every row 1. A review pays where more than 10% of
  predictions are wrong. The threshold of least cost is 95% (95% CI).
"""
    )
    # 10 errors at 10 each and 1,200 reviews, of 2,200 rows
    assert sf.act_alone(**SAMPLE, cost_error=10, cost_review=1).cost.cost == pytest.approx(1300 / 2200)


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (
            (1, 2),
            [
                "It costs least to act alone from 40% confidence on, which is every row seen.",
                "A review costs no less than an error",
            ],
        ),
        ((1000, 1), ["It costs least to review every row.", "It is best to review everything (95% CI)."]),
    ],
)
def test_the_ends_of_costs(costs: tuple[float, float], words: list[str]) -> None:
    said = " ".join(text(cost_error=costs[0], cost_review=costs[1]).split())
    assert all(part in said for part in words)
    assert "Every row needs a review" not in said


def test_a_promise_that_is_kept_and_does_not_pay() -> None:
    found = sf.act_alone(**rows((0.9, 1000, 10), (0.5, 100, 50)), error=0.05, cost_error=1000, cost_review=1)
    assert found.threshold is None
    assert found.rows_needed is None
    assert found.possible_error is None
    assert "though a threshold keeps the promise that at most 5%" in " ".join(render(found, WIDE).split())


def test_costs_beside_a_promise_are_told_apart() -> None:
    assert "Without the promise, the threshold of least cost is 95%" in " ".join(
        text(error=0.05, cost_error=10, cost_review=1).split()
    )


def test_slices_have_thresholds_of_their_own() -> None:
    assert text(error=0.05, by=REGION).startswith(
        """  2,200 rows

  For 1 of 2 slices, there is a threshold from which on at most 5% of
  predictions are wrong (guaranteed with 95% confidence for all of them
  together).

  By slice; all these promises hold together
    slice   rows  accept from  coverage  wrong of these
    south    210            —        0%               —
    north  1,990          95%     49.7%       10 (1.0%)

  Together 45.0% of rows qualify; 10 of these 990 were wrong (1.0%). The policy
  decides by these thresholds, and has rows with any other value reviewed.

  One threshold for all rows: from 95% confidence on, at most 5% of predictions
  are wrong. 45.5% of rows qualify (95% CI 43.3% to 47.6%); 10 of these 1,000
  were wrong (1.0%). The other 54.5% need a review.
"""
    )


def test_slices_are_called_by_their_column() -> None:
    import pandas as pd

    frame = pd.DataFrame({**SAMPLE, "region": REGION})
    for found in (sf.act_alone(frame, error=0.05, by="region"), sf.act_alone(**SAMPLE, error=0.05, by=frame["region"])):
        assert found.by == found.policy.by == "region"
        assert "For 1 of 2 values of region, there is a threshold" in " ".join(str(found).split())


def test_slices_of_a_frame_by_what_was_predicted() -> None:
    import pandas as pd

    frame = pd.DataFrame({"y": ["a", "b"] * 300, "guess": ["a", "b"] * 300, "sure": [0.9] * 600})
    found = sf.act_alone(frame, y_true="y", y_pred="guess", confidence="sure", error=0.05, by="predicted")
    assert "For all 2 predicted classes, there are thresholds" in " ".join(str(found).split())


def test_slices_that_all_need_a_review() -> None:
    words = text(error=0.001, by=REGION)
    assert words.split("\n\n")[1] == (
        "  No threshold keeps this promise for any of 2 slices: at most 0.1% of\n"
        "  predictions are wrong (with 95% confidence for all of them together)."
    )
    assert "policy" not in words


@pytest.mark.parametrize(
    ("one", "words"),
    [(True, "the only row was right; so few rows"), (False, "the only row was wrong. Every row needs a review.")],
)
def test_a_single_row(one: bool, words: str) -> None:
    said = " ".join(str(sf.act_alone(correct=[one], confidence=[0.9], error=0.01)).split())
    assert said.startswith("1 row No threshold")
    assert f"over all rows, {words}" in said


def test_what_refused_rows_cost_is_said() -> None:
    sample = rows((0.9, 500, 0), (0.2, 500, 500))
    assert "Refused rows count as reviewed here." in " ".join(
        str(sf.act_alone(**sample, cost_error=10, cost_review=1, refuse=0.5)).split()
    )
    assert "Refused rows" not in str(sf.act_alone(**sample, cost_error=10, cost_review=1))


def test_too_few_rows_for_any_promise_ask_for_more() -> None:
    """0.95^58 is above 5% and 0.95^59 below; 0.99^298 above and 0.99^299 below."""
    for rows_given, error, least in ((1, 0.05, 59), (58, 0.05, 59), (10, 0.01, 299)):
        for wrong in (0, 1):
            found = sf.act_alone(**rows((0.9, rows_given, wrong)), error=error)
            said = " ".join(str(found).split())
            assert found.fewest_rows == least
            assert "Nothing here suggests that more rows would help" not in said
            if found.rows_needed is None:
                assert f"too few rows to tell: even if none is wrong, this promise takes {least}." in said
    assert sf.act_alone(**rows((0.9, 59, 0)), error=0.05).threshold == 0.9


def test_one_error_and_tiny_rates() -> None:
    said = " ".join(str(sf.act_alone(**rows((0.99999, 10_000, 1), (0.5, 100, 50)), error=0.001)).split())
    assert "at most 0.1% of predictions" in said
    assert "1 of these 10,000 was wrong (0.010%)" in said
    assert "None of 400 rows was wrong." in str(sf.act_alone(**rows((0.9, 400, 0)), error=0.01))


def test_the_level_is_said_with_its_digits() -> None:
    assert "guaranteed with 99.9% confidence" in " ".join(text(error=0.05, level=0.001).split())
    assert "guaranteed with 68% confidence" in " ".join(text(error=0.05, level=0.32).split())


@pytest.mark.parametrize("width", [50, 64, 80, 120])
@pytest.mark.parametrize("options", [{}, {"refuse": 0.4}, {"by": REGION}, {"by": REGION, "refuse": 0.4}])
def test_text_fits_the_terminal_and_its_characters(width: int, options: dict[str, Any]) -> None:
    said = render(sf.act_alone(**SAMPLE, error=0.05, **options), Terminal(symbols=False, width=width))
    assert max(map(len, said.splitlines())) <= width
    assert said.isascii()


def test_markdown_holds_the_same_words_and_tables() -> None:
    said = sf.act_alone(**SAMPLE, error=0.05, refuse=0.4).to_markdown()
    assert said.startswith("## From 95% confidence on, at most 5% of predictions are wrong (guaranteed with 95% conf")
    assert "| accept | 95% and above | 1,000 | 45.5% | 10 | 1.0% |" in said
    assert "| refuse | 40% to 40.1% | 200 | 9.1% | 120 | 60.0% |" in said
    assert '```python\nfound.policy.save("policy.json")\n' in said


def test_names_are_escaped_everywhere() -> None:
    import pandas as pd

    evil = "<script>alert(1)</script>|`x`"
    frame = pd.DataFrame({**SAMPLE, evil: np.repeat([evil, "fine"], [1990, 210])})
    found = sf.act_alone(frame, confidence="confidence", correct="correct", error=0.05, by=evil)
    assert "<script>" not in found.to_html().replace("<style>", "")
    assert "<script>" not in found._repr_html_()
    assert "<script>" not in found.to_markdown()


# -- data ------------------------------------------------------------------------------------------------------------


def test_json_is_strict_and_complete(tmp_path: Any) -> None:
    found = sf.act_alone(**SAMPLE, error=0.001, refuse=0.4, cost_error=10, cost_review=1, by=REGION)
    written = json.loads(found.to_json(tmp_path / "a.json"), parse_constant=pytest.fail)
    assert json.loads((tmp_path / "a.json").read_text()) == written
    assert written["surefoot"] == "act_alone"
    fields = {name for name in sf.ActAlone.__dataclass_fields__ if not name.startswith("_")}
    assert set(written) == fields | {
        "threshold_reason",
        "curve",
        "accepted",
        "error_rate",
        "decisions",
        "surefoot",
        "schema",
    }
    assert written["threshold"] is None
    assert written["error_rate"] is None
    assert written["cost"]["break_even"] == 0.1
    assert [one["value"] for one in written["slices"]] == ["north", "south"]
    assert [one["rows"] for one in written["slices"]] == [1990, 210]
    assert written["policy"]["by"] == "slice"
    assert written["curve"]["coverage"] == pytest.approx([1000 / 2200, 2000 / 2200, 1])
    assert written["curve"]["errors"] == [10, 170, 290]
    assert sum(one["rows"] for one in written["decisions"]) == 2200
    assert sum(one["errors"] for one in written["decisions"]) == 290


# -- pictures --------------------------------------------------------------------------------------------------------


def smooth(n: int = 4000) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    confidence = rng.beta(8, 1, n)
    return {"confidence": confidence, "correct": rng.random(n) < confidence}


CASES: dict[str, dict[str, Any]] = {
    "a threshold": {"error": 0.05},
    "every row": {"error": 0.3},
    "none": {"error": 0.001},
    "costs": {"cost_error": 20, "cost_review": 1},
    "review all": {"cost_error": 1e6, "cost_review": 1},
    "both": {"error": 0.04, "cost_error": 20, "cost_review": 1},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sample", ["smooth", "groups", "one row"])
def test_the_picture_has_words_that_do_not_overlap(name: str, sample: str) -> None:
    data = {"smooth": smooth(), "groups": SAMPLE, "one row": {"confidence": [0.9], "correct": [False]}}[sample]
    found = sf.act_alone(**data, **CASES[name])
    display = found.plot()
    display.figure_.canvas.draw()
    shown = [one for one in display.ax_.texts if one.get_text()]
    boxes = [one.get_window_extent() for one in shown]
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i]), [one.get_text() for one in shown]
    words = [one.get_text() for one in shown]
    if "error" in CASES[name] and sample == "smooth":
        assert any(one.startswith("promised: ") for one in words)
    if found.coverage > 0.1 and sample == "smooth":
        assert "every row" in words or any(one.endswith(" on") for one in words)
    plt.close("all")


def test_the_mark_stands_at_the_threshold_with_its_limits() -> None:
    found = sf.act_alone(**smooth(), error=0.05)
    figure = risk_coverage_of(found).figure()
    *_, chosen = figure.layers["all"].points
    (mark,) = chosen.marks
    assert (mark.x, mark.y) == (found.coverage, found.error_rate)
    assert chosen.interval is not None
    assert chosen.interval[1] == pytest.approx(found.error_limit)
    assert chosen.interval[1] <= 0.05
    assert figure.ideal == ((0, 0.05), (1, 0.05))
    assert all(
        point.marks[0].x == mark.x or abs(point.marks[0].x - mark.x) >= 0.04 for point in figure.layers["all"].points
    )


def test_rates_far_above_the_promise_are_cut_off_and_that_is_said() -> None:
    found = sf.act_alone(**smooth(), error=0.001)
    drawn = risk_coverage_of(found)
    assert drawn.is_cut
    assert drawn.figure().y.high == pytest.approx(0.01)
    assert all(max(curve.y) <= 0.01 for curve in drawn.figure().curves)
    assert "Higher error rates are cut off." in found.to_html()
    assert not risk_coverage_of(sf.act_alone(**smooth(), error=0.05)).is_cut


def test_a_curve_of_many_thresholds_is_thinned_and_keeps_its_ends() -> None:
    coverage = np.linspace(0.001, 1, 1400)
    zero = np.zeros(1400)
    (curve,) = RiskCoverage(coverage, coverage / 10, zero, coverage / 5).figure().curves
    assert len(curve.x) <= 241
    assert curve.x[0] == 0.001
    assert curve.x[-1] == 1


def test_the_display_gives_its_numbers_and_takes_a_rate() -> None:
    display = sf.plots.ActAloneDisplay.from_predictions(**smooth(), error=0.05)
    assert display.found.threshold == sf.act_alone(**smooth(), error=0.05).threshold
    frame = display.frame()
    assert list(frame) == ["threshold", "coverage", "error_rate", "lower", "upper", "rows", "errors"]
    assert frame["rows"][-1] == 4000
    assessed = sf.assess(**smooth(), metrics=["ece"])
    assert sf.plots.ActAloneDisplay.from_assessment(assessed, error=0.05).frame() == frame
    with pytest.raises(sf.InvalidPredictions, match=r"give the tally to surefoot\.act_alone"):
        sf.plots.ActAloneDisplay.from_assessment(sf.assess(sf.tally(sf.Predictions.from_correct(**smooth()))))


# -- page and card ---------------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Which elements are open, what they name, and what a page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.loads: list[str] = []
        self.headings: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        self.loads += [str(value) for name, value in attrs if name in ("src", "href") and value]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("by", [None, REGION])
def test_the_page_is_whole_and_loads_nothing(name: str, by: Any, tmp_path: Any) -> None:
    found = sf.act_alone(**SAMPLE, **CASES[name], by=by)
    page = found.to_html(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text() == page
    assert page.startswith("<!doctype html>")
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert len(tags.ids) == len(set(tags.ids))
    assert {one for one in tags.loads if not one.startswith("#")} == {"data:,"}
    assert {one[1:] for one in tags.loads if one.startswith("#")} <= set(tags.ids)
    assert tags.headings.count("h1") == 1
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "nan" not in re.sub(r"<style>.*?</style>|\w*nan\w+|\w+nan\w*", "", page, flags=re.DOTALL)


def test_the_page_says_the_answer_first_and_shows_three_numbers() -> None:
    page = sf.act_alone(**SAMPLE, error=0.05).to_html()
    assert '<h1 id="verdict">From 95% confidence on, at most 5% of predictions are wrong</h1>' in page
    assert "Guaranteed with 95% confidence. 45.5% of rows qualify" in page
    assert re.findall(r'<p class="big">(.*?)</p>', page) == ["95%", "45.5%", "1.0%"]
    assert 'class="big"' not in sf.act_alone(**SAMPLE, error=0.001).to_html()


@pytest.mark.parametrize("options", [{}, {"by": REGION}])
def test_the_card_holds_the_answer_and_the_table(options: dict[str, Any]) -> None:
    card = sf.act_alone(**SAMPLE, error=0.05, **options)._repr_html_()
    tags = Tags()
    tags.feed(card)
    assert tags.open == []
    assert "95%" in card
    assert "<table" in card
    assert "This holds for new rows like these" in card


def test_only_promises_that_are_kept_hold_together() -> None:
    rng = np.random.default_rng(0)
    found = sf.act_alone(correct=np.zeros(400, bool), confidence=rng.uniform(0.5, 1, 400), error=0.02, refuse=0.5)
    said = " ".join(str(found).split())
    assert "No threshold keeps this promise" in said
    assert "at least 50% of predictions are wrong (95% confidence)" in said
    assert "both promises" not in said


def test_a_least_cost_that_may_be_above_that_of_reviewing_says_so() -> None:
    """Of 80 such data sets, acting by the threshold cost more than a review of every row in 77."""
    rng = np.random.default_rng(1)
    confidence = rng.beta(6, 1, 3000)
    given = {"correct": rng.random(3000) < confidence, "confidence": confidence}
    found = sf.act_alone(**given, cost_error=1000, cost_review=1)
    assert found.cost.threshold_interval[1] == 1
    text = " ".join(render(found, WIDE).split())
    assert "but they do not show that this costs less than a review of every row." in text
    assert "promise an error rate of 0.001 as well." in text
    by_slice = sf.act_alone(**given, cost_error=1000, cost_review=1, by=np.arange(3000) % 2)
    assert "for 2 of them, rows do not show that acting alone costs less" in " ".join(render(by_slice, WIDE).split())
    assert "to review all" in render(by_slice, WIDE)
    sure = " ".join(render(sf.act_alone(**given, cost_error=5, cost_review=1), WIDE).split())
    assert sure.startswith("3,000 rows It costs least to act alone from")


def test_a_promise_that_no_errors_speak_against_says_how_many_rows_it_takes_at_least() -> None:
    # one of twenty qualifies, and 0.999 ** 2995 is the first power below 0.05
    found = sf.act_alone(**rows((0.99, 500, 0), (0.5, 9500, 4500)), error=0.001)
    assert found.fewest_rows == 2995
    assert found.rows_needed is None
    text = " ".join(render(found, WIDE).split())
    assert "60,000 or more in all, for as many as that are needed even if none of the 5.0% that qualify" in text
