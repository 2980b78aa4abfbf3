# ruff: noqa: E501 (code for another process is long lines)
"""The real half of the paper: the whole pipeline on one small data set, resumed after a kill, without a network."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.isotonic import IsotonicRegression

from surefoot.cli import run
from surefoot.paper import datasets, document, models, protocol, search, training
from surefoot.paper.claims import count, real_claims
from surefoot.paper.datasets import SETS, MissingData, load
from surefoot.paper.document_real import real_part
from surefoot.paper.simulation import Plan
from surefoot.paper.yardstick import RealCell, compare, share_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Breast cancer, in the form in which data sets lie in a folder."""
    X, y = load_breast_cancer(return_X_y=True)
    columns = {f"x{i}": X[:, i] for i in range(X.shape[1])}
    folder = tmp_path / "data"
    folder.mkdir()
    pq.write_table(pa.table({**columns, "target": y}), folder / "breast_cancer.parquet")
    return folder


def test_the_whole_pipeline(data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    given = ["paper", "real", "-o", str(out), "--data", str(data), "--datasets", "breast_cancer", "--trials", "3",
             "--folds", "3", "--seeds", "42,1"]  # fmt: skip
    assert run(given) == 0
    rows = (out / "real-page.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 3
    found = {
        ("breast_cancer", seed): json.loads((out / f"real-breast_cancer-page-{seed}.json").read_text())
        for seed in (42, 1)
    }
    for own in found.values():
        assert own["raw"]["acc"] == own["isotonic"]["acc"] == own["platt"]["acc"] > 0.9
        assert own["raw"]["n"] == 114
        assert own["raw"]["auc"] == pytest.approx(own["platt"]["auc"], abs=1e-9)
        assert own["raw"]["delta_cwa"] == own["raw"]["cwa"] - own["raw"]["acc"]
        # each split has a search of its own, of six times three trials on so small a set
        assert own["model"]["searches_each"]
        assert own["model"]["setting"]["trials"] == 18
        assert own["model"]["train"] == 341
    assert found["breast_cancer", 42]["model"] != found["breast_cancer", 1]["model"]
    cells = compare(found)
    assert all(one.least <= one.most for one in cells)
    # sixteen columns of three regimes, accuracy once
    assert share_of(cells).cells == 16 * 3 - 2
    assert share_of(cells).share_expected == pytest.approx(1 / 3)
    assert count(found)["raw"].splits == 2
    # what is done is not done again
    began = time.monotonic()
    assert run(given) == 0
    assert time.monotonic() - began < 5
    page = "\n".join(real_part(found, {"unweighted": found}))
    assert "| breast_cancer, no post-hoc | " in page
    assert len(real_claims(found, found)) == 9
    # one set of eleven decides nothing that the printed tables leave open
    judged = [line.split(" | ")[1] for line in page.splitlines() if line.startswith(("| Raw models are", "| cwA is"))]
    table = "the text contradicts its own table"
    assert judged == ["not judged: some data sets were not run", table, table]
    # what is said of ranges is not said of a single split
    single = {key: own for key, own in found.items() if key[1] == 42}
    alone = "\n".join(real_part(single, {"mean-round": single, "unweighted": single}))
    assert "Of a single split there is no range" in alone
    assert "of the continuous printed cells" not in alone
    assert "### By column" not in alone


def test_all_writes_the_numbers_of_each_split_beside_the_page(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # one set, hardly any simulation, and of the page that it is written
    monkeypatch.setattr(datasets, "SETS", {"breast_cancer": SETS["breast_cancer"]})
    monkeypatch.setattr(Plan, "like_the_paper", classmethod(lambda cls, seed=0: cls({100: 8}, seed, 4)))
    monkeypatch.setattr(document, "document", lambda *given: "a page\n")
    out = tmp_path / "out"
    assert run(["paper", "all", "--fast", "-o", str(out), "--data", str(data)]) == 0
    assert "paper.json" in capfd.readouterr().out
    assert (out / "paper.md").read_text() == "a page\n"
    written = json.loads((out / "paper.json").read_text())
    assert sum(written["runs"][0].values()) == 4
    assert [row["protocol"] for row in written["splits"]] == list(protocol.PROTOCOLS)
    found = json.loads((out / "real-breast_cancer-page-42.json").read_text())
    own = written["splits"][0]
    assert (own["set"], own["split"], own["rounds"]) == ("breast_cancer", 42, found["model"]["rounds"])
    for regime in ("raw", "isotonic", "platt"):
        assert own[regime] == pytest.approx({column: found[regime][column] for column in own[regime]}, rel=1e-9)
        assert {"csr", "sigma", "certain_wrong", "p_risk_1e-12"} <= set(own[regime])
    assert set(written["splits"][-1]["raw"]) == {"csr", "sigma"}
    # of a single split both ends are its number; sixteen columns of three regimes, accuracy once
    ends = written["ranges"][0]
    assert sum(len(ends[regime]) for regime in ("raw", "isotonic", "platt")) == 16 * 3 - 2
    assert ends["raw"]["brier"] == [pytest.approx(found["raw"]["brier"], rel=1e-9)] * 2


def test_a_range_reaches_half_a_digit_further() -> None:
    def cell(printed: float, *ours: float) -> RealCell:
        return RealCell("liver", "isotonic", "csr", printed, ours)

    assert [cell(x, 0.2, 0.3).side for x in (0.1999, 0.19996, 0.25, 0.30004, 0.3001)] == [-1, 0, 0, 0, 1]
    # above 1 the slack is relative: 32 of 649,352
    large = cell(649_352.0, 649_352.4, 1_948_053.0)
    assert large.is_inside
    assert large.is_inside_by_slack
    assert cell(649_300.0, 649_352.4, 1_948_053.0).side == -1
    assert not cell(0.30004, 0.2, 0.3).is_inside_by_slack
    assert not cell(0.4, 0.2, 0.3).is_inside_by_slack


def test_the_final_model_is_stopped_early_on_the_calibration_part(data: Path) -> None:
    made = load("breast_cancer", data)
    parts = training.split(made, 42)
    options = {"rounds": 400, "is_weighted": True}
    early = training.train(made, parts, {"max_depth": 3, "eta": 0.3}, stops_early=True, **options)
    assert 1 < early.rounds < 400
    # the best round is the one that a model of so many rounds speaks from
    fixed = training.train(
        made, parts, {"max_depth": 3, "eta": 0.3}, rounds=early.rounds, stops_early=False, is_weighted=True
    )
    np.testing.assert_allclose(early.test, fixed.test, rtol=1e-6)
    fit = made.classes[parts.calibration]
    losses = {
        rounds: training.log_loss(
            training.train(
                made, parts, {"max_depth": 3, "eta": 0.3}, rounds=rounds, stops_early=False, is_weighted=True
            ).calibration,
            fit,
        )
        for rounds in (early.rounds - 1, early.rounds, early.rounds + 1)
    }
    assert min(losses, key=lambda rounds: losses[rounds]) == early.rounds


def test_platt_and_isotonic_are_scikit_learn_s() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    both = np.stack([1 - p, p], axis=1)
    fit, test = both[:200], both[200:]
    expected = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1).fit(fit[:, 1], y[:200]).predict(test[:, 1])
    assert training.calibrate("isotonic", fit, y[:200], test)[:, 1] == pytest.approx(expected)
    platt = training.calibrate("sigmoid", fit, y[:200], test)
    assert platt.sum(axis=1) == pytest.approx(1)
    assert (np.diff(platt[np.argsort(test[:, 1]), 1]) >= 0).all()


def test_a_killed_search_goes_on_after_its_last_whole_trial(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    code = (
        "import sys; from pathlib import Path; from surefoot.paper.datasets import load; from surefoot.paper.search import Search; "
        f"s = Search('breast_cancer', load('breast_cancer', Path({str(data)!r})), Path({str(out)!r}), seed=42, folds=3); "
        "s.run(500, lambda done: print(done, flush=True))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    last = 0
    while last < 4:
        last = int(process.stdout.readline())
    process.kill()
    process.communicate()
    resumed = search.Search("breast_cancer", load("breast_cancer", data), out, seed=42, folds=3)
    done = resumed.done()
    assert done >= last
    tuned = resumed.run(done + 1)
    assert resumed.done() == done + 1
    assert tuned.rounds >= 1


def test_without_network_and_folder_it_says_what_is_missing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sklearn.datasets

    def offline(**given: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    for name, said in (("diabetes", "OpenML could not be reached"), ("obesity", "we know of no copy at OpenML")):
        out = tmp_path / name
        assert run(["paper", "real", "-o", str(out), "--datasets", name, "--fast"]) == 3
        error = capfd.readouterr().err.splitlines()
        assert said in error[-1]
        assert list(out.iterdir()) == []
    assert run(["paper", "real", "-o", str(tmp_path), "--datasets", "nonsense"]) == 2


def test_sets_that_are_there_run_beside_those_that_are_not(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    given = ["paper", "real", "-o", str(out), "--data", str(data), "--tuned", "--seeds", "42"]
    assert run([*given, "--datasets", "obesity,breast_cancer"]) == 3
    shown = capfd.readouterr()
    assert f"data set obesity is missing: looked for obesity.parquet in {data}" in shown.err.splitlines()[-1]
    assert "Wrote" in shown.out
    assert (out / "real-page.csv").read_text().count("breast_cancer,42,") == 3


def test_a_folder_that_is_not_there_is_no_reason_to_download(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import sklearn.datasets

    asked: list[object] = []
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **given: asked.append(given))
    nowhere, out = tmp_path / "datsets", tmp_path / "out"
    for command in ("real", "figures", "all"):
        assert run(["paper", command, "-o", str(out), "--data", str(nowhere)]) == 3
        assert f"there is no data folder {nowhere}" in capfd.readouterr().err
    assert asked == []
    assert not out.exists()


def test_what_openml_does_not_give_was_looked_for_in_the_folder_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sklearn.datasets

    def offline(**given: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", offline)
    with pytest.raises(MissingData, match=rf"looked for liver.parquet in {tmp_path}; OpenML could not be reached"):
        load("liver", tmp_path)


def test_without_a_search_there_is_none(data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    given = ["paper", "real", "-o", str(out), "--data", str(data), "--datasets", "breast_cancer", "--tuned"]
    assert run([*given, "--seeds", "7"]) == 3
    assert "no parameters of split 7 of breast_cancer come along; leave out --tuned" in capfd.readouterr().err
    assert list(out.iterdir()) == []


@pytest.mark.parametrize("seeds", ["-1", "42,-1", "4294967296", "", "1.5", "a"])
def test_seeds_are_checked(tmp_path: Path, capfd: pytest.CaptureFixture[str], seeds: str) -> None:
    out = tmp_path / "out"
    assert run(["paper", "real", "-o", str(out), "--datasets", "breast_cancer", f"--seeds={seeds}"]) == 2
    assert "it should be whole numbers from 0 to 4294967295" in capfd.readouterr().err
    assert run(["paper", "synthetic", "-o", str(out), "--seed=-1"]) == 2
    assert not out.exists()


def test_all_says_that_it_goes_on_where_it_was_stopped(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "SETS", {name: SETS[name] for name in ("breast_cancer", "liver")})
    monkeypatch.setattr(Plan, "like_the_paper", classmethod(lambda cls, seed=0: cls({100: 8}, seed, 4)))
    monkeypatch.setattr(document, "document", lambda *given: "a page\n")
    given = ["paper", "all", "--fast", "-o", str(tmp_path / "out"), "--data", str(data)]

    def stop(*given: object, **options: object) -> None:
        raise KeyboardInterrupt

    whole = datasets.load
    monkeypatch.setattr(
        models, "load", lambda name, *rest, **options: (stop if name == "liver" else whole)(name, *rest)
    )
    assert run(given) == 130
    assert "the same command goes on from there" in capfd.readouterr().err
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("model-*.npz")}
    assert len(kept) == 4

    def missing(name: str, *rest: object, **options: object) -> datasets.Samples:
        raise MissingData(f"no {name}")

    monkeypatch.setattr(models, "load", missing)
    # what is finished is not done again, nor its data read
    assert run(given) == 3
    assert "no liver" in capfd.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert (tmp_path / "out" / "paper.md").read_text() == "a page\n"


def test_what_openml_sends_is_prepared_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd
    import sklearn.datasets
    from sklearn.utils import Bunch

    frame = pd.DataFrame({"a": [1.0, 2.0, None], "b": ["x", "y", "x"], "class": ["no", "yes", "no"]})
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **given: Bunch(frame=frame, target=frame["class"]))
    found = load("diabetes", None)
    np.testing.assert_array_equal(found.features, [[1, 0], [2, 1], [np.nan, 0]])
    assert found.classes.tolist() == [0, 1, 0]


def test_a_damaged_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "liver.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(MissingData, match="damaged"):
        load("liver", tmp_path)


def test_real_files_as_the_protocol_has_them(real_predictions: Path) -> None:
    folder = real_predictions.parent / "datasets"
    if not folder.exists():
        pytest.skip("no data sets beside the predictions")
    adult = load("adult_income", folder)
    assert (len(adult.classes), int(adult.is_test.sum())) == (45_222, 15_060)  # type: ignore[union-attr]
    assert adult.labels == ("<=50K", ">50K")
    bank = load("bank_marketing", folder)
    assert (bank.features.shape, len(training.split(bank, 42).test)) == ((41_188, 20), 8_238)
    assert load("accelerometer", folder).features.shape == (31_991, 6)
    assert np.isnan(load("higgs_boson", folder).features).any()


def test_parts_are_disjoint_and_stratified() -> None:
    classes = np.repeat([0, 1], [800, 200])
    data = datasets.Samples(np.zeros((1000, 1), dtype=np.float32), classes, (0, 1), None)
    parts = training.split(data, 0)
    assert [len(part) for part in (parts.train, parts.calibration, parts.test)] == [600, 200, 200]
    assert len({*parts.train, *parts.calibration, *parts.test}) == 1000
    assert classes[parts.test].mean() == pytest.approx(0.2)
    assert training.class_weights(classes)[[0, -1]].tolist() == [0.625, 2.5]


def test_parameters_that_come_along_are_whole() -> None:
    kept = json.loads((Path(training.__file__).parent / "tuned.json").read_text())
    assert set(kept) <= set(SETS)
    for name in kept:
        for is_weighted in (True, False):
            tuned = search.stored_setting(name, is_weighted=is_weighted)
            if tuned is not None:
                assert tuned.rounds >= 1
                assert 3 <= tuned.parameters["max_depth"] <= 12
                assert tuned.is_weighted == is_weighted
    budget = protocol.Budget()
    for name in (*protocol.COMPARABLE, "adult_income", "higgs_boson"):
        for seed in budget.seeds_of(name):
            own = search.stored_setting(name, seed=seed)
            assert own is not None
            assert own.trials >= budget.trials_of(name)
            assert 3 <= own.parameters["max_depth"] <= search.DEEPEST
            assert own.rounds < protocol.ROUNDS


def test_the_official_test_part_is_found_in_a_download(monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd
    import sklearn.datasets
    from sklearn.utils import Bunch

    first = (7, 2, 1, 0, 4, 1, 4, 9, 5, 9)
    monkeypatch.setitem(datasets._TESTS, "mnist", datasets.OfficialTest(12, "label", first))
    digits = [5, 0, 4, 1, 9, 2, 1, 3, 1, 4, 3, 5, 3]
    test = [*first, 0, 6]

    def download(target: list[int]) -> object:
        frame = pd.DataFrame({"p1": range(len(target)), "class": pd.Categorical([str(one) for one in target])})
        return lambda **given: Bunch(frame=frame, target=frame["class"])

    for target, where in ((digits + test, slice(13, 25)), (test + digits, slice(0, 12))):
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", download(target))
        found = load("mnist", None)
        assert found.is_test is not None
        assert found.is_test[where].all()
        assert found.is_test.sum() == 12
        assert found.features[:, 0].tolist() == list(range(25))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", download(digits * 2))
    with pytest.raises(MissingData, match="not in the order in which we know its official test part"):
        load("mnist", None)


def test_what_openml_has_not_counts_as_a_question_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd
    import sklearn.datasets
    from sklearn.utils import Bunch

    ages = [25, 38, 28, 44, 18, 34, 29, 63, 24, 55]
    monkeypatch.setitem(datasets._TESTS, "adult_income", datasets.OfficialTest(10, "age", tuple(ages)))
    work = ["a", None, *["b"] * 10]
    frame = pd.DataFrame({"age": [*ages, 1, 2], "work": pd.Categorical(work), "class": ["<=50K", ">50K"] * 6})
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **given: Bunch(frame=frame, target=frame["class"]))
    found = load("adult_income", None)
    assert len(found.classes) == 11
    assert found.is_test is not None
    assert int(found.is_test.sum()) == 9
    assert found.labels == ("<=50K", ">50K")
