"""Requests over HTTP: what is answered, what is refused, and that hostile ones change nothing."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pyarrow as pa
import pytest

import surefoot as sf
from tests.service.serving import sample

pytest.importorskip("starlette", reason="starlette is not installed")

import httpx

from surefoot.service import limits, tokens
from surefoot.service.app import App
from surefoot.service.database import connect
from surefoot.service.service import Service
from surefoot.service.tokens import Grant

PATH = "/v1/models/fraud/3"


class Client:
    """Requests to the app in this process."""

    def __init__(self, app: App, token: str) -> None:
        self._app, self.headers = app, {"Authorization": f"Bearer {token}"}

    def __call__(self, method: str, path: str, **options) -> httpx.Response:
        import anyio

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app.asgi, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, **{"headers": self.headers, **options})

        return anyio.run(ask)

    def get(self, path: str, **options) -> httpx.Response:
        return self("GET", path, **options)

    def post(self, path: str, rows=None, **options) -> httpx.Response:
        return self("POST", path, **({} if rows is None else {"json": rows}), **options)


@pytest.fixture
def service(tmp_path: Path):
    made = Service(connect(str(tmp_path / "store.db")))
    yield made
    made.stop()


@pytest.fixture
def client(service):
    return Client(App(service), service.tokens.create(Grant.parse("*")))


def test_a_prediction_and_its_label_are_counted_at_once(client) -> None:
    one = {"id": "a", "confidence": 0.9}
    assert client.post(f"{PATH}/predictions", one).json() == {"counted": 1, "repeated": 0}
    assert client.post(f"{PATH}/predictions", one).json() == {"counted": 0, "repeated": 1}
    assert client.get(f"{PATH}/state").json()["unlabelled_share"] == 1.0
    assert client.post(f"{PATH}/labels", {"id": "a", "correct": False}).json()["counted"] == 1
    state = client.get(f"{PATH}/state").json()
    assert (state["predictions"], state["labelled"], state["monitor"]["observed_errors"]) == (1, 1, 1)
    assert [day["observed_errors"] for day in state["days"]] == [1]
    assert client.get("/v1/models").json() == {"models": [{"model": "fraud", "version": "3"}]}


def test_json_lines_and_arrow_hold_the_same_rows(client) -> None:
    rows = [{"id": str(i), "confidence": 0.5 + i / 20} for i in range(10)]
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    kinds = {
        "application/x-ndjson": lines,
        "application/vnd.apache.arrow.stream": sink.getvalue().to_pybytes(),
        "application/json": json.dumps({"predictions": rows}).encode(),
    }
    for i, (kind, body) in enumerate(kinds.items()):
        found = client.post(f"{PATH}/predictions", content=body, headers={**client.headers, "Content-Type": kind})
        assert found.json() == {"counted": 10 * (not i), "repeated": 10 * bool(i)}


def test_report_tally_and_numbers_are_those_of_the_rows(client) -> None:
    confidence, correct = sample(800)
    for start in range(0, 800, 200):
        some = range(start, start + 200)
        rows = [{"id": i, "confidence": float(confidence[i]), "slice": "DE" if i % 2 else "FR"} for i in some]
        client.post(f"{PATH}/predictions", rows)
        client.post(f"{PATH}/labels", [{"id": i, "correct": bool(correct[i])} for i in some])
    expected = sf.assess(sf.Predictions.from_correct(correct, confidence))
    found = sf.Tally.from_text(client.get(f"{PATH}/tally").text)
    assert sf.assess(found)["csr"] == pytest.approx(expected["csr"], rel=1e-12)
    french = sf.Tally.from_text(client.get(f"{PATH}/tally?slice=FR").text)
    even = sf.Predictions.from_correct(correct[::2], confidence[::2])
    assert sf.assess(french)["csr"] == pytest.approx(sf.csr(even), rel=1e-12)
    assert client.get(f"{PATH}/report?format=json").json()["verdict"] == expected.verdict
    assert "<!doctype html>" in client.get(f"{PATH}/report").text
    assert client.get(f"{PATH}/report?until=2001-01-01").status_code == 404
    numbers = client.get("/metrics").text
    assert 'surefoot_labels_total{model="fraud",version="3"} 800' in numbers
    assert f'surefoot_observed_errors{{model="fraud",version="3"}} {int((~correct).sum())}' in numbers
    day = client.get(f"{PATH}/state").json()["days"]
    assert [one["rows"] for one in day] == [800]
    page = client.get("/models/fraud/3").text
    assert "Expected and observed errors by day" in page
    assert "DE" in page
    assert "fraud/3" in client.get("/").text


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("", "fraud/3"),
        ("slice=DE", "fraud/3, slice DE"),
        ("slice=", "fraud/3, rows without a slice"),
        ("since=2026-03-01&until=2999-04-01T14", "fraud/3, from 2026-03-01 until 2999-04-01T14"),
        ("slice=DE&since=2026-03-01T00&until=2999-04-01", "fraud/3, slice DE, from 2026-03-01 until 2999-04-01"),
    ],
)
def test_a_report_says_which_rows_it_is_of(client, query, source) -> None:
    rows = [{"id": i, "confidence": 0.8, "slice": "DE" if i % 2 else None, "correct": i % 3 > 0} for i in range(60)]
    client.post(f"{PATH}/predictions", rows)
    assert client.get(f"{PATH}/report?format=json&{query}").json()["source"] == source
    assert f": {source} | surefoot</title>" in client.get(f"{PATH}/report?{query}").text


def test_only_who_may_may(service) -> None:
    app = App(service)
    writes = Client(app, service.tokens.create(Grant.parse("fraud:predictions")))
    reads = Client(app, service.tokens.create(Grant.parse("other:read")))
    none = Client(app, "made up")
    one = {"id": "a", "confidence": 0.9}
    assert writes.post(f"{PATH}/predictions", one).status_code == 200
    assert writes.post(f"{PATH}/labels", {"id": "a", "correct": True}).status_code == 403
    assert writes.post("/v1/models/other/1/predictions", one).status_code == 403
    assert writes.get(f"{PATH}/state").status_code == 403
    assert reads.get(f"{PATH}/state").status_code == 403
    assert reads.get("/v1/models").json() == {"models": []}
    assert "fraud" not in reads.get("/metrics").text
    assert "fraud" not in reads.get("/").text
    for path in (f"{PATH}/state", "/metrics", "/", "/v1/models"):
        assert none.get(path).status_code == 401
    assert none.post(f"{PATH}/predictions", one).status_code == 401
    # a browser's cookie may read, and never write
    cookie = {"Cookie": f"surefoot_token={reads.headers['Authorization'].split()[1]}"}
    assert reads.get("/", headers=cookie).status_code == 200
    assert writes.post(f"{PATH}/predictions", one, headers=cookie).status_code == 401
    assert none.get("/healthz").status_code == none.get("/readyz").status_code == 200


BAD = {
    "no JSON": (b"{", 400),
    "no rows": (b'"a"', 400),
    "nested": (b"[" * 100_000, 400),
    "no id": (b'[{"confidence": 0.5}]', 400),
    "no confidence": (b'[{"id": "a"}]', 400),
    "NaN": (b'[{"id": "a", "confidence": NaN}]', 400),
    "above 1": (b'[{"id": "a", "confidence": 85}]', 400),
    "text": (b'[{"id": "a", "confidence": "0.5"}]', 400),
    "a list": (b'[{"id": ["a"], "confidence": 0.5}]', 400),
    "a huge id": (json.dumps([{"id": "x" * 1_000_000, "confidence": 0.5}]).encode(), 400),
    "control characters": (b'[{"id": "a\\u0000b", "confidence": 0.5}]', 400),
    "a lone surrogate": (b'[{"id": "\\ud800", "confidence": 0.5}]', 400),
    "another field": (b'[{"id": "a", "confidence": 0.5, "__proto__": 1}]', 400),
    "a huge number": (b'[{"id": 1' + b"0" * 4_000 + b', "confidence": 0.5}]', 400),
    "two claims": (b'[{"id": "a", "confidence": 0.5}, {"id": "a", "confidence": 0.6}]', 400),
    "one bad row": (b'[{"id": "good", "confidence": 0.5}, {"id": "a", "confidence": -1}]', 400),
    "a name twice": (b'[{"id": "a", "confidence": 0.5, "confidence": 0.9}]', 400),
    "two lists": (b'{"predictions": [{"id": "a", "confidence": 0.5}], "predictions": []}', 400),
    "too many rows": (json.dumps([{"id": i, "confidence": 0.5} for i in range(10_001)]).encode(), 413),
    "too many bytes": (b" " * ((8 << 20) + 1), 413),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_bodies_are_refused_in_one_line_and_nothing_is_stored(client, name) -> None:
    body, status = BAD[name]
    found = client.post(f"{PATH}/predictions", content=body)
    assert found.status_code == status
    (message,) = found.json().values()
    assert "\n" not in message
    assert len(message) < 500
    assert client.get(f"{PATH}/state").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models/a%20b/1/state",
        "/v1/models/<script>/1/state",
        "/v1/models/..%2f..%2fetc/1/state",
        "/v1/models/.hidden/1/state",
        f"/v1/models/{'m' * 65}/1/state",
        "/v1/models/a'%20OR%201=1--/1/state",
        "/v1/models/%7B%7B7*7%7D%7D/1/state",
        "/nothing",
        f"{PATH}/report?since=yesterday",
        f"{PATH}/report?since=2026-13-45",
    ],
)
def test_strange_paths_are_refused_and_never_echoed_as_markup(client, path) -> None:
    client.post(f"{PATH}/predictions", {"id": "a", "confidence": 0.5})
    found = client.get(path)
    assert found.status_code in (400, 404)
    assert found.headers["content-type"] == "application/json"
    assert "<script>" not in found.text


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("tally?untill=2026-03-01", "untill"),
        ("tally?format=json", "format"),
        ("report?format=xml", "xml"),
        ("report?since=2026-03-01&since=2026-03-02", "2 times"),
        ("tally?since=2026-03-02&until=2026-03-02", "not after"),
    ],
)
def test_a_question_that_is_not_understood_gets_no_answer_to_another(client, query, said) -> None:
    client.post(f"{PATH}/predictions", {"id": "a", "confidence": 0.5, "correct": True})
    assert client.get(f"{PATH}/tally").status_code == 200
    found = client.get(f"{PATH}/{query}")
    assert (found.status_code, said in found.json()["error"]) == (400, True)


def test_names_in_slices_are_shown_as_text(client) -> None:
    rows = [{"id": i, "confidence": 0.9, "slice": "<img src=x onerror=alert(1)>", "correct": True} for i in range(5)]
    assert client.post(f"{PATH}/predictions", rows).status_code == 200
    page = client.get("/models/fraud/3").text
    assert "<img" not in page
    assert "&lt;img src=x" in page


def test_a_browser_without_a_token_is_told_what_to_open(service) -> None:
    nobody = Client(App(service), "")
    for path, headers in (
        ("/", {}),
        ("/models/fraud/3", {}),
        ("/?token=short", {}),
        ("/", {"Cookie": f"surefoot_token={'x' * 43}"}),
    ):
        found = nobody.get(path, headers=headers)
        assert (found.status_code, found.headers["content-type"]) == (401, "text/plain; charset=utf-8")
        assert "Open the address that the server printed" in found.text
        assert "--new-token '*:read'" in found.text
        assert found.headers["x-content-type-options"] == "nosniff"
    assert "Authorization: Bearer" in nobody.get(f"{PATH}/state", headers={}).json()["error"]


def test_too_many_requests_wait(service, monkeypatch) -> None:
    monkeypatch.setattr(limits.time, "monotonic", lambda: 0.0)
    client = Client(App(service, rate=5), service.tokens.create(Grant.parse("*")))
    statuses = [client.get("/v1/models").status_code for _ in range(7)]
    # the first looks the token up, and is counted by its address
    assert statuses == [200] * 6 + [429]


def test_whoever_needs_no_token_is_counted_too(service, monkeypatch) -> None:
    monkeypatch.setattr(limits.time, "monotonic", lambda: 0.0)
    client = Client(App(service, rate=5), "")
    assert [client.get("/readyz").status_code for _ in range(6)] == [200] * 5 + [429]


def test_tokens_are_not_kept(service, tmp_path: Path) -> None:
    token = service.tokens.create(Grant.parse("*"))
    service.database.close()
    held = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert token.encode() not in held


def test_the_document_names_every_path(client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {"/v1/models/{model}/{version}/predictions", "/metrics", "/readyz"} <= set(paths)


def test_answers_about_the_server_itself_are_as_the_document_says(service, client, monkeypatch) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert set(paths["/healthz"]["get"]["responses"]) == {"200"}
    described = paths["/readyz"]["get"]["responses"]
    assert set(described) == {"200", "429", "503"}

    def fail() -> None:
        raise OSError("/secret/place is gone")

    good = client.get("/readyz", headers={})
    monkeypatch.setattr(service.store, "streams", fail)
    bad = client.get("/readyz", headers={})
    for found in (good, bad):
        (kind,) = described[str(found.status_code)]["content"]
        assert found.headers["content-type"].partition(";")[0] == kind
    assert (bad.status_code, bad.json()) == (503, {"error": "the store does not answer"})
    assert set(paths["/metrics"]["get"]["responses"]) == {"200", "401", "403", "429", "503"}


def test_the_document_takes_the_rows_that_the_service_takes(client) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    rows = {
        "Prediction": [{"id": "a", "confidence": 0.5}, {"id": "b", "doubt": 0.1, "predicted": 1.5}, {"id": "c"}],
        "Label": [{"id": "b", "label": 1.5}, {"id": "a", "correct": True}, {"id": "a"}],
    }
    for name, some in rows.items():
        schema = schemas[name]
        described = [
            set(schema["required"]) <= set(row)
            and any(set(one["required"]) <= set(row) for one in schema.get("anyOf", schema.get("oneOf")))
            for row in some
        ]
        taken = [client.post(f"{PATH}/{name.lower()}s", row).status_code == 200 for row in some]
        assert described == taken == [True, True, False]


def test_answers_are_sent_at_once() -> None:
    """asyncio turns off Nagle's algorithm for sockets of this protocol only; with it each answer waits for 40 ms."""
    import socket

    from surefoot.cli.serve import _listen

    with _listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_confidence_with_fewer_digits_than_its_doubt_is_counted(client) -> None:
    """A float32 confidence, one of six digits, and a 1.0, each with its doubt: pages and numbers go on."""
    pairs = {"a": (1.0, 3e-8), "b": (0.8999999761581421, 0.1), "c": (0.123457, 0.8765432)}
    rows = [{"id": name, "confidence": one, "doubt": doubt} for name, (one, doubt) in pairs.items()]
    assert client.post(f"{PATH}/predictions", rows).json()["counted"] == 3
    assert client.post(f"{PATH}/predictions", rows).json()["repeated"] == 3
    client.post(f"{PATH}/labels", [{"id": name, "correct": True} for name in pairs])
    for path in (f"{PATH}/state", f"{PATH}/report", f"{PATH}/tally", "/", "/metrics", "/models/fraud/3"):
        assert client.get(path).status_code == 200, path
    stated = client.get(f"{PATH}/state").json()["monitor"]["expected_errors"]
    assert stated == pytest.approx(3e-8 + 0.1 + 0.8765432, rel=1e-12)
    refused = client.post(f"{PATH}/predictions", {"id": "d", "confidence": 0.9, "doubt": 0.2})
    assert refused.status_code == 400
    assert "should add up to 1" in refused.text


