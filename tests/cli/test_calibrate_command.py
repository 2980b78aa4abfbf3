"""``surefoot calibrate``."""

import csv
import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from scipy.special import expit

from surefoot._io import documents
from surefoot.assessment.calibrate import calibrate
from surefoot.calibrators import Platt, SafePlatt, Temperature, load
from surefoot.cli import run
from surefoot.errors import InvalidCalibrator


def rows(n: int, seed: int):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2, n)
    return (rng.random(n) < expit(x)).astype(int), expit(3 * x)


def written(path, y, p, *, with_truth: bool = True):
    columns = {"id": np.arange(len(p)), **({"label": y} if with_truth else {}), "prob": p}
    if path.suffix == ".parquet":
        pq.write_table(pa.table(columns), path)
        return path
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_are_corrected_in_their_order(tmp_path, suffix, capsys) -> None:
    y, p = rows(600, 0)
    _, q = rows(50, 1)
    fit, apply = written(tmp_path / f"fit{suffix}", y, p), written(tmp_path / f"new{suffix}", None, q, with_truth=False)
    out, kept = tmp_path / f"out{suffix}", tmp_path / "kept.json"
    arguments = ["calibrate", "--fit", fit, "--apply", apply, "-o", out, "--method", "safe_platt", "--save", kept]
    assert run([*map(str, arguments), "--truth", "label", "--probabilities", "prob"]) == 0
    expected = SafePlatt().fit(p, y).predict_proba(q)[:, 1]
    if suffix == ".csv":
        with out.open() as file:
            found = list(csv.DictReader(file))
    else:
        found = pq.read_table(out).to_pylist()
    assert [int(row["calibrated_predicted"]) for row in found] == (q > 0.5).astype(int).tolist()
    assert list(found[0]) == ["id", "prob", "calibrated_prob", "calibrated_predicted", "calibrated_confidence"]
    assert [float(row["prob"]) for row in found] == q.tolist()
    assert [float(row["calibrated_prob"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-12)
    assert load(kept).predict_proba(q)[:, 1].tolist() == expected.tolist()
    assert "50 rows" in capsys.readouterr().out


def test_without_a_method_one_is_recommended(tmp_path, capsys) -> None:
    fit = written(tmp_path / "fit.csv", *rows(800, 0))
    assert run(["calibrate", "--fit", str(fit)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Recommended: " in said
    assert "exactly 0 or 1" in said
    assert "safe_platt" in said


def test_columns_of_several_classes(tmp_path) -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1, (400, 3))
    table = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    words = np.array(["a", "b", "c"])[(table.cumsum(axis=1) < rng.random((400, 1))).sum(axis=1).clip(0, 2)]
    columns = {"label": words.tolist(), **{f"p_{name}": table[:, i] for i, name in enumerate("abc")}}
    path, out = tmp_path / "fit.jsonl", tmp_path / "out.jsonl"
    path.write_text(
        "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in zip(*columns.values(), strict=True))
    )
    assert run(["calibrate", "--fit", str(path), "--apply", str(path), "-o", str(out), "--method", "platt"]) == 0
    found = [json.loads(line) for line in out.read_text().splitlines()]
    expected = Platt().fit(table, words).predict_proba(table)
    corrected = np.array([[row[f"calibrated_p_{name}"] for name in "abc"] for row in found])
    assert corrected == pytest.approx(expected, rel=1e-9)
    assert [row["label"] for row in found] == words.tolist()
    assert [row["calibrated_predicted"] for row in found] == np.array(["a", "b", "c"])[table.argmax(axis=1)].tolist()


def test_what_cannot_be_done_is_said_and_nothing_written(tmp_path, capsys) -> None:
    y, p = rows(60, 0)
    fit = written(tmp_path / "fit.csv", y, p)
    out = tmp_path / "out.csv"
    other, kept = tmp_path / "other.csv", tmp_path / "kept.json"
    other.write_text("score\n0.5\n")
    for arguments, status, said in (
        (["--method", "best"], 2, "--method is 'best'"),
        (["--apply", str(fit)], 2, "give -o FILE"),
        (
            ["--apply", str(other), "-o", str(out), "--method", "platt", "--save", str(kept)],
            3,
            "there is no column 'prob'",
        ),
        (["--apply", str(fit), "-o", str(fit), "--method", "platt"], 2, "written over"),
        (["--apply", str(fit), "-o", str(tmp_path / "out.xlsx"), "--method", "platt"], 2, "should end in"),
    ):
        assert run(["calibrate", "--fit", str(fit), *arguments]) == status, arguments
        assert said in " ".join(capsys.readouterr().err.split())
        assert not out.exists()
        assert not kept.exists()


def test_lists_and_logits_get_a_column_a_class(tmp_path) -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(0, 2, (300, 3))
    y = (
        (np.cumsum(np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), axis=1) < rng.random((300, 1)))
        .sum(axis=1)
        .clip(0, 2)
    )
    path, out = tmp_path / "rows.jsonl", tmp_path / "out.csv"
    path.write_text(
        "".join(json.dumps({"label": int(a), "logits": b.tolist()}) + "\n" for a, b in zip(y, z, strict=True))
    )
    arguments = ["calibrate", "--fit", str(path), "--apply", str(path), "-o", str(out), "--method", "safe_platt"]
    assert run(arguments) == 0
    with out.open() as file:
        found = list(csv.DictReader(file))
    added = [f"calibrated_{name}" for name in ("p_0", "p_1", "p_2", "predicted", "confidence")]
    assert list(found[0]) == ["label", "logits", *added]
    assert json.loads(found[0]["logits"]) == z[0].tolist()
    expected = SafePlatt(from_logits=True).fit(z, y).predict_proba(z)
    assert [float(row["calibrated_p_2"]) for row in found] == pytest.approx(expected[:, 2].tolist(), rel=1e-9)


def test_confidences_in_answers_are_corrected_and_nothing_is_decided(tmp_path, capsys) -> None:
    rng = np.random.default_rng(0)
    stated = rng.choice([0.1, 0.5, 0.9], 600)
    right = rng.random(600) < stated
    lines = [json.dumps({"correct": bool(y), "confidence": float(c)}) for y, c in zip(right, stated, strict=True)]
    log, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    log.write_text("\n".join(lines) + "\n")
    columns = ["--truth", "correct", "--probabilities", "confidence", "--method", "platt"]
    assert run(["calibrate", "--fit", str(log), *columns, "--apply", str(log), "-o", str(out)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "--correct correct --confidence calibrated_confidence" in told
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert list(found[0]) == ["correct", "confidence", "calibrated_confidence"]
    # calibrated already: a stated 10% stays near 10%
    low = [row["calibrated_confidence"] for row in found if row["confidence"] == 0.1]
    assert 0.03 < low[0] < 0.2


def _in_percent(path, y, p, *, sign: str):
    columns = "label,prob\n" if y is not None else "prob\n"
    first = [""] * len(p) if y is None else [f"{one}," for one in y]
    path.write_text(columns + "".join(f"{a}{100 * x:.1f}{sign}\n" for a, x in zip(first, p, strict=True)))
    return str(path)


@pytest.mark.parametrize("sign", ["", "%"])
def test_percentages_are_corrected_like_the_shares_that_they_are(tmp_path, sign, capsys) -> None:
    y, p = rows(600, 0)
    _, q = rows(50, 1)
    p, q = p.clip(0.011, 0.98).round(3), q.clip(0.011, 0.98).round(3)
    fit, new = _in_percent(tmp_path / "fit.csv", y, p, sign=sign), _in_percent(tmp_path / "new.csv", None, q, sign=sign)
    kept, expected = str(tmp_path / "kept.json"), SafePlatt().fit(p, y).predict_proba(q)[:, 1]
    made = (["--fit", fit, "--method", "safe_platt", "--save", kept], ["--load", kept])
    for number, start in enumerate(made):
        out = tmp_path / f"{number}.csv"
        assert run(["calibrate", *start, "--apply", new, "-o", str(out)]) == 0
        assert ("new.csv: Confidences are read as percentages" in " ".join(capsys.readouterr().out.split())) == (
            not sign
        )
        with out.open() as file:
            found = list(csv.DictReader(file))
        assert [row["prob"] for row in found] == [f"{100 * x:.1f}{sign}" for x in q]
        assert [float(row["calibrated_prob"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-9)
        assert [int(row["calibrated_predicted"]) for row in found] == (q > 0.5).astype(int).tolist()


def test_files_on_two_scales_are_refused(tmp_path, capsys) -> None:
    """Percentages below 1 look like shares: 0.4 beside 85 would be taken for 40%."""
    y, p = rows(60, 0)
    p = p.clip(0.011, 0.98).round(3)
    percent, share = _in_percent(tmp_path / "percent.csv", y, p, sign=""), str(written(tmp_path / "share.csv", y, p))
    out, method = str(tmp_path / "out.csv"), ["--method", "platt"]
    for fit, new in ((percent, share), (share, percent)):
        commands = (
            ["calibrate", "--fit", fit, "--apply", new, "-o", out, *method],
            ["expect", new, "--reference", fit],
        )
        for command in commands:
            assert run(command) == 2, command
            said = " ".join(capsys.readouterr().err.split())
            assert "write both on one scale, or pass --percent if both are percentages" in said
    (tmp_path / "rare.csv").write_text("prob\n0.4\n0.5\n")
    rare, expected = str(tmp_path / "rare.csv"), Platt().fit(p, y).predict_proba(np.array([0.004, 0.005]))[:, 1]
    assert run(["calibrate", "--fit", percent, "--apply", rare, "-o", out, *method]) == 2
    assert run(["calibrate", "--fit", percent, "--apply", rare, "-o", out, *method, "--percent"]) == 0
    with open(out) as file:
        found = [float(row["calibrated_prob"]) for row in csv.DictReader(file)]
    assert found == pytest.approx(expected.tolist(), rel=1e-9)
    capsys.readouterr()
    (tmp_path / "gap.csv").write_text('prob\n40\n""\n')
    assert run(["calibrate", "--fit", percent, "--apply", str(tmp_path / "gap.csv"), "-o", out, *method]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "row 2: prob is missing" in said
    assert "--drop-missing" not in said
    assert "fill it in, or drop the row" in said


def test_a_saved_calibrator_comes_with_the_command_that_applies_it(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    y, p = rows(400, 0)
    table = pa.table({"died": y, "my risk": p})
    for name in ("fit.parquet", "NEW.csv"):
        path = tmp_path / name
        pq.write_table(table, path) if path.suffix == ".parquet" else pa_csv.write_csv(table, path)
    named = ["--truth", "died", "--probabilities", "my risk"]
    assert run(["calibrate", "--fit", "fit.parquet", *named, "--method", "beta", "--save", "kept.json"]) == 0
    command = capsys.readouterr().out.partition("To correct new rows:")[2].split("\n")[0]
    _, *arguments = shlex.split(command)
    assert run(arguments) == 0
    with (tmp_path / "fixed.csv").open() as file:
        found = [float(row["calibrated_my risk"]) for row in csv.DictReader(file)]
    assert found == pytest.approx(load(tmp_path / "kept.json").predict_proba(p)[:, 1].tolist(), rel=1e-12)


@pytest.mark.parametrize(("decimals", "is_written"), [(2, "0.995"), (3, "0.9995")])
def test_a_one_in_text_was_rounded_as_assess_reads_it(tmp_path, capsys, decimals, is_written) -> None:
    y, p = rows(600, 0)
    p = p.round(decimals)
    assert (p == 1).any()
    assert (p == 0).any()
    fit, out, kept = written(tmp_path / "fit.csv", y, p), tmp_path / "out.csv", str(tmp_path / "kept.json")
    named = ["--truth", "label", "--probabilities", "prob"]
    assert run(["calibrate", "--fit", str(fit), *named, "--method", "temperature", "--save", kept]) == 0
    at_ends = int(((p == 0) | (p == 1)).sum())
    said = f"{at_ends} of 600 rows have a probability of 1 or 0 that was rounded; 1 is read as {is_written}"
    assert said in " ".join(capsys.readouterr().out.split())
    half = 0.5 * 10.0**-decimals
    expected = Temperature().fit(p.clip(half, 1 - half), y).predict_proba(p.clip(half, 1 - half))[:, 1]
    assert run(["calibrate", "--load", kept, "--apply", str(fit), "--probabilities", "prob", "-o", str(out)]) == 0
    with out.open() as file:
        found = list(csv.DictReader(file))
    assert [float(row["calibrated_prob"]) for row in found] == pytest.approx(expected.tolist(), rel=1e-9)
    # the column itself stays as it was written, and the order of rows too
    assert [float(row["prob"]) for row in found] == p.tolist()
    assert expected[p == 1].min() > expected[p < 1].max()


def test_a_one_in_text_of_several_classes_was_rounded(tmp_path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    table = np.array([[1, 0, 0], [0.25, 0.5, 0.25], [0.01, 0, 0.99]])[rng.integers(0, 3, 300)]
    lines = ["label,p_0,p_1,p_2", *(f"{a},{','.join(map(str, b))}" for a, b in zip(y, table.tolist(), strict=True))]
    path, out = tmp_path / "fit.csv", tmp_path / "out.csv"
    path.write_text("\n".join(lines) + "\n")
    assert run(["calibrate", "--fit", str(path), "--apply", str(path), "-o", str(out), "--method", "temperature"]) == 0
    with out.open() as file:
        found = np.array([[float(row[f"calibrated_p_{k}"]) for k in range(3)] for row in csv.DictReader(file)])
    read = np.where((table == 1).any(axis=1)[:, None], [0.995, 0.0025, 0.0025], table)
    assert found == pytest.approx(Temperature().fit(read, y).predict_proba(read), rel=1e-9)


def test_certainty_with_all_digits_is_certainty(tmp_path, capsys) -> None:
    y, p = rows(600, 0)
    p[:3] = 1.0
    path = written(tmp_path / "fit.parquet", y, p)
    named = ["--truth", "label", "--probabilities", "prob"]
    assert run(["calibrate", "--fit", str(path), *named, "--method", "safe_platt"]) == 0
    assert "rounded" not in capsys.readouterr().out


def test_the_table_says_both_that_there_is_a_proof_and_that_rows_are_risky(tmp_path, capsys) -> None:
    """Held-out rows of another kind are risky whatever was fitted; what "risky" means stands below."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.6, 0.99, 4000)
    is_held = np.isin(np.arange(4000), np.random.default_rng(0).permutation(4000)[:2000])
    y = (rng.random(4000) < np.where(is_held, 0.5, p)).astype(int)
    found = calibrate(y, p)
    assert found.trials["safe_platt"].is_risky
    fit = written(tmp_path / "fit.parquet", y, p)
    assert run(["calibrate", "--fit", str(fit), "--truth", "label", "--probabilities", "prob"]) == 0
    printed = capsys.readouterr().out
    (line,) = (line for line in printed.splitlines() if line.split()[:1] == ["safe_platt"])
    assert line.endswith("yes risky")
    meaning = (
        "risky: on the held-out rows too many errors, in all or in one range of confidence (omnibus p at most 0.01)."
    )
    assert meaning in " ".join(printed.split())
    assert meaning in " ".join(str(found).split())


def _mail(path, order, seed: int, *, called=("p_a", "p_b")):
    """Rows of ham and spam, their probabilities in columns that are not called so."""
    rng = np.random.default_rng(seed)
    spam = rng.uniform(0.02, 0.98, 400).round(4)
    held = {called[0]: 1 - spam, called[1]: spam}
    label = np.where(rng.random(400) < spam**2, "spam", "ham")
    pa_csv.write_csv(pa.table({"label": label, **{called[i]: held[called[i]] for i in order}}), path)
    return held[called[1]]


def test_columns_of_a_saved_calibrator_are_known_by_their_names(tmp_path, capsys) -> None:
    fit, kept, out = tmp_path / "fit.csv", tmp_path / "kept.json", tmp_path / "out.csv"
    _mail(fit, (0, 1), 0)
    assert run(["calibrate", "--fit", str(fit), "--method", "safe_platt", "--save", str(kept)]) == 0
    apply = ["calibrate", "--load", str(kept), "--apply", str(tmp_path / "new.csv"), "-o", str(out)]
    spam = _mail(tmp_path / "new.csv", (1, 0), 1)
    assert run(apply) == 0
    found = pa_csv.read_csv(out)
    assert (np.array(found["calibrated_predicted"]) == np.where(spam > 0.5, "spam", "ham")).all()
    np.testing.assert_allclose(
        np.array(found["calibrated_p_b"]), load(kept).predict_proba(np.stack([1 - spam, spam], axis=1))[:, 1]
    )
    # called after the labels, they are known as well
    _mail(tmp_path / "new.csv", (1, 0), 1, called=("p_ham", "p_spam"))
    assert run(apply) == 0
    assert pa_csv.read_csv(out)["calibrated_predicted"] == found["calibrated_predicted"]
    capsys.readouterr()
    _mail(tmp_path / "new.csv", (1, 0), 1, called=("p_x", "p_y"))
    assert run(apply) == 3
    assert "columns of probabilities are 'p_y', 'p_x', and the calibrator was fitted to 'p_a', 'p_b'" in " ".join(
        capsys.readouterr().err.split()
    )


def test_a_calibrator_without_names_of_columns_says_which_it_takes_for_what(tmp_path, capsys) -> None:
    spam = _mail(tmp_path / "new.csv", (0, 1), 1)
    given = np.stack([1 - spam, spam], axis=1)
    SafePlatt().fit(given, np.where(spam > 0.6, "spam", "ham"), labels=["ham", "spam"]).save(tmp_path / "kept.json")
    out = tmp_path / "out.csv"
    assert (
        run(["calibrate", "--load", str(tmp_path / "kept.json"), "--apply", str(tmp_path / "new.csv"), "-o", str(out)])
        == 0
    )
    assert "in the order of its classes: p_a of ham, p_b of spam" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("columns", [["p_a"], ["p_a", "p_a"], ["p_a", 1], "p_a"])
def test_names_of_columns_that_do_not_fit_are_damage(columns, tmp_path) -> None:
    Platt().fit([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1]).save(tmp_path / "kept.json")
    body = json.loads((tmp_path / "kept.json").read_text())
    body = {key: value for key, value in body.items() if key not in ("surefoot", "schema", "sha256")}
    documents.write(tmp_path / "kept.json", "calibrator", 1, {**body, "columns": columns})
    with pytest.raises(InvalidCalibrator, match="columns"):
        load(tmp_path / "kept.json")
