"""What to do next: recalibrate, act alone on what is confident enough, or label more rows, with their numbers."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from surefoot._io.printable import printable
from surefoot._stats.binomial import limits
from surefoot._stats.quantiles import quantile
from surefoot.assessment.event_verdict import STRONG_FACTOR, is_within_factor
from surefoot.assessment.result import Assessment
from surefoot.decisions.offers import USUAL, best_offer
from surefoot.predictions import ArrayPredictions
from surefoot.render.event_spread import is_reversed
from surefoot.render.numbers import exact_percent, percent, pluralize, points, rough_count, round_down, round_up
from surefoot.risk.result import RiskResult

#: The 80% point of the normal distribution.
_POWER = 0.841621
#: The fewest rows of which calibrate holds some out.
_LEAST_ROWS = 3
#: Rows from which a plan is no help.
_TOO_MANY = 10**9
#: The calibrator for events: it corrects the level and the spread of every probability, not only of the largest.
_OF_EVENTS = "beta"
#: The rows of an assessment that is called a, which know how they are to be read; and those that a file is loaded to.
_ITS_ROWS, _LOADED = "a.predictions", "rows"
#: Labels that are written into a call.
_PLAIN = re.compile(r"[\w .+-]{1,40}")
_NOT_ROWS = re.compile(r"\.(tally|json)$")
#: Options by which every command reads the same rows, and those of all options that take no value.
_READ_BY = (
    *("--attempted", "--delimiter", "--sheet", "--table", "--query"),
    *("--percent", "--no-percent", "--drop-missing", "--confidence-pattern"),
)
_FLAGS = ("--percent", "--no-percent", "--drop-missing", "--as-float64")
#: How ``surefoot.load`` says what is not called alike there.
_IN_PYTHON = {"--positive": "pos_label", "--weight": "sample_weight"}
_FLAGS_IN_PYTHON = dict(
    zip(_FLAGS, ("percent=True", "percent=False", "drop_missing=True", "float32=False"), strict=True)
)


@dataclass(frozen=True)
class Step:
    """A sentence, and the command or the Python call that it is about; empty where there is none."""

    words: str
    command: str = ""

    @property
    def is_python(self) -> bool:
        """Whether the command is a Python call, and not for a shell."""
        return self.command.startswith("sf.")

    def command_lines(self, width: int) -> list[str]:
        """The command in lines that can be pasted, at most so long where its parts are not longer."""
        if not self.command:
            return []
        end = "" if self.is_python else " \\"
        # the parts of a shell command may hold spaces in quotes
        parts = self.command.split(" ") if self.is_python else map(shlex.quote, shlex.split(self.command))
        lines = [""]
        for part in parts:
            longer = f"{lines[-1]} {part}" if lines[-1] else part
            if len(longer) + len(end) <= width or not lines[-1].strip():
                lines[-1] = longer
            else:
                lines.append(f"    {part}")
        return [f"{line}{end}" for line in lines[:-1]] + lines[-1:]


def next_steps(a: Assessment) -> list[Step]:
    """At most three steps, the first of them the answer to the verdict."""
    if a.warnings:
        return [Step("Check the labels first, as the warning says. No other number means much if they are swapped.")]
    return [_answer(a), *_act_alone(a)]


def _answer(a: Assessment) -> Step:
    """What the verdict calls for."""
    if a.verdict == "inconclusive":
        return _collect(a)
    if a.verdict != "no evidence against calibration":
        if not _has_both_outcomes(a):
            return _check_outcomes(a)
        if a.view == "event" and is_reversed(a):
            return Step(
                "Check the labels, and which class is the event: the event is rarer where it is predicted more often. "
                "Recalibration would only hide that."
            )
        return _recalibrate(a)
    if not a.slices or a.view == "classes":
        return _slice(a)
    return Step("Nothing to correct on this evidence. Check again on new rows.")


def _has_both_outcomes(a: Assessment) -> bool:
    """Whether predictions were right and wrong; or an event, or any class, occurred in some rows and not in others."""
    if a.view == "prediction":
        # of very few rows that says nothing
        return a.risk.n < _LEAST_ROWS or 0 < a.metrics["accuracy"] < 1
    sides: list[RiskResult] = [a.risk] if a.view == "event" else [part.risk for part in a.slices]
    return any(one.observed_events > 0 and one.observed_errors > 0 for one in sides)


def _check_outcomes(a: Assessment) -> Step:
    """Outcomes that are all the same are more often a mistake in the data than in the model."""
    if a.view == "classes":
        return Step("Every row is of one class: check the labels. Recalibration needs rows of several classes.")
    if a.view == "prediction":
        which = "right" if a.metrics["accuracy"] else "wrong"
        return Step(
            f"Every prediction is {which}: check the labels, and that the model was not trained on these rows. "
            "Recalibration needs right and wrong predictions."
        )
    found = "Every row has the event" if a.risk.observed_events else "No row has the event"
    return Step(
        f"{found}: check the outcomes, and which of them is the event. Recalibration needs rows with the event and "
        "rows without it."
    )


def _act_alone(a: Assessment) -> list[Step]:
    """From which confidence the model may act alone, where that is much of the work."""
    offer = best_offer(a.offers)
    if offer is None or offer.threshold is None:
        return _label_more(a)
    sure = exact_percent(round(1 - a.level, 12))
    wrong = f"at most {exact_percent(offer.error)} of them wrong on new rows like these "
    wrong += f"({sure} confidence that this holds for all {len(USUAL)} error rates tried)"
    # a threshold is of the confidences that it was found with
    is_as_it_is = a.verdict in ("inconclusive", "no evidence against calibration")
    start = "Accept predictions" if is_as_it_is else "Or leave the confidences as they are, and accept predictions"
    if offer.coverage < 1:
        from_here = exact_percent(offer.threshold)
        words = f"{start} without review from {from_here} confidence up: {percent(offer.coverage)} of rows, {wrong}:"
    else:
        from_here = exact_percent(offer.threshold)
        words = f"{start} without review from {from_here} confidence up, which is every row seen: {wrong}:"
    # of several error rates, each was looked at with a part of the level
    error, level = f"{offer.error:g}", f"{a.level / len(USUAL):g}"
    if a.path and (a.options or _NOT_ROWS.search(a.path)):
        command = ["surefoot", "act-alone", printable(a.path, 500), *a.options, "--error", error, "--level", level]
        return [Step(words, shlex.join([*command, "-o", "policy.json"]))]
    return [Step(words, f"sf.act_alone({_data(a)}, error={error}, level={level})")]


def _data(a: Assessment) -> str:
    """The arguments that stand for the data, as they are called everywhere."""
    if a.predictions is None:
        return "tally"
    if not _is_plain(a):
        return _its_rows(a)
    if a.predictions.has_probabilities:
        return "y_true, probabilities"
    return "correct=correct, confidence=confidence" if a.predictions.truth is None else "y_true, y_pred, confidence"


def _is_plain(a: Assessment) -> bool:
    """Whether rows are read the same without a word on how: on labels, their order, logits, what was attempted.

    Neither are they if some have no weight, and so do not count.
    """
    p = a.predictions
    if p is None or a.not_attempted or _has_weightless(p):
        return p is None
    if not p.has_probabilities:
        return True
    return not (p.has_second or p.follows_logits or p.scores is not None) and _has_usual_labels(p)


def _has_weightless(p: ArrayPredictions) -> bool:
    """Whether rows have no weight: calibrators, which take no weights, would count them."""
    return p.is_weighted and not bool((p.weight > 0).all())


def _has_usual_labels(p: ArrayPredictions) -> bool:
    """Whether columns are of the labels that they are taken for if nothing is said."""
    labels = list(p.labels or ())
    try:
        return labels == list(range(len(labels))) or labels == sorted(set(np.asarray(p.truth).tolist()))
    except TypeError:
        return False


def _label_more(a: Assessment) -> list[Step]:
    """How many rows might show from which confidence it may act alone."""
    last = a.offers[-1] if a.offers else None
    if last is None or last.rows_needed is None or a.verdict == "inconclusive":
        return []
    needed = float(f"{last.rows_needed:.1e}")
    return [
        Step(
            f"To find out from which confidence it may act alone, with at most {exact_percent(last.error)} wrong, "
            f"label more rows: about {rough_count(needed)} in all might be enough, {rough_count(needed - a.risk.n)} "
            "more than here."
        )
    ]


def _brings(a: Assessment) -> str:
    """What recalibration brings on rows that it was not fitted to, in brackets."""
    if a.risk.is_weighted:
        return " (calibrators do not take the weights)"
    found = a.recalibrated
    if found is None:
        return ""
    if math.isinf(found.log_loss):
        after = f"{found.log_loss_after:.3f}"
        return f" (cross-fitted on these rows, Platt scaling takes log loss from infinite to {after})"
    low, high = found.saved_interval
    if low <= 0:
        return " (cross-fitted on these rows, Platt scaling does not clearly lower log loss: more labelled rows might)"
    return (
        f" (cross-fitted on these rows, Platt scaling lowers log loss from {found.log_loss:.3f} by {found.saved:.2g}, "
        f"95% CI {round_down(low, 2)} to {round_up(high, 2)})"
    )


def rows_needed(a: Assessment) -> int | None:
    """Labelled rows like these that settle an inconclusive result four times in five; None if a billion are too few.

    With so many, an overstatement of the margin shows in the errors, and the interval of a calibrated model leaves it
    out: either happens with a probability of 80%. Of events, the same holds of an O/E of one half or two.
    """
    by_points, by_factor = _rows_that_settle_points(a), _rows_that_settle_factor(a)
    if by_points is None or by_factor is None:
        return None
    return max(by_points, by_factor)


def _rows_that_settle_points(a: Assessment) -> int | None:
    """Of the mean difference, against the margin."""
    share, effect = _rarer(a)
    reach = (quantile(1 - a.level) + _POWER) / a.margin
    detected = share * (1 - share) * reach**2
    # of events, both ends of the interval have to leave it out
    excluded = _rows_that_exclude(a.margin, share, 0.8 if a.view == "prediction" else 0.9)
    if excluded is None or not detected < _TOO_MANY:
        return None
    return _rounded_up(effect * _loss(a) * max(detected, excluded))


def _rows_that_settle_factor(a: Assessment) -> int | None:
    """Of O/E, against a factor of two; 0 where that is settled, as it always is of predictions."""
    sides = {"prediction": [], "event": [a.risk], "classes": [part.risk for part in a.slices]}[a.view]
    found = 0
    for one in sides:
        if is_within_factor(one):
            continue
        rows = _rows_that_exclude_factor(_expected_share(one))
        needed = None if rows is None else _rounded_up(one.design_effect * _loss(a) * rows)
        if needed is None:
            return None
        found = max(found, needed)
    return found


def _expected_share(r: RiskResult) -> float:
    return r.expected_events / ((r.observed_events + r.observed_errors) or 1.0)


def _rounded_up(needed: float) -> int | None:
    """To two digits; None if a billion rows are too few."""
    size = int(10.0 ** max(0, math.floor(math.log10(needed)) - 1))
    return math.ceil(needed / size) * size if needed < _TOO_MANY else None


def _rarer(a: Assessment) -> tuple[float, float]:
    """The share of errors, or of what is rarer of an event and its absence, and the design effect; of the worst class.

    In rows, whatever the scale of the weights; at least one row, and at most half.
    """
    if a.view == "classes":
        return max(_rarer_event(part.risk) for part in a.slices)
    if a.view == "event":
        return _rarer_event(a.risk, a.weight)
    rows, scale = a.risk.n, a.risk.n / a.weight if a.risk.is_weighted else 1.0
    share = max(a.risk.observed_errors * scale, a.risk.expected_errors * scale, 1.0) / (rows or 1.0)
    return min(0.5, share), a.risk.design_effect


def _rarer_event(r: RiskResult, weight: float = math.nan) -> tuple[float, float]:
    total = r.observed_events + r.observed_errors if math.isnan(weight) or not r.is_weighted else weight
    shares = [number / (total or 1.0) for number in (r.observed_events, r.expected_events)]
    middle = min(shares, key=lambda share: abs(share - 0.5))
    return min(0.5, max(min(middle, 1 - middle), 1.0 / (r.n or 1.0))), r.design_effect


def _rows_that_exclude(margin: float, share: float, often: float) -> float | None:
    """Rows after which one end of the 95% interval of a calibrated model excludes the margin, so often."""
    from scipy.special import bdtrik

    def is_enough(n: float) -> bool:
        errors = max(0.0, math.ceil(float(bdtrik(often, n, share)))) if share else 0.0
        return float(limits(errors, n)[1]) - share <= margin

    return _least(is_enough)


def _rows_that_exclude_factor(share: float) -> float | None:
    """Rows after which the 95% interval of O/E of a calibrated model excludes one half and two, four times in five."""
    from scipy.special import bdtrik

    def is_enough(n: float) -> bool:
        few, many = (max(0.0, math.ceil(float(bdtrik(often, n, share)))) for often in (0.1, 0.9))
        return float(limits(few, n)[0]) > share / STRONG_FACTOR and float(limits(many, n)[1]) < share * STRONG_FACTOR

    return _least(is_enough) if share else None


def _least(is_enough: Callable[[float], bool]) -> float | None:
    """The fewest rows that are enough, to a hundredth; None if a billion are too few."""
    most = 1.0
    while not is_enough(most):
        most *= 2
        if most > _TOO_MANY:
            return None
    least = most / 2
    while most - least > 0.01 * most:
        middle = (least + most) / 2
        least, most = (least, middle) if is_enough(middle) else (middle, most)
    return most


def _loss(a: Assessment) -> float:
    """How many weighted rows tell as much as one row of equal weights."""
    if a.predictions is None or not a.predictions.is_weighted:
        return 1.0
    weight = a.predictions.weight
    return float(len(weight) * (weight**2).sum() / weight.sum() ** 2)


def _collect(a: Assessment) -> Step:
    margin = points(a.margin)
    by_points, by_factor = _rows_that_settle_points(a), _rows_that_settle_factor(a)
    each = " in each class" if a.view == "classes" else ""
    if by_factor is None:
        return Step(
            f"No realistic number of rows settles this: too few events are expected{each and ' in some classes'}."
        )
    if by_points is None:
        return Step(f"No realistic number of rows settles this at a margin of {margin}: choose a wider margin.")
    needed = max(by_points, by_factor)
    factor = f"an O/E of 1/{STRONG_FACTOR:g} or {STRONG_FACTOR:g}"
    what = factor if by_factor > by_points else margin
    rows = a.slices[0].risk.n if a.view == "classes" else a.risk.n
    if needed <= rows:
        # enough for most data sets like this one, and this is one of the others
        return Step(f"Label more rows: {rows:,} are usually enough to find or exclude {what}, but not here.")
    effect = "an overstatement" if a.view == "prediction" else "a difference"
    detected = factor if what == factor else f"{effect} of {margin}"
    return Step(
        f"Label more rows. About {needed:,} in all would settle it: enough to detect {detected}, or "
        f"to exclude it{each}, four times in five."
    )


def _slice(a: Assessment) -> Step:
    words = "Nothing to correct on this evidence. Look into groups of rows next"
    if a.view == "classes":
        return Step(f"{words}, one class at a time:", 'sf.assess(..., of="event", pos_label=label, by=groups)')
    if a.path and (a.options or _NOT_ROWS.search(a.path)):
        return Step(
            f"{words}:", shlex.join(["surefoot", "assess", printable(a.path, 500), *a.options, "--by", "COLUMN"])
        )
    return Step(f"{words}:", "sf.assess(..., by=groups)")


def _recalibrate(a: Assessment) -> Step:
    if a.view == "prediction" and a.risk.n < _LEAST_ROWS:
        rows = pluralize(a.risk.n, "row")
        return Step(f"Label more rows: a calibrator cannot be fitted to {rows} and checked on others.")
    words = "Recalibrate, on labelled rows that the model was not trained on"
    if a.predictions is not None and _has_weightless(a.predictions):
        words += " (leave out those of weight 0, which count there)"
    options = _options(a)
    if a.path and options and not _NOT_ROWS.search(a.path):
        command = ["surefoot", "calibrate", "--fit", printable(a.path, 500), *options]
        if a.view == "prediction":
            return Step(f"{words}{_brings(a)}:", shlex.join(command))
        then = f"then correct new rows with surefoot calibrate --load, and assess {_corrected(a, options)}"
        return Step(f"{words}; {then}:", shlex.join([*command, "--method", _OF_EVENTS, "--save", "calibrator.json"]))
    where = ", in Python" if a.path else ""
    if a.view != "prediction":
        return Step(f"{words}{where}; then assess the recalibrated probabilities of new rows:", _event_call(a))
    then = ""
    if _is_below_half(a):
        then, call = "; then take predict_proba(confidence)[:, 1] for new rows", _below_half_call(a)
    else:
        has_classes = "auc" in a.metrics if a.predictions is None else a.predictions.has_probabilities
        call = _python_call(a, has_classes=has_classes)
    if f"{_LOADED}." in call:
        where = f"{where} with {_LOADED} = {_load_call(a)}"
    return Step(f"{words}{where}{_brings(a)}{then}:", call)


def _its_rows(a: Assessment) -> str:
    """What stands for rows that know how they are to be read: those of the assessment, or of the file loaded again."""
    return _LOADED if a.path else _ITS_ROWS


def _load_call(a: Assessment) -> str:
    """The call that reads the rows of the file as they were read here."""
    named = [
        _FLAGS_IN_PYTHON.get(name) or f"{_IN_PYTHON.get(name, name[2:].replace('-', '_'))}={value!r}"
        for name, value in _values(a.options).items()
    ]
    return f"sf.load({', '.join([repr(printable(a.path, 500)), *named])})"


def _corrected(a: Assessment, options: list[str]) -> str:
    """The columns that the corrected rows are to be assessed by: the old ones are still beside them."""
    used = _values(options)
    if "--probabilities" in used and "probability of " in a.columns:
        return f"their column calibrated_{printable(used['--probabilities'], 40)}"
    return "their columns calibrated_..., not the old ones"


def _values(options: Sequence[str]) -> dict[str, str]:
    """The values of options by their names; that of an option without one is empty."""
    words = iter(options)
    return {name: "" if name in _FLAGS else next(words) for name in words}


def _is_below_half(a: Assessment) -> bool:
    """Whether confidences without class probabilities are below one half: two classes cannot stand for them."""
    p = a.predictions
    return p is not None and not p.has_probabilities and bool((p.doubt > 0.5).any())


def _below_half_call(a: Assessment) -> str:
    if a.not_attempted or (a.path and not _NOT_ROWS.search(a.path)):
        return f"sf.calibrators.Beta().fit({_its_rows(a)}.confidence, {_its_rows(a)}.correct)"
    return f"sf.calibrators.Beta().fit(confidence, {_correct(a)})"


def _correct(a: Assessment) -> str:
    has_labels = "auc" in a.metrics if a.predictions is None else a.predictions.truth is not None
    return "y_true == y_pred" if has_labels else "correct"


def _event_call(a: Assessment) -> str:
    """Fit a calibrator of probabilities themselves: those of the event, or those of all classes."""
    weight = ", sample_weight" if a.risk.is_weighted else ""
    if a.view == "classes":
        labels = "" if a.predictions is None or _has_usual_labels(a.predictions) else ", labels=labels"
        return f"sf.calibrators.Beta().fit(probabilities, y_true{weight}{labels})"
    event = repr(a.event) if _PLAIN.fullmatch(str(a.event)) else "event"
    return f"sf.calibrators.Beta().fit(p_event, np.asarray(y_true) == {event}{weight})"


def _python_call(a: Assessment, *, has_classes: bool) -> str:
    p, rows = a.predictions, _its_rows(a)
    if has_classes:
        if p is None or _is_plain(a) or p.scores is not None:
            return "sf.calibrate(y_true, probabilities)"
        return f"sf.calibrate({rows}.truth, {rows}.probabilities, labels={rows}.labels)"
    correct, confidence = _correct(a), "confidence"
    if a.not_attempted and p is not None:
        correct, confidence = f"{rows}.correct", f"{rows}.confidence"
    return f"sf.calibrate({correct}, np.column_stack([1 - np.asarray({confidence}), {confidence}]))"


def _options(a: Assessment) -> list[str]:
    """The options of ``surefoot calibrate`` that name the columns used; none if it takes no such columns."""
    if _is_below_half(a):
        return []
    used = _values(a.options)
    if "--as-float64" in used or (a.view != "prediction" and a.risk.is_weighted):
        # what the command does not read, or does not take
        return []
    if "--of" in used and "--positive" in a.options[a.options.index("--of") :]:
        # the event is one of several columns, which the command corrects together: that leaves the event off
        return []
    others = [word for name in _READ_BY if name in used for word in ([name] if name in _FLAGS else [name, used[name]])]
    if a.not_attempted and "--attempted" not in used:
        # outcomes in words are no labels
        return []
    if "--correct" in used and "--confidence" in used:
        return ["--truth", used["--correct"], "--probabilities", used["--confidence"], *others]
    scores = next((role for role in ("--probabilities", "--logits") if role in used), None)
    if scores is None or "--truth" not in used:
        return []
    positive = ["--positive", used["--positive"]] if "--positive" in used else []
    return ["--truth", used["--truth"], scores, used[scores], *positive, *others]