@pytest.mark.parametrize(
    ("predicted", "label", "right"),
    [
        (1, 1.0, True),
        (1, "1.0", True),
        (True, "True", True),
        ("1.10", "1.1", False),
        ("007", 7, False),
        ("-0.0", 0, True),
        ("-0", -0.0, True),
        ("+1", 1, False),
    ],
)
def test_classes_are_equal_however_they_are_written(client, predicted, label, right) -> None:
    client.post(f"{PATH}/predictions", {"id": "a", "confidence": 0.9, "predicted": predicted})
    assert client.post(f"{PATH}/labels", {"id": "a", "label": label}).status_code == 200
    assert client.get(f"{PATH}/state").json()["monitor"]["observed_errors"] == int(not right)


def test_labels_that_were_known_are_told_from_none(client) -> None:
    rows = [{"id": str(i), "confidence": 0.9, "correct": i % 2 == 0} for i in range(40)]
    client.post(f"{PATH}/predictions", rows)
    said = "Nothing to watch yet: no label came after its prediction"
    assert client.get(f"{PATH}/state").json()["monitor"]["headline"].startswith(said)
    page = client.get("/models/fraud/3").text
    assert said in page
    assert "40 predictions whose label came before them, or too late, count in reliability and totals alone." in page
    assert said in client.get("/").text


