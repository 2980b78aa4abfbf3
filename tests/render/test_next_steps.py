"""What to do next: the command that recalibrates, or how many labelled rows would settle the question."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.render import markdown
from surefoot.render.html import report
from surefoot.render.next_steps import Step, next_steps, rows_needed
from surefoot.risk.planning import required_n

RNG = np.random.default_rng(0)
X = RNG.normal(0, 2, 3000)
Y = (RNG.random(3000) < 1 / (1 + np.exp(-X))).astype(int)
SHARP = 1 / (1 + np.exp(-3 * X))


def first(a: sf.Assessment) -> Step:
    """The answer to the verdict."""
    step, *others = next_steps(a)
    assert len(others) <= 2
    return step


def test_the_python_call_that_recalibrates_runs_and_helps() -> None:
    table = np.column_stack([1 - SHARP, SHARP])
    step = first(sf.assess(Y, table))
    assert step.command == "sf.calibrate(y_true, probabilities)"
    found = eval(step.command, {"sf": sf, "y_true": Y, "probabilities": table})
    assert found.trials["raw"].is_risky
    assert not found.trials[found.recommended].is_risky


@pytest.mark.parametrize("has_labels", [True, False])
def test_bare_confidences_are_recalibrated_too(has_labels: bool) -> None:
    predicted, confidence = (SHARP > 0.5).astype(int), np.maximum(SHARP, 1 - SHARP)
    a = sf.assess(Y, predicted, confidence) if has_labels else sf.assess(correct=predicted == Y, confidence=confidence)
    step = first(a)
    correct = "y_true == y_pred" if has_labels else "correct"
    assert step.command == f"sf.calibrate({correct}, np.column_stack([1 - np.asarray(confidence), confidence]))"
    names = {"sf": sf, "np": np, "y_true": Y, "y_pred": predicted, "confidence": confidence, "correct": predicted == Y}
    assert eval(step.command, names).recommended


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("label,p", lambda: zip(Y, SHARP, strict=True), []),
        ("state,score 1", lambda: zip(Y, SHARP, strict=True), ["--truth", "state", "--probabilities", "score 1"]),
        (
            "label,prob_no,prob_yes",
            lambda: ((("no", "yes")[y], 1 - p, p) for y, p in zip(Y, SHARP, strict=True)),
            [],
        ),
        ("label,p", lambda: ((("no", "yes")[y], p) for y, p in zip(Y, SHARP, strict=True)), ["--positive", "yes"]),
        ("correct,confidence", lambda: ((y == (p > 0.5), max(p, 1 - p)) for y, p in zip(Y, SHARP, strict=True)), []),
    ],
)
def test_the_command_that_recalibrates_a_file_runs_as_printed(
    header: str,
    rows: object,
    options: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my rows.csv").write_text("\n".join([header, *(",".join(map(str, row)) for row in rows()), ""]))  # type: ignore[operator]
    assert run(["assess", "my rows.csv", *options]) == 0
    text = capsys.readouterr().out
    lines = text.partition("What to do next")[2].splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith("surefoot "))
    end = next(i for i, line in enumerate(lines) if i >= start and not line.endswith("\\"))
    command = " ".join(line.strip().removesuffix("\\").strip() for line in lines[start : end + 1])
    words = shlex.split(command)
    assert words[:4] == ["surefoot", "calibrate", "--fit", "my rows.csv"]
    assert run(words[1:]) == 0
    assert "Recommended" in capsys.readouterr().out


@pytest.mark.parametrize("rows", [40, 300])
def test_the_rows_that_settle_it_are_enough_for_the_test_as_well(rows: int) -> None:
    c = np.random.default_rng(1).uniform(0.6, 0.95, rows)
    a = sf.assess(correct=np.random.default_rng(2).random(rows) < c, confidence=c)
    assert a.verdict == "inconclusive"
    needed = rows_needed(a)
    assert needed is not None
    # an overstatement of the margin, as a deflation
    assert needed >= required_n(c, deflation=a.margin / float(c.mean()))
    assert f"About {needed:,} in all would settle it" in first(a).words


def test_so_many_rows_exclude_the_margin_four_times_in_five() -> None:
    rng = np.random.default_rng(3)
    c = rng.uniform(0.6, 0.95, 200)
    needed = rows_needed(replace(sf.assess(correct=rng.random(200) < c, confidence=c), margin=0.05))
    assert needed is not None
    settled = 0
    for _ in range(60):
        many = rng.uniform(0.6, 0.95, needed)
        a = sf.assess(correct=rng.random(needed) < many, confidence=many, metrics=(), margin=0.05)
        settled += a.verdict != "inconclusive"
    assert 40 <= settled <= 58


@pytest.mark.parametrize(("confidence", "rows"), [(0.999, 60), (0.99, 60)])
def test_so_many_rows_settle_it_for_sure_models_too(confidence: float, rows: int) -> None:
    rng = np.random.default_rng(5)
    a = sf.assess(correct=[True] * rows, confidence=[confidence] * rows)
    assert a.verdict == "inconclusive"
    needed = rows_needed(a)
    assert needed is not None
    settled = [
        sf.assess(correct=rng.random(needed) < confidence, confidence=[confidence] * needed, metrics=()).verdict
        for _ in range(50)
    ]
    assert sum(verdict != "inconclusive" for verdict in settled) >= 35


def test_so_many_rows_settle_it_for_rare_events() -> None:
    """Points alone would settle it after 530 rows, in which one event is expected."""
    rng = np.random.default_rng(8)
    a = sf.assess(np.zeros(200), np.full(200, 0.002), of="event", labels=[0, 1])
    assert a.verdict == "inconclusive"
    needed = rows_needed(a)
    assert needed is not None
    # after so many events, and fewer, both ends of the interval exclude a factor of two in 80%
    assert 20 <= 0.002 * needed <= 45
    settled = [
        sf.assess(rng.random(needed) < 0.002, np.full(needed, 0.002), of="event", metrics=()).verdict for _ in range(60)
    ]
    assert sum(verdict != "inconclusive" for verdict in settled) >= 42
    assert "detect an O/E of 1/2 or 2" in first(a).words
    rarer = sf.assess(np.zeros(50), np.full(50, 1e-9), of="event", labels=[0, 1], metrics=())
    assert rows_needed(rarer) is None
    assert first(rarer).words == "No realistic number of rows settles this: too few events are expected."


def test_a_stricter_level_and_unequal_weights_need_more_rows() -> None:
    rng = np.random.default_rng(6)
    c = rng.uniform(0.6, 0.95, 200)
    correct = rng.random(200) < c
    plain = rows_needed(sf.assess(correct=correct, confidence=c))
    strict = rows_needed(sf.assess(correct=correct, confidence=c, level=0.001))
    weighted = rows_needed(sf.assess(correct=correct, confidence=c, weight=np.where(np.arange(200) % 2, 1.0, 100.0)))
    assert plain is not None
    assert strict is not None
    assert strict > 1.5 * plain
    assert weighted is None or weighted > 1.5 * plain


def test_a_warning_comes_before_any_other_step() -> None:
    a = sf.assess(1 - Y, np.column_stack([1 - SHARP, SHARP]))
    assert a.warnings
    assert "Check the labels first" in first(a).words
    assert not first(a).command


def test_a_prefix_selects_the_columns_of_probabilities_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["patient,truth,p0,p1", *(f"{i},{y},{1 - p!r},{p!r}" for i, (y, p) in enumerate(zip(Y, SHARP, strict=True)))]
    Path("a.csv").write_text("\n".join(rows).replace("np.float64(", "").replace(")", "") + "\n")
    a = sf.assess("a.csv", y_true="truth", y_proba=["p0", "p1"])
    assert a.options == ()
    assert first(a).is_python
    Path("b.csv").write_text(Path("a.csv").read_text().replace("patient,truth,p0,p1", "patient,truth,p_0,p_1"))
    assert sf.assess("b.csv", y_true="truth", y_proba=["p_0", "p_1"]).options == (
        "--truth",
        "truth",
        "--probabilities",
        "p_",
    )


def test_what_no_number_of_rows_settles_is_said() -> None:
    a = sf.assess(correct=[True] * 7 + [False] * 3, confidence=[0.7] * 10, margin=1e-6)
    assert a.verdict == "inconclusive"
    assert rows_needed(a) is None
    assert "choose a wider margin" in first(a).words


def test_nothing_found_asks_for_groups() -> None:
    rng = np.random.default_rng(4)
    c = rng.uniform(0.6, 0.95, 20_000)
    a = sf.assess(correct=rng.random(20_000) < c, confidence=c)
    assert first(a).command == "sf.assess(..., by=groups)"
    named = replace(a, path="it's.csv", options=("--correct", "was right", "--confidence", "c"))
    words = ["surefoot", "assess", "it's.csv", "--correct", "was right", "--confidence", "c", "--by", "COLUMN"]
    assert shlex.split(first(named).command) == words


def test_from_where_it_may_act_alone() -> None:
    rng = np.random.default_rng(8)
    c = rng.beta(8, 1, 20_000)
    a = sf.assess(correct=rng.random(20_000) < c, confidence=c)
    _, step = next_steps(a)
    offer = next(offer for offer in a.offers if offer.coverage >= 0.2)
    assert offer.error == 0.02
    assert a.verdict == "no evidence against calibration"
    assert step.words == (
        f"Accept predictions without review from {100 * offer.threshold:g}% confidence up: {offer.coverage:.1%} of "
        "rows, at most 2% of them wrong on new rows like these (95% confidence that this holds for all 4 error rates "
        "tried):"
    )
    assert step.command == "sf.act_alone(correct=correct, confidence=confidence, error=0.02, level=0.0125)"
    given = {"sf": sf, "correct": a.predictions.correct, "confidence": c}
    assert eval(step.command, given).threshold == offer.threshold
    named = replace(a, path="a b.csv", options=("--correct", "right", "--confidence", "c"))
    words = ["act-alone", "a b.csv", "--correct", "right", "--confidence", "c", "--error", "0.02"]
    words += ["--level", "0.0125", "-o", "policy.json"]
    assert shlex.split(next_steps(named)[1].command)[1:] == words
    # the promise of all rows, where nothing is to be left out
    sure = sf.assess(correct=[True] * 4000, confidence=[0.999] * 4000)
    assert (
        "accept predictions without review from 99.9% confidence up, which is every row seen: at most 1% of them wrong"
        in next_steps(sure)[1].words
    )
    # rows that belong together are fewer than they seem: no promise
    grouped = sf.assess(correct=rng.random(2000) < c[:2000], confidence=c[:2000], groups=np.arange(2000) // 10)
    assert grouped.offers == ()


def test_how_many_rows_might_show_from_where_it_may_act_alone() -> None:
    rng = np.random.default_rng(9)
    c = rng.uniform(0.5, 1, 400)
    a = sf.assess(correct=rng.random(400) < c**3, confidence=c)
    assert a.verdict == "overconfident"
    assert not any(offer.coverage for offer in a.offers)
    last = next_steps(a)[-1]
    if a.offers[-1].rows_needed is not None:
        assert "label more rows: about" in last.words
    else:
        assert "Recalibrate" in last.words


def test_what_recalibration_brings_is_told_from_rows_it_was_not_fitted_to() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss

    correct, c = (SHARP > 0.5) == Y, np.maximum(SHARP, 1 - SHARP).clip(0, 1 - 1e-9)
    a = sf.assess(correct=correct, confidence=c)
    odds = np.log(c / (1 - c))[:, None]
    after = np.empty(len(c))
    for turn in (0, 1):
        own = np.arange(len(c)) % 2 == turn
        fit = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(odds[own], correct[own])
        after[~own] = fit.predict_proba(odds[~own])[:, 1]
    found = a.recalibrated
    assert found.log_loss == pytest.approx(log_loss(correct, c), rel=1e-9)
    assert found.log_loss_after == pytest.approx(log_loss(correct, after), rel=1e-4)
    saved = -np.log(np.where(correct, c, 1 - c)) + np.log(np.where(correct, after, 1 - after))
    reach = 1.959964 * saved.std() / np.sqrt(len(saved))
    assert found.saved_interval == pytest.approx((saved.mean() - reach, saved.mean() + reach), rel=1e-3)
    words = f"Platt scaling lowers log loss from {found.log_loss:.3f} by {found.saved:.2g}, 95% CI"
    assert words in first(a).words


def test_confidences_below_one_half_are_recalibrated_as_they_are() -> None:
    """Two classes cannot stand for them: the less likely answer is not what was predicted."""
    rng = np.random.default_rng(12)
    c = rng.uniform(0.1, 1, 5000)
    correct = rng.random(5000) < 0.75 * c
    step = first(sf.assess(correct=correct, confidence=c))
    fitted = eval(step.command, {"sf": sf, "confidence": c, "correct": correct})
    fresh = rng.uniform(0.1, 1, 20_000)
    after = fitted.predict_proba(fresh)[:, 1]
    assert abs(sf.risk_test(correct=rng.random(20_000) < 0.75 * fresh, confidence=after).overstatement) < 0.015


def test_weights_are_not_promised_to_a_calibrator() -> None:
    weight = np.where(np.arange(3000) % 2, 1.0, 9.0)
    a = sf.assess(Y, np.column_stack([1 - SHARP, SHARP]), sample_weight=weight)
    assert "(calibrators do not take the weights)" in first(a).words


def test_every_medium_ends_its_verdict_with_it() -> None:
    a = sf.assess(Y, np.column_stack([1 - SHARP, SHARP]))
    assert "What to do next\n    Recalibrate" in str(a)
    assert "### What to do next" in markdown.render(a)
    page = report(a)
    assert page.index("What to do next") < page.index('id="where"')
    for text in (str(a), markdown.render(a), page, a._repr_html_()):
        assert "sf.calibrate(y_true, probabilities)" in text


def test_long_commands_are_broken_where_they_can_be_pasted() -> None:
    step = Step("", "surefoot calibrate --fit 'my long file name.csv' --truth label --probabilities p_")
    lines = step.command_lines(40)
    assert all(len(line) <= 40 for line in lines)
    assert all(line.endswith(" \\") for line in lines[:-1])
    assert shlex.split(re.sub(r"\\\n", "", "\n".join(lines))) == shlex.split(step.command)
    assert Step("").command_lines(40) == []
    call = Step("", "sf.calibrate(correct, np.column_stack([1 - np.asarray(confidence), confidence]))")
    assert len(call.command_lines(44)) == 2
    compile("\n".join(call.command_lines(44)), "pasted", "eval")


@pytest.mark.parametrize("positive", [[], ["--positive", "yes"]])
@pytest.mark.parametrize(("slope", "shift"), [(1.0, 1.0), (2.0, 0.0)])
def test_the_printed_command_mends_an_event(
    positive: list[str],
    slope: float,
    shift: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    p = 1 / (1 + np.exp(-slope * X - shift))
    names = ("no", "yes") if positive else ("0", "1")
    rows = [f"{names[y]},{q!r}" for y, q in zip(Y, p.tolist(), strict=True)]
    Path("fit.csv").write_text("\n".join(["label,risk", *rows[:1500], ""]))
    Path("new.csv").write_text("\n".join(["label,risk", *rows[1500:], ""]))
    options = ["--truth", "label", "--probabilities", "risk", *positive]
    assert run(["assess", "fit.csv", *options, "--of", "event"]) == 0
    text = capsys.readouterr().out
    lines = [line.strip().removesuffix("\\").strip() for line in text.partition("What to do next")[2].splitlines()]
    words = shlex.split(" ".join(lines[next(i for i, line in enumerate(lines) if line.startswith("surefoot ")) :]))
    assert words == [
        *("surefoot", "calibrate", "--fit", "fit.csv", *options),
        *("--method", "beta", "--save", "calibrator.json"),
    ]
    assert run(words[1:]) == 0
    assert run(["calibrate", "--load", "calibrator.json", "--apply", "new.csv", "-o", "fixed.csv", *options[2:4]]) == 0
    label = "yes" if positive else 1
    before = sf.assess("new.csv", truth="label", probabilities="risk", of="event", pos_label=label)
    after = sf.assess("fixed.csv", truth="label", probabilities="calibrated_risk", of="event", pos_label=label)
    assert before.verdict in ("overpredicts", "too extreme")
    assert after.verdict in ("no evidence against calibration", "inconclusive")
    assert abs(after.risk.oe_ratio - 1) < 0.08


def _printed_command(text: str) -> list[str]:
    """The first command of the next steps, as a shell would read it."""
    lines = [line.strip() for line in text.partition("What to do next")[2].splitlines()]
    start = next(i for i, line in enumerate(lines) if line.startswith("surefoot "))
    end = next(i for i, line in enumerate(lines) if i >= start and not line.endswith("\\"))
    return shlex.split(" ".join(line.removesuffix("\\").strip() for line in lines[start : end + 1]))


@pytest.mark.parametrize("names", [("dead", "alive"), ("dead", "ill", "well")])
def test_an_event_of_several_columns_is_mended_by_itself(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line corrects all classes together, and takes --positive for a single column only."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(6)
    p = rng.dirichlet(np.ones(len(names)), 1500)
    # the first occurs half as often as predicted
    true = p * np.array([0.5, *[1.0] * (len(names) - 1)])
    true[:, 1:] *= ((1 - true[:, 0]) / (1 - p[:, 0]))[:, None]
    y = (true.cumsum(axis=1) < rng.random((1500, 1))).sum(axis=1)
    rows = [",".join([names[k], *map(repr, row)]) for k, row in zip(y, p.tolist(), strict=True)]
    Path("rows.csv").write_text("\n".join(["outcome," + ",".join(f"p_{name}" for name in names), *rows, ""]))
    options = ["--truth", "outcome", "--probabilities", "p_", "--positive", "dead", "--of", "event"]
    assert run(["assess", "rows.csv", *options]) == 0
    assert "surefoot calibrate --fit" not in capsys.readouterr().out
    step = first(sf.assess("rows.csv", truth="outcome", probabilities="p_", of="event", pos_label="dead"))
    assert step.command == "sf.calibrators.Beta().fit(p_event, np.asarray(y_true) == 'dead')"
    values = {"np": np, "sf": sf, "p_event": p[:, 0], "y_true": np.array(names)[y]}
    fixed = eval(step.command, values).predict_proba(p[:, 0])[:, 1]
    assert (y == 0).sum() / fixed.sum() == pytest.approx(1, abs=0.02)


def test_corrected_rows_are_assessed_by_their_corrected_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The old column is still beside it, and detected first."""
    monkeypatch.chdir(tmp_path)
    p = 1 / (1 + np.exp(-X - 1))
    Path("rows.csv").write_text(
        "\n".join(["died,risk", *(f"{y},{q!r}" for y, q in zip(Y, p.tolist(), strict=True)), ""])
    )
    assert run(["assess", "rows.csv", "--of", "event"]) == 0
    assert "and assess their column calibrated_risk:" in " ".join(capsys.readouterr().out.split())


