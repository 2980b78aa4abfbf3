"""From which confidence a model may act alone, in sentences: first the answer, then what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from surefoot._io.printable import printable
from surefoot.decisions.act_alone import ActAlone
from surefoot.decisions.cost import Cost
from surefoot.decisions.policy import Decision
from surefoot.figures.labels import significant
from surefoot.render.event_tables import Column, PlainTable
from surefoot.render.numbers import (
    count,
    exact_percent,
    percent,
    percent_interval,
    pluralize,
    rate_percent,
    round_down,
    round_up,
)

CONDITION = (
    "This holds for new rows like these, with confidences computed in the same way, if rows are independent of "
    "each other (one per patient, user or prompt). Repeat it when the data or the confidences change, and do not "
    "use rows that the model, a calibrator or another threshold was fitted to."
)


@dataclass(frozen=True)
class Part:
    """The rows with one decision: at which confidence, how many, and how many of them are wrong."""

    decision: Decision
    confidence: str
    rows: int
    errors: int
    total: int

    @property
    def share(self) -> float:
        return self.rows / self.total

    @property
    def error_rate(self) -> float:
        return self.errors / self.rows


def parts(found: ActAlone) -> list[Part]:
    """What happens to the rows, by decision; decisions that no row gets are left out."""
    accept, refuse, total = found.threshold, found.refuse, found.rows
    wrong, not_refused, accepted = (_errors_from(found, threshold) for threshold in (0.0, refuse or 0.0, accept))
    refused = round(found.refused * total)
    ends = [None if end is None else exact_percent(end) for end in (refuse, accept)]
    between = {
        (True, True): f"{ends[0]} to {ends[1]}",
        (True, False): f"{ends[0]} and above",
        (False, True): f"below {ends[1]}",
        (False, False): "any",
    }[refuse is not None, accept is not None]
    all_parts = (
        Part("accept", f"{ends[1]} and above" if accept else "any", found.accepted, accepted, total),
        Part("review", between, total - found.accepted - refused, not_refused - accepted, total),
        # what is less sure than every row that was seen is reviewed
        Part(
            "refuse",
            f"{exact_percent(found.policy.thresholds.lowest)} to {ends[0]}",
            refused,
            wrong - not_refused,
            total,
        ),
    )
    return [part for part in all_parts if part.rows]


def _errors_from(found: ActAlone, threshold: float | None) -> int:
    """Errors among the rows that reach a threshold; none without one."""
    reached = np.flatnonzero(found.curve.threshold >= threshold) if threshold is not None else np.array([], dtype=int)
    return int(found.curve.errors[reached[-1]]) if len(reached) else 0


def source(found: ActAlone) -> str:
    """How many rows, of what file, by which columns."""
    rows = pluralize(found.rows, "row")
    if found.not_attempted:
        share = percent(found.not_attempted / (found.rows + found.not_attempted))
        rows += f" that were attempted ({found.not_attempted:,} more were not, {share} of all)"
    columns = f"; columns used: {found.columns}" if found.columns else ""
    return f"{rows} of {printable(found.source)}{columns}" if found.source else rows


def certainty(found: ActAlone) -> str:
    """The probability with which promises hold: 95%."""
    return exact_percent(Decimal(1) - Decimal(repr(float(found.level))))


def headline(found: ActAlone) -> str:
    """The answer, and how sure it is."""
    sure = guarantee(found)
    return f"{answer(found)} ({sure})." if sure else f"{answer(found)}."


def answer(found: ActAlone) -> str:
    """The answer, without a full stop."""
    return _answer_by_slice(found) if found.slices else _answer(found)


def guarantee(found: ActAlone) -> str:
    """How sure the answer is; empty where nothing is promised."""
    if found.error is None:
        return ""
    if found.slices:
        is_kept = any(one.threshold is not None for one in found.slices.values())
        together = " for all of them together" if len(found.slices) > 1 else ""
        return f"{'guaranteed ' if is_kept else ''}with {certainty(found)} confidence{together}"
    return f"{'guaranteed ' if keeps_promise(found) else ''}with {certainty(found)} confidence"


def _answer(found: ActAlone) -> str:
    if found.error is None:
        if found.threshold is None:
            return "It costs least to review every row"
        where = _where(found)
        if _may_never_pay(found):
            unsure = "but they do not show that this costs less than a review of every row"
            return f"On these rows it costs least to act alone {where}, {unsure}"
        return f"It costs least to act alone {where}"
    promise = f"at most {exact_percent(found.error)} of predictions are wrong"
    if found.threshold is None:
        if keeps_promise(found):
            return f"It costs least to review every row, though a threshold keeps the promise that {promise}"
        return f"No threshold keeps this promise: {promise}"
    if found.cost is not None:
        return f"Of the thresholds that keep the promise, it costs least to act alone {_where(found)}: {promise}"
    if found.accepted == found.rows:
        return f"It may act alone {_where(found)}: {promise}"
    return f"From {exact_percent(found.threshold)} confidence on, {promise}"


def _may_never_pay(found: ActAlone) -> bool:
    """Whether a review of every row may cost less than the threshold of least cost that was found."""
    return found.cost is not None and found.cost.threshold is not None and found.cost.threshold_interval[1] >= 1


def _where(found: ActAlone) -> str:
    """From which confidence on: what is less sure than every row that was seen is reviewed."""
    from_here = f"from {exact_percent(found.threshold or 0.0)} confidence on"
    return f"{from_here}, which is every row seen" if found.accepted == found.rows else from_here


def _answer_by_slice(found: ActAlone) -> str:
    kept, every = sum(one.threshold is not None for one in found.slices.values()), len(found.slices)
    noun = _noun(found)
    if found.error is None:
        unsure = sum(_may_never_pay(one) for one in found.slices.values())
        but = f"; for {unsure:,} of them, rows do not show that acting alone costs less than a review of every row"
        return f"Thresholds of least cost for {every:,} {noun}{but if unsure else ''}"
    promise = f"at most {exact_percent(found.error)} of predictions are wrong"
    if not kept:
        return f"No threshold keeps this promise for any of {every:,} {noun}: {promise}"
    how_many = f"all {every:,}" if kept == every and every > 1 else f"{kept:,} of {every:,}"
    thresholds = "there is a threshold" if kept == 1 else "there are thresholds"
    return f"For {how_many} {noun}, {thresholds} from which on {promise}"


def _noun(found: ActAlone) -> str:
    names = {"predicted": "predicted classes", "slice": "slices"}
    return names.get(found.by or "", f"values of {printable(found.by, 40)}")


def no_threshold(found: ActAlone) -> str:
    """Why there is none."""
    return (
        "a review of every row costs least" if keeps_promise(found) or found.error is None else "none keeps the promise"
    )


def keeps_promise(found: ActAlone) -> bool:
    """Whether some threshold does, be it one that costs too much."""
    return found.error is not None and (found.threshold is not None or bool((found.curve.upper <= found.error).any()))


def sentences(found: ActAlone) -> list[str]:
    """What the answer rests on, a paragraph each."""
    grouped = []
    if found.looks_grouped:
        grouped.append(
            f"Column {printable(found.looks_grouped, 40)!r} has repeated values. If its rows belong together, promises "
            "hold less often than stated: give one row of each."
        )
    return [*(_of_slices(found) if found.slices else _sentences(found)), *grouped]


def _of_slices(found: ActAlone) -> list[str]:
    accepted = sum(one.accepted for one in found.slices.values())
    wrong = round(sum(one.expected_errors for one in found.slices.values()))
    paragraphs = []
    if accepted:
        paragraphs.append(
            f"Together {percent(accepted / found.rows)} of rows qualify; {_wrong_among(wrong, accepted)}. "
            "The policy decides by these thresholds, and has rows with any other value reviewed."
        )
    whole = " ".join((f"{_answer(found)}.", *_sentences(found)))
    return [*paragraphs, f"One threshold for all rows: {whole[0].lower()}{whole[1:]}"]


def _sentences(found: ActAlone) -> list[str]:
    paragraphs = []
    if found.threshold is not None:
        paragraphs.append(" ".join((_qualifying(found), *_not_accepted(found))))
    elif found.error is not None and not keeps_promise(found):
        paragraphs.append(" ".join((_best_seen(found), *_not_accepted(found))))
        paragraphs.append(" ".join(_ways_out(found)))
    elif found.refuse_error is not None:
        paragraphs.append(" ".join(_not_accepted(found)))
    if found.cost is not None:
        paragraphs.append(" ".join(_costs(found, found.cost)))
    return [paragraph for paragraph in paragraphs if paragraph]


def _qualifying(found: ActAlone) -> str:
    wrong = round(found.expected_errors)
    if found.accepted == found.rows:
        which = f"{wrong:,} of {pluralize(found.rows, 'row')} {_was(wrong)} wrong ({rate_percent(found.error_rate)})."
        return which if wrong else f"None of {pluralize(found.rows, 'row')} was wrong."
    interval = f"{certainty(found)} CI {percent_interval(*found.coverage_interval)}"
    return f"{percent(found.coverage)} of rows qualify ({interval}); {_wrong_among(wrong, found.accepted)}."


def _wrong_among(wrong: int, rows: int) -> str:
    if rows == 1:
        return f"the one that does was {'wrong' if wrong else 'right'}"
    if not wrong:
        return f"none of these {rows:,} was wrong"
    return f"{wrong:,} of these {rows:,} {_was(wrong)} wrong ({rate_percent(wrong / rows)})"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def _not_accepted(found: ActAlone) -> Iterator[str]:
    """What is refused, and what is left to review."""
    by_decision = {part.decision: part for part in parts(found)}
    if found.refuse_error is not None:
        least = f"at least {exact_percent(found.refuse_error)} of predictions are wrong"
        refused = by_decision.get("refuse")
        if refused is None:
            yield f"No confidence was found below which {least}, so nothing is refused."
        else:
            assert found.refuse is not None
            is_one_of_two = found.error is not None and keeps_promise(found)
            together = "both promises hold together" if is_one_of_two else f"{certainty(found)} confidence"
            yield (
                f"Below {exact_percent(found.refuse)} confidence, {least} ({together}): {percent(refused.share)} of "
                f"rows are refused; {_wrong_among(refused.errors, refused.rows)}."
            )
    review = by_decision.get("review")
    if review is not None:
        yield (
            "Every row needs a review."
            if review.rows == found.rows
            else f"The other {percent(review.share)} need a review."
        )


def _closest(found: ActAlone) -> int:
    """The place on the curve of the threshold that comes closest to the promise; of all rows if every one is wrong."""
    upper = found.curve.upper
    return int(np.argmin(upper)) if upper.min() < 1 else len(upper) - 1


def _best_seen(found: ActAlone) -> str:
    """The threshold that comes closest, and why it does not do."""
    assert found.error is not None
    curve, rate = found.curve, exact_percent(found.error)
    best = _closest(found)
    rows, wrong = int(curve.rows[best]), int(curve.errors[best])
    is_all = best + 1 == len(curve.rows)
    where = "over all rows" if is_all else f"from {exact_percent(float(curve.threshold[best]))} confidence on"
    among = f"none of {rows:,} rows was wrong"
    if rows == 1:
        among = f"the only row was {'wrong' if wrong else 'right'}"
    elif wrong:
        among = f"{wrong:,} of {rows:,} rows {_was(wrong)} wrong ({rate_percent(wrong / rows)})"
    if wrong > found.error * rows:
        return f"The best seen: {where}, {among}."
    return f"The best seen: {where}, {among}; so few rows do not rule out that more than {rate} are."


def _ways_out(found: ActAlone) -> Iterator[str]:
    assert found.error is not None
    if found.rows_needed is None:
        if found.rows < found.fewest_rows:
            yield f"There are too few rows to tell: even if none is wrong, this promise takes {found.fewest_rows:,}."
        elif found.curve.error_rate[_closest(found)] <= found.error:
            share = float(found.curve.coverage[_closest(found)])
            least = f"{_up(found.fewest_rows / share):,}"
            yield (
                f"More rows like these might help: {least} or more in all, for as many as that are needed even if none "
                f"of the {percent(share)} that qualify is wrong. The errors seen so far do not tell how many it takes."
            )
        else:
            yield "Nothing here suggests that more rows would help."
    else:
        rows = _up(found.rows_needed)
        yield (
            f"About {rows:,} labelled rows like these in all might be enough, {max(rows - found.rows, 0):,} more than "
            "here; this is a guess from the errors seen so far."
        )
    if found.possible_error is not None:
        rate = exact_percent(found.possible_error)
        yield (
            f"These rows could have promised at most {rate} (error {found.possible_error:g}). Each promise stands by "
            "itself: choose the error rate that you can bear, not the first that passes."
        )


def _up(rows: float) -> int:
    """A number of rows rounded up to two digits."""
    size: int = 10 ** max(0, len(str(math.ceil(rows))) - 2)
    return math.ceil(rows / size) * size


def _costs(found: ActAlone, cost: Cost) -> Iterator[str]:
    acting, reviewing = _cost(cost.cost_of_acting), _cost(cost.cost_of_review)
    if cost.threshold is None:
        yield f"A review of every row costs {reviewing} a row, acting on every row {acting}."
    else:
        interval = f"{certainty(found)} CI {round_down(cost.cost_interval[0])} to {round_up(cost.cost_interval[1])}"
        yield (
            f"This costs {_cost(cost.cost)} a row ({interval}); acting on every row costs {acting}, a review of every "
            f"row {reviewing}."
        )
    if found.refused:
        yield "Refused rows count as reviewed here."
    if cost.break_even >= 1:
        yield "A review costs no less than an error, so it never pays."
        return
    yield f"A review pays where more than {100 * cost.break_even:.3g}% of predictions are wrong."
    low, high = cost.threshold_interval
    best = "The threshold of least cost" if found.error is None else "Without the promise, the threshold of least cost"
    interval = f"({certainty(found)} CI)"
    if low >= 1:
        yield f"It is best to review everything {interval}."
    elif high >= 1:
        yield f"{best} is {exact_percent(low)} or above, or it is best to review everything {interval}."
        if found.error is None:
            yield f"To act alone only where it is shown to pay, promise an error rate of {cost.break_even:.3g} as well."
    elif low == high:
        yield f"{best} is {exact_percent(low)} {interval}."
    else:
        yield f"{best} lies between {exact_percent(low)} and {exact_percent(high)} {interval}."


def _cost(value: float) -> str:
    """Three digits, without zeros at the end."""
    text = significant(value)
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def decision_table(found: ActAlone) -> PlainTable | None:
    """A row for each decision; None where thresholds are by slice, or every row has the same."""
    shown = parts(found)
    if found.slices or len(shown) < 2:
        return None
    columns = [
        Column("decision", [part.decision for part in shown], is_number=False),
        Column("confidence", [part.confidence for part in shown], is_number=False),
        Column("rows", [count(part.rows) for part in shown], optional=1),
        Column("share", [percent(part.share) for part in shown]),
        Column("wrong", [count(part.errors) for part in shown], optional=2),
        Column("error rate", [rate_percent(part.error_rate) for part in shown]),
    ]
    return PlainTable("Decisions", columns, [None] * len(shown))


def slice_table(found: ActAlone, most: int) -> PlainTable | None:
    """The threshold of each slice, those first that qualify least; None without slices."""
    if not found.slices:
        return None
    every = sorted(found.slices.items(), key=lambda pair: (pair[1].threshold is not None, pair[1].coverage))
    kept = every[:most]
    refusals = [one.refuse for _, one in kept]
    columns = [
        Column(printable(found.by, 24), [printable(value, 24) for value, _ in kept], is_number=False),
        Column("rows", [count(one.rows) for _, one in kept], optional=3),
        Column("accept from", [_threshold(one.threshold) for _, one in kept]),
        *([Column("refuse below", [_threshold(one) for one in refusals])] if any(refusals) else []),
        *([Column("best from", [_best_between(one) for _, one in kept])] if found.cost is not None else []),
        Column("coverage", [percent(one.coverage, zero="0%") for _, one in kept], optional=1),
        Column("wrong of these", [_rate_of(one) for _, one in kept], optional=2),
    ]
    by = "predicted class" if found.by == "predicted" else printable(found.by, 40)
    together = "; all these promises hold together" if found.error is not None else ""
    return PlainTable(f"By {by}{together}", columns, [None] * len(kept), len(every) - len(kept))


def _threshold(value: float | None) -> str:
    return "—" if value is None else exact_percent(value)


def _best_between(one: ActAlone) -> str:
    """The interval of the threshold of least cost."""
    assert one.cost is not None
    low, high = one.cost.threshold_interval
    if low >= 1:
        return "review all"
    return f"{exact_percent(low)} to {'review all' if high >= 1 else exact_percent(high)}"


def _rate_of(one: ActAlone) -> str:
    return f"{count(one.expected_errors)} ({rate_percent(one.error_rate)})" if one.accepted else "—"


def usage(found: ActAlone, *, is_command: bool = False) -> tuple[str, list[str]]:
    """How to keep the decisions and apply them, and the Python that does; empty where every row is reviewed."""
    # with slices, the policy decides by theirs alone
    decides = list(found.slices.values()) or [found]
    if all(one.threshold is None and one.refuse is None for one in decides):
        if not found.slices or (found.threshold is None and found.refuse is None):
            return "", []
        without = "leave out --by" if is_command else "leave out by="
        return f"A policy by slice would have every row reviewed. For the one threshold of all rows, {without}.", []
    asked = "confidence, by=values" if found.slices else "confidence"
    apply = ['policy = surefoot.Policy.load("policy.json")', f"policy.decide({asked})"]
    if is_command:
        return "Save these decisions with -o policy.json, and apply them where predictions are made:", apply
    words = "Save these decisions (on the command line: -o policy.json), and apply them where predictions are made:"
    return words, ['found.policy.save("policy.json")', *apply]