def test_the_state_lists_the_slices_that_have_no_evidence(client) -> None:
    """Their labels came with their predictions: the page showed them, and the state did not."""
    rows = [{"id": f"old {i}", "confidence": 0.75, "slice": "DE" if i % 2 else "FR", "correct": True} for i in range(4)]
    client.post(f"{PATH}/predictions", rows)
    client.post(f"{PATH}/predictions", [{"id": "new", "confidence": 0.5, "slice": "FR"}, {"id": "bare", "doubt": 0.1}])
    client.post(f"{PATH}/labels", [{"id": "new", "correct": False}, {"id": "bare", "correct": True}])
    state = client.get(f"{PATH}/state").json()
    french, german = state["slices"]
    assert (french["slice"], french["rows"], french["expected_errors"], french["observed_errors"]) == ("FR", 1, 0.5, 1)
    assert french["all_labelled"] == {"rows": 3, "expected_errors": 1.0, "observed_errors": 1}
    assert (german["slice"], german["rows"], german["flagged"], german["flagged_alone_from"]) == ("DE", 0, False, None)
    assert german["all_labelled"] == {"rows": 2, "expected_errors": 0.5, "observed_errors": 0}
    assert french.keys() == german.keys()
    assert [day["rows"] for day in state["days"]] == [6]
    numbers = client.get("/metrics").text
    assert "# HELP surefoot_slice_labels_total Rows of a slice labelled after their prediction." in numbers
    assert 'surefoot_slice_labels_total{model="fraud",version="3",slice="FR"} 1' in numbers