def test_the_printed_command_names_the_table_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sqlite3

    monkeypatch.chdir(tmp_path)
    p = (1 / (1 + np.exp(-X - 1))).tolist()
    with sqlite3.connect("ward.db") as ward:
        for name in ("patients", "controls"):
            ward.execute(f"create table {name} (died integer, risk real)")
            ward.executemany(f"insert into {name} values (?, ?)", zip(Y.tolist(), p, strict=True))
    ward.close()
    assert run(["assess", "ward.db", "--table", "patients", "--of", "event"]) == 0
    words = _printed_command(capsys.readouterr().out)
    assert words[words.index("--table") + 1] == "patients"
    assert run(words[1:]) == 0


@pytest.mark.parametrize(("y", "start"), [(0, "No row has the event: "), (1, "Every row has the event: ")])
def test_outcomes_that_are_all_the_same_are_checked_first(y: int, start: str) -> None:
    a = sf.assess([y] * 200, np.linspace(0.3, 0.7, 200), labels=[0, 1], of="event")
    assert a.verdict == ("underpredicts" if y else "overpredicts")
    (step,) = next_steps(a)
    assert step.words.startswith(start)
    assert not step.command


def test_the_python_call_mends_an_event_and_every_class() -> None:
    truth = np.array(["alive", "died"])[Y]
    p = 1 / (1 + np.exp(-1.5 * X - 0.8))
    names = {"np": np, "sf": sf, "p_event": p[:1500], "y_true": truth[:1500].tolist()}
    options = {"labels": ["alive", "died"], "of": "event", "pos_label": "died"}
    step = first(sf.assess(y_true=truth, probabilities=p, **options))  # type: ignore[arg-type]
    assert step.command == "sf.calibrators.Beta().fit(p_event, np.asarray(y_true) == 'died')"
    fixed = eval(step.command, names).predict_proba(p[1500:])[:, 1]
    after = sf.assess(y_true=truth[1500:], probabilities=fixed, **options)  # type: ignore[arg-type]
    assert after.verdict in ("no evidence against calibration", "inconclusive")

    rng = np.random.default_rng(8)
    scores = rng.normal(0, 1.5, (4000, 4))
    table = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = (table.cumsum(axis=1) < rng.random((4000, 1))).sum(axis=1)
    sharp = table**2.2 / (table**2.2).sum(axis=1, keepdims=True)
    raw = sf.assess(y_true=labels[2000:], probabilities=sharp[2000:], of="classes")
    step = first(raw)
    assert step.command == "sf.calibrators.Beta().fit(probabilities, y_true)"
    model = eval(step.command, {"sf": sf, "probabilities": sharp[:2000], "y_true": labels[:2000]})
    mended = sf.assess(y_true=labels[2000:], probabilities=model.predict_proba(sharp[2000:]), of="classes")
    assert (raw.verdict, mended.verdict) == ("too extreme", "inconclusive")
    assert mended.metrics["ece"] < 0.5 * raw.metrics["ece"]


