"""A tally of labelled rows of another time: reliability against it, and what to expect of rows without labels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from tests.service.serving import sample

pytest.importorskip("starlette", reason="starlette is not installed")

from surefoot._io import documents
from surefoot.service.app import App
from surefoot.service.database import connect
from surefoot.service.reference import rows_with
from surefoot.service.service import Service
from surefoot.service.tokens import Grant
from tests.service.test_app import PATH, Client


@pytest.fixture
def service(tmp_path: Path):
    made = Service(connect(str(tmp_path / "store.db")))
    yield made
    made.stop()


@pytest.fixture
def client(service):
    return Client(App(service), service.tokens.create(Grant.parse("*")))


def tally_of(rows: int, seed: int = 0, honest: float = 0.95):
    confidence, correct = sample(rows, seed, honest)
    known = sf.Predictions.from_correct(correct, confidence)
    return known, sf.tally(known)


def test_expectations_are_those_of_expect_on_the_same_rows(client, service) -> None:
    known, tally = tally_of(3_000)
    assert client("PUT", f"{PATH}/reference", content=tally.to_text().encode()).json() == {"rows": 3_000}
    state = client.get(f"{PATH}/state").json()
    assert (state["reference"]["rows"], state["reference"]["verdict"]) == (3_000, sf.assess(known).verdict)
    assert state["expected"] == {"rows": 0, "reason": "no prediction awaits its label"}
    confidence, _ = sample(500, seed=5)
    client.post(f"{PATH}/predictions", [{"id": i, "confidence": float(c)} for i, c in enumerate(confidence)])
    service._expected.clear()
    found = client.get(f"{PATH}/state").json()["expected"]
    own = sf.expect(sf.Predictions.unlabelled(confidence=confidence), reference=known)
    assert found["rows"] == 500
    for name in ("accuracy", "cw_accuracy", "brier", "errors"):
        # the tally's table by doubt is exact up to 4,096 values, so the rows are the same
        assert found["metrics"][name]["value"] == pytest.approx(own[name].value, rel=1e-6)
        assert found["metrics"][name]["low"] == pytest.approx(own[name].low, rel=1e-6)
    assert "concept drift" in " ".join(found["limits"])
    assert "no classes" in " ".join(found["limits"])
    client.post(f"{PATH}/labels", [{"id": i, "correct": True} for i in range(200)])
    page = client.get("/models/fraud/3").text
    assert "Accuracy and confidence in the reference" in page
    assert "Expected of predictions without labels" in page
    assert "concept drift" in page


def test_a_large_reference_is_thinned_and_keeps_its_shares() -> None:
    known, tally = tally_of(50_000)
    counts = sf.assess(tally).counts
    assert counts is not None
    rows = rows_with(counts).rows()
    assert abs(len(rows) - 20_000) <= 1
    assert np.mean(rows.correct) == pytest.approx(np.mean(known.rows().correct), abs=1e-4)
    assert sf.csr(rows) == pytest.approx(sf.csr(known), rel=0.01)


def test_only_a_tally_of_predictions_may_be_one(client, service) -> None:
    _, tally = tally_of(200)
    event = sf.Predictions.from_probabilities([0, 1] * 50, np.full(100, 0.4), pos_label=1, of="event")
    weighted = sf.Predictions.from_correct([True, False, True], [0.9, 0.8, 0.7], sample_weight=[1, 2, 3])
    damaged = json.loads(tally.to_text())
    damaged["terms"] = 7
    for body, said in (
        (b"", "no tally"),
        (b"[" * 100_000, "no tally"),
        (b"\xff\xfe", "no tally"),
        (json.dumps(damaged).encode(), "no tally"),
        (sf.tally(event).to_text().encode(), "of event"),
        (sf.tally(weighted).to_text().encode(), "has weights"),
    ):
        found = client("PUT", f"{PATH}/reference", content=body)
        assert found.status_code == 400
        assert said in found.json()["error"]
        assert "\n" not in found.json()["error"]
    assert client("PUT", f"{PATH}/reference", content=b" " * ((8 << 20) + 1)).status_code == 413
    # nothing was begun
    assert client.get("/v1/models").json() == {"models": []}
    writer = Client(App(service), service.tokens.create(Grant.parse("fraud:predictions,labels,read")))
    assert writer("PUT", f"{PATH}/reference", content=tally.to_text().encode()).status_code == 403


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("column", "term", "number"),
    [("rows by doubt", 0, 2**70), ("rows by doubt", 0, 1e-320), ("doubt by doubt", 1, 10**15)],
)
def test_numbers_that_no_rows_have_are_refused_when_they_come(client, column, term, number) -> None:
    """A tally whose numbers were changed, and its fingerprint with them, broke the tests in their own ways: 500."""
    rng = np.random.default_rng(0)
    confidence = np.round(rng.beta(6, 2, 6_000), 6).clip(0.5, 0.999)
    known = sf.Predictions.from_correct(rng.random(6_000) < confidence, confidence)
    document = json.loads(sf.tally(known).to_text())
    statuses = set()
    for place in (0, 78, 156, 234, 312, 390):
        body = {key: value for key, value in document.items() if key not in ("surefoot", "schema", "sha256")}
        body = json.loads(json.dumps(body))
        body["tables"]["doubt"]["totals"][column][term][place] = number
        text = documents.dump("tally", document["schema"], body)
        found = client("PUT", f"{PATH}/reference", content=text.encode())
        statuses.add(found.status_code)
        if found.status_code == 400:
            assert "no tally that can be a reference" in found.json()["error"]
        else:
            # what was taken is shown as well
            assert client.get(f"{PATH}/state").status_code == client.get("/models/fraud/3").status_code == 200
    assert 400 in statuses
    assert statuses <= {200, 400}


def test_another_one_takes_its_place(client) -> None:
    for rows in (400, 300):
        client("PUT", f"{PATH}/reference", content=tally_of(rows)[1].to_text().encode())
        assert client.get(f"{PATH}/state").json()["reference"]["rows"] == rows
