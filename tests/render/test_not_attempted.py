"""How many rows were not attempted stands wherever the number of rows does, and nowhere else."""

import re
from html import unescape

import numpy as np
import pytest

import surefoot as sf

N, SKIPPED = 2000, 312
CORRECT = np.arange(N) % 5 != 0
ATTEMPTED = np.arange(N) >= SKIPPED
#: The first slice has no attempted row, the second some.
TOPIC = np.where(np.arange(N) < 100, "none", np.where(np.arange(N) < 500, "some", "all"))
SHORT = "1,688 rows; 312 more were not attempted (15.6% of 2,000)"
NOTE = (
    "312 of 2,000 rows were not attempted (15.6%) and count as neither right nor wrong; accuracy, the verdict and all "
    "other numbers are of the other 1,688."
)
SLICES = "not attempted by slice: none 100 of 100, some 212 of 400. A slice without an attempted row is not assessed."


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", text)))


@pytest.fixture(scope="module")
def found() -> sf.Assessment:
    return sf.assess(correct=CORRECT, confidence=np.full(N, 0.8), attempted=ATTEMPTED, by=TOPIC)


def test_text(found: sf.Assessment) -> None:
    text = plain(str(found))
    assert text.strip().startswith(SHORT)
    assert f"note: {NOTE}" in text
    assert f"note: {SLICES}" in text
    assert text.count("312") == 2


def test_summary_and_repr(found: sf.Assessment) -> None:
    assert f"{SHORT}, which count as neither right nor wrong." in plain(found.summary())
    assert repr(found).endswith("1,688 rows, 312 more not attempted>")


def test_markdown_card_and_report(found: sf.Assessment, tmp_path) -> None:
    found.to_html(tmp_path / "a.html")
    report = plain((tmp_path / "a.html").read_text())
    for text in (plain(found.to_markdown()), plain(found._repr_html_()), report):
        assert NOTE in text.replace("\\", "")
        assert "some 212 of 400" in text
    assert "312 more were not attempted (15.6% of 2,000)" in report


def test_json(found: sf.Assessment) -> None:
    document = found.to_dict()
    assert (document["not_attempted"], document["share_not_attempted"]) == (312, 0.156)
    assert {part["value"]: part["not_attempted"] for part in document["slices"]} == {"all": 0, "some": 212}
    assert document["slices_not_attempted"] == [{"value": "none", "rows": 100}]


def test_one_row() -> None:
    a = sf.assess(correct=["C", "I", "N"], confidence=[0.8, 0.7, None])
    assert "2 rows; 1 more was not attempted (33.3% of 3), which counts as neither" in plain(a.summary())
    assert "1 of 3 rows was not attempted (33.3%) and counts as neither right nor wrong" in plain(str(a))


@pytest.mark.parametrize("of", ["event", "classes"])
def test_events_and_classes(of: str) -> None:
    p = np.where(ATTEMPTED, 0.8, np.nan)
    a = sf.assess(y_true=CORRECT * 1, probabilities=p, attempted=ATTEMPTED, of=of)
    text = plain(str(a))
    assert "312 more were not attempted (15.6% of 2,000)" in text
    assert "all numbers here are of the other 1,688." in text
    assert a.share_not_attempted == 0.156


def test_comparison(tmp_path) -> None:
    one = sf.Predictions.from_correct(CORRECT, np.full(N, 0.8), attempted=ATTEMPTED)
    other = sf.Predictions.from_correct(CORRECT, np.full(N, 0.7))
    c = sf.compare({"one": one, "other": other})
    c.to_html(tmp_path / "c.html")
    note = "not attempted: one 312 of 2,000 (15.6%). These rows count as neither right nor wrong"
    for text in (str(c), c._repr_html_(), (tmp_path / "c.html").read_text()):
        assert note in plain(text)
        assert "312 (15.6%)" in plain(text)
    five = sf.compare(dict.fromkeys("abcde", one))
    assert "a 312 of 2,000 (15.6%)" in plain(str(five))


def test_nothing_is_said_where_all_were_attempted(tmp_path) -> None:
    rows = {"correct": CORRECT, "confidence": np.full(N, 0.8)}
    plainly, all_of_them = sf.assess(**rows), sf.assess(**rows, attempted=np.ones(N, dtype=bool))
    assert str(plainly) == str(all_of_them)
    for a in (plainly, all_of_them):
        a.to_html(tmp_path / "a.html")
        for text in (str(a), a.summary(), repr(a), a.to_markdown(), a._repr_html_(), (tmp_path / "a.html").read_text()):
            assert "attempted" not in text
    assert "attempted" not in str(sf.compare({"one": plainly, "other": all_of_them}))