def test_commands_repeat_the_delimiter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{y};{p:.6f}" for y, p in zip(Y, SHARP, strict=True)]
    Path("semi.csv").write_text("\n".join(["label;p", *lines, ""]))
    from surefoot.assessment.assess import with_source
    from surefoot.files.reading import read

    reading = read("semi.csv", {}, delimiter=";")
    a = with_source(sf.assess(reading.held), reading, None, None)
    for step in next_steps(a):
        words = shlex.split(step.command)
        assert words[words.index("--delimiter") + 1] == ";"
        assert run([*words[1:], *(["--save", "c.json"] if "calibrate" in words else [])]) == 0


@pytest.mark.parametrize(("rows", "is_enough"), [(1, False), (2, False), (3, True)])
def test_recalibration_is_offered_where_it_can_be_fitted(rows: int, is_enough: bool) -> None:
    correct, confidence = np.arange(rows) > 1, np.full(rows, 1 - 1e-9)
    a = sf.assess(correct=correct, confidence=confidence)
    assert a.verdict == "overconfident"
    step = first(a)
    assert bool(step.command) == is_enough
    if is_enough:
        eval(step.command, {"sf": sf, "np": np, "correct": correct, "confidence": confidence})
    else:
        assert step.words.startswith("Label more rows: a calibrator cannot be fitted to")