def test_without_tokens_pages_of_other_sites_are_refused(service) -> None:
    open_client = Client(App(service, is_open=True), "")
    own = {"host": "127.0.0.1:8787"}
    label = {"id": "a", "correct": False}
    assert open_client.post(f"{PATH}/predictions", {"id": "a", "confidence": 0.9}, headers=own).status_code == 200
    for headers in (
        own | {"origin": "http://127.0.0.1:9999"},
        own | {"origin": "null"},
        {"host": "attacker.example"},
        {"host": "[::1"},
    ):
        refused = open_client.post(f"{PATH}/labels", label, headers=headers)
        assert refused.status_code == 403, headers
        assert "without tokens" in refused.json()["error"]
    assert open_client.get("/v1/models", headers={"host": "attacker.example"}).status_code == 403
    for headers in (own | {"origin": "http://127.0.0.1:8787"}, {"host": "[::1]:8787"}, {"host": "localhost:8787"}):
        assert open_client.get("/v1/models", headers=headers).status_code == 200
    assert open_client.get(f"{PATH}/state", headers=own).json()["labelled"] == 0


def test_a_label_takes_the_scope_of_labels_whichever_path_it_comes_by(service, client) -> None:
    writer = Client(client._app, service.tokens.create(Grant.parse("fraud:predictions,read")))
    assert writer.post(f"{PATH}/predictions", {"id": "a", "confidence": 0.9}).status_code == 200
    refused = writer.post(f"{PATH}/predictions", {"id": "a", "confidence": 0.9, "correct": False})
    assert refused.status_code == 403
    assert "does not allow labels" in refused.json()["error"]
    assert writer.get(f"{PATH}/state").json()["labelled"] == 0