def _runs(a: sf.Assessment, command: str) -> object:
    """What a printed call gives where nothing but the assessment is at hand."""
    return eval(command, {"sf": sf, "np": np, "a": a})


@pytest.mark.parametrize(
    "given",
    [
        {"y_true": Y, "probabilities": SHARP},
        {"y_true": np.array(["no", "yes"])[Y], "probabilities": SHARP, "pos_label": "yes"},
        {"y_true": np.array(["no", "yes"])[Y], "probabilities": 1 - SHARP, "pos_label": "no"},
        {"y_true": Y, "probabilities": 3 * X, "from_logits": True},
        {
            "y_true": np.array(["b", "a"])[Y],
            "probabilities": np.column_stack([1 - SHARP, SHARP]),
            "labels": ["b", "a"],
        },
        {"correct": (SHARP > 0.5) == Y, "confidence": np.maximum(SHARP, 1 - SHARP), "attempted": np.abs(X) > 0.5},
        {"y_true": Y, "probabilities": np.column_stack([1 - SHARP, SHARP]), "attempted": np.abs(X) > 0.5},
    ],
    ids=["one column", "words", "the other word", "logits", "order of labels", "attempted", "attempted, classes"],
)
def test_printed_calls_read_the_rows_as_the_assessment_did(given: dict) -> None:
    a = sf.assess(**given)
    assert a.verdict == "overconfident"
    recalibrate, act_alone = next_steps(a)
    found = _runs(a, recalibrate.command)
    assert found.trials["raw"].is_risky
    alone = _runs(a, act_alone.command)
    offered = next(offer for offer in a.offers if offer.threshold == alone.threshold)
    assert alone.coverage == offered.coverage
    assert alone.not_attempted == a.not_attempted