def test_rows_of_another_kind_are_not_dropped_without_a_word(client) -> None:
    both = {"predictions": [{"id": "a", "confidence": 0.9}], "labels": [{"id": "a", "correct": True}]}
    for path in ("predictions", "labels"):
        refused = client.post(f"{PATH}/{path}", both)
        assert refused.status_code == 400
        assert "a path of their own" in refused.json()["error"]
    assert client.get("/v1/models").json() == {"models": []}


def test_a_revoked_token_is_refused(service, client, monkeypatch: pytest.MonkeyPatch) -> None:
    token = service.tokens.create(Grant.parse("*:read"))
    reader = Client(client._app, token)
    assert reader.get("/v1/models").status_code == 200
    assert service.tokens.revoke(token)
    assert not service.tokens.revoke(token)
    # a server may know it for some seconds
    later = time.monotonic() + 11
    monkeypatch.setattr(tokens.time, "monotonic", lambda: later)
    assert reader.get("/v1/models").status_code == 401
    assert client.get("/v1/models").status_code == 200


def test_a_packed_body_is_refused_by_name(client: Client) -> None:
    """It used to be called bad JSON."""
    packed = gzip.compress(json.dumps([{"id": "a", "confidence": 0.9}]).encode())
    headers = {**client.headers, "Content-Encoding": "gzip"}
    for path, method in ((f"{PATH}/predictions", "POST"), (f"{PATH}/labels", "POST"), (f"{PATH}/reference", "PUT")):
        answer = client(method, path, content=packed, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (
            415,
            "bodies packed by gzip are not read; send it unpacked",
        )
    assert client.get("/v1/models").json()["models"] == []