@pytest.mark.parametrize("least", [0.5, 0.2])
def test_a_graded_file_is_loaded_by_the_call_that_is_printed(
    least: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else is called rows, or a, where the command line prints it."""
    rng = np.random.default_rng(2)
    confidence = rng.uniform(least, 1, 3000)
    grade = np.where(rng.random(3000) < confidence**2, "CORRECT", "INCORRECT").astype(object)
    grade[::5] = "NOT_ATTEMPTED"
    lines = (f"{c:.6f};{g};0" for c, g in zip(confidence, grade, strict=True))
    (tmp_path / "log.csv").write_text("sure;grade;confidence\n" + "\n".join(lines))
    monkeypatch.chdir(tmp_path)
    a = sf.assess("log.csv", confidence="sure", correct="grade")
    assert (a.verdict, a.not_attempted) == ("overconfident", 600)
    step = first(a)
    assert "in Python with rows = sf.load('log.csv', " in step.words
    loaded = step.words.split("with rows = ")[1].split(" (cross")[0]
    names = {"sf": sf, "np": np, "rows": eval(loaded, {"sf": sf})}
    assert names["rows"].confidence.tolist() == a.predictions.confidence.tolist()
    assert names["rows"].not_attempted == 600
    assert eval(step.command, names) is not None


def test_weights_and_the_order_of_labels_stay_in_the_call_that_corrects_events() -> None:
    weight = np.where(Y == 1, 0.1, 1.0)
    a = sf.assess(Y, SHARP, of="event", sample_weight=weight)
    call = first(a).command
    assert call == "sf.calibrators.Beta().fit(p_event, np.asarray(y_true) == 1, sample_weight)"
    names = {"sf": sf, "np": np, "p_event": SHARP, "y_true": Y, "sample_weight": weight}
    after = sf.assess(Y, eval(call, names).predict_proba(SHARP)[:, 1], of="event", sample_weight=weight)
    assert after.risk.oe_ratio == pytest.approx(1, abs=0.01)
    # the command takes no weights, and would make matters worse
    named = replace(a, path="x.csv", options=("--truth", "y", "--probabilities", "p", "--weight", "w"))
    assert "in Python" in first(named).words
    assert first(named).command == call
    names = np.array(["b", "a", "c"])
    table = np.random.default_rng(3).dirichlet(np.ones(3) / 3, 2000)
    y = names[(table.cumsum(axis=1) < np.random.default_rng(4).random(2000)[:, None]).sum(axis=1).clip(0, 2)]
    flat = 0.5 * table + 0.5 / 3
    classes = sf.assess(y, flat, labels=names.tolist(), of="classes")
    assert first(classes).command == "sf.calibrators.Beta().fit(probabilities, y_true, labels=labels)"


def test_labels_are_checked_before_a_ranking_is_turned_around() -> None:
    a = sf.assess(Y, 1 - 1 / (1 + np.exp(-0.2 * X)), of="event", sample_weight=np.linspace(1, 2, len(Y)))
    assert "Check the labels" in first(a).words
    assert not first(a).command
    one_class = sf.assess([0] * 300, np.full((300, 3), [0.6, 0.2, 0.2]), of="classes", labels=[0, 1, 2])
    assert "Every row is of one class" in first(one_class).words


@pytest.mark.parametrize("right", [True, False])
def test_outcomes_that_are_all_alike_are_checked_first(right: bool) -> None:
    """A calibrator fitted to them calls every prediction certain."""
    confidence = np.random.default_rng(3).uniform(0.5, 0.8, 400)
    a = sf.assess(correct=np.full(400, right), confidence=confidence)
    step = next_steps(replace(a, warnings=()))[0]
    assert step.words.startswith(f"Every prediction is {'right' if right else 'wrong'}: check the labels")
    assert not step.command


def test_the_call_for_a_file_of_low_confidences_names_the_rows_that_it_loads(tmp_path) -> None:
    rng = np.random.default_rng(5)
    confidence = rng.uniform(0.3, 1, 2000)
    path = tmp_path / "low.csv"
    lines = [
        f"{int(right)},{c!r}" for right, c in zip(rng.random(2000) < confidence**2, confidence.tolist(), strict=True)
    ]
    path.write_text("correct,confidence\n" + "\n".join(lines) + "\n")
    step = first(sf.assess(path))
    assert step.command == "sf.calibrators.Beta().fit(rows.confidence, rows.correct)"
    load = re.search(r"with rows = (sf\.load\(.*?\)) \(cross", step.words)
    eval(step.command, {"sf": sf, "rows": eval(load[1], {"sf": sf})})
