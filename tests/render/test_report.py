"""The report, in every state that data can be in."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.cli import run
from surefoot.figures.labels import typeset
from surefoot.render import side_by_side
from surefoot.render.html import report
from surefoot.render.text import Terminal, render

RNG = np.random.default_rng(0)
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Strict(HTMLParser):
    """Every element that is opened is closed, in order; ids are unique; and no script but ours."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.scripts = 0
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert not any(name.startswith("on") for name in given), given
        self.ids += [given["id"] or ""] if "id" in given else []
        self.scripts += tag == "script"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


def read(page: str) -> Strict:
    found = Strict()
    found.feed(page)
    found.close()
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    return found


def many(n: int = 300, k: int = 4) -> sf.Predictions:
    p = RNG.dirichlet(np.ones(k) * 0.3, n)
    return sf.Predictions.from_probabilities([RNG.choice(k, p=row) for row in p], p)


CASES = {
    "one row": sf.Predictions.from_correct([True], [0.9]),
    "one mistake": sf.Predictions.from_correct([False], [0.9]),
    "all correct": sf.Predictions.from_correct([True] * 50, [0.9] * 50),
    "all wrong": sf.Predictions.from_correct([False] * 50, [0.9] * 50),
    "infinite": sf.Predictions.from_correct([True, False, True] * 20, [1.0, 1.0, 0.6] * 20),
    "all certain and right": sf.Predictions.from_correct([True] * 9, [1.0] * 9),
    "no confidence at all": sf.Predictions.from_correct([True, False] * 9, [0.0] * 18),
    "tiny doubts": sf.Predictions.from_correct([True, False] * 30, doubt=[1e-300, 0.3] * 30),
    "tiny doubts, wrong": sf.Predictions.from_correct([False, True] * 30, doubt=[1e-300, 0.3] * 30),
    "unequal weights": sf.Predictions.from_correct([True, False] * 99, [0.9, 0.8] * 99, sample_weight=np.arange(198)),
    "equal weights": sf.Predictions.from_correct([True, False] * 99, [0.9, 0.8] * 99, sample_weight=np.full(198, 2.5)),
    "two classes": sf.Predictions.from_probabilities([0, 1] * 100, RNG.random(200)),
    "four classes": many(),
    "a class nobody has": sf.Predictions.from_probabilities([0, 1] * 50, RNG.dirichlet(np.ones(3), 100)),
    "one class": sf.Predictions.from_probabilities([0] * 30, RNG.random(30)),
    "many classes": many(400, 60),
    "underconfident": sf.Predictions.from_correct([True] * 400, [0.6] * 400),
}


@pytest.mark.parametrize(
    ("name", "by"),
    [
        (name, by)
        for name, p in CASES.items()
        for by in (None, "column", *(() if p.truth is None else ("predicted", "truth")))
    ],
)
def test_every_state_has_a_whole_page(name: str, by: str | None, tmp_path: Path) -> None:
    p = CASES[name]
    a = sf.assess(p, by=np.arange(len(p)) % 3 if by == "column" else by)
    a.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    found = read(page)
    assert found.scripts == 1
    assert len(page.encode()) < 1_500_000
    words = " ".join(found.words)
    for odd in (r"\bnan\b", r"\binf\b", r"\bNone\b", r"\{\{", r"e[+-]\d\d"):
        assert not re.search(odd, words), odd
    for text in (str(a), render(a, Terminal(symbols=True, colour=True)), a._repr_html_(), a.risk._repr_html_()):
        assert not re.search(r"\bnan\b|\bNone\b", text)
    json.loads(a.to_json())


def test_a_tally_has_a_page_too(tmp_path: Path) -> None:
    p = many(500)
    page = report(sf.assess(sf.tally(p, by="predicted")))
    read(page)
    assert "a tally does not hold" in page


def test_the_page_says_what_the_assessment_holds() -> None:
    rng = np.random.default_rng(3)
    p = sf.synthetic.predictions("tight_hi", "overconf_root", 3000, rng=rng)
    a = sf.assess(p, by=np.array(["left", "right"])[np.arange(3000) % 2])
    page = report(a)
    words = " ".join(read(page).words)
    assert typeset(f"{a.risk.csr:.3g}") in words
    assert f"{a['cw_accuracy']:.1%}" in words
    for name, metric in sf.metrics.ALL.items():
        assert (f"{metric.title}<code>{name}</code>".replace("'", "&#39;") in page) == (name in a.metrics)
        assert metric.reading
    # the first of the rows that surprise most, counted from 1
    first = a.surprises[0]
    worst = int(np.argmax(np.where(p.correct, 0, 1 / p.doubt)))
    assert first.row == worst
    assert f"{worst + 1:,}" in words


def test_a_bin_counts_its_rows_and_mistakes() -> None:
    c = np.array([0.05, 0.5, 0.52, 0.95, 0.97, 1.0])
    p = sf.Predictions.from_correct([False, True, False, True, True, True], c)
    bins = sf.assess(p).reliability
    assert [round(one.rows) for one in bins] == [1, 2, 3]
    assert [round(one.seen) for one in bins] == [1, 1, 0]
    assert [one.stated for one in bins] == pytest.approx([0.95, 0.98, 0.08])
    # Clopper and Pearson: no mistake in three rows
    assert bins[2].high == pytest.approx(1 - 0.025 ** (1 / 3))
    assert bins[2].low == 0
    near = sf.assess(p).near_certainty
    assert sum(one.rows for one in near) == 5
    assert sum(one.stated for one in near) == pytest.approx(0.95 + 0.98 + 0.08)


def test_concentration_and_coverage_by_hand() -> None:
    from surefoot.figures.concentration import concentration
    from surefoot.figures.coverage import coverage

    # surprises 100, 10 and 2 of a total of 112, over four rows: CSR 28
    p = sf.Predictions.from_correct([False, False, False, True], [0.99, 0.9, 0.5, 0.8])
    a = sf.assess(p)
    assert a.counts is not None
    found = concentration(a.counts, a.risk.csr)
    assert found is not None
    assert [found.share_of(k) for k in (1, 2, 3)] == pytest.approx([100 / 112, 110 / 112, 1])
    # without the first CSR is (10 + 2) / 3, without two 2 / 2
    assert [found.csr_without(k) for k in (1, 2)] == pytest.approx([4, 1])
    assert found.rows_to_remove == 2
    curve = coverage(a.counts)
    assert curve.coverage.tolist() == [0.25, 0.5, 0.75, 1.0]
    assert [curve.error(share) for share in (0.25, 0.5, 0.75, 1)] == pytest.approx([1, 1, 2 / 3, 3 / 4])
    # of rows that are equally sure some at random: of two in three that are wrong, two in three
    tied = coverage(sf.assess(sf.Predictions.from_correct([True, False, False], [0.9] * 3)).counts)  # type: ignore[arg-type]
    assert tied.error(0.5) == pytest.approx(2 / 3)


NASTY = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}",
    "two\nlines\r\nand\x1b[31m red \x07",
    "abc\u202edcba\u2066\u200f",
    "x" * 9_990,
    "</select></option></style></title><svg onload=alert(1)>",
    "&amp;&lt;",
]  # fmt: skip


@pytest.mark.parametrize("name", NASTY)
def test_names_from_outside_do_no_harm(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = np.array([name, "plain"])
    rng = np.random.default_rng(0)
    truth = labels[rng.integers(0, 2, 40)]
    guess = labels[rng.integers(0, 2, 40)]
    table = pa.table({name: truth, "predicted": guess, "confidence": np.full(40, 0.9), f"{name} by": guess})
    folder = tmp_path / "in"
    folder.mkdir()
    file = folder / (re.sub(r"[/\0]", "_", name)[:80].encode()[:200].decode(errors="ignore") + ".parquet")
    pq.write_table(table, file)
    page = tmp_path / "r.html"
    given = ["assess", str(file), "--truth", name, "--by", f"{name} by", "--html", str(page)]
    assert run(given) == 0
    told = capfd.readouterr().out
    assert all(c.isprintable() or c == "\n" for c in told)
    assert max(map(len, told.splitlines())) < 200
    found = read(page.read_text())
    assert found.scripts == 1
    assert "49" not in re.findall(r"\{\{.*?\}\}|\b49\b", " ".join(found.words[:30]))
    assert len(page.read_text()) < 400_000
    assert run([*given[:-2], "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert {part["value"] for part in document["slices"]} == {name, "plain"}
    a = sf.assess(sf.load(file, truth=name), by="truth")
    card = a._repr_html_() + sf.cw_confusion(sf.load(file, truth=name))._repr_html_()
    assert "<script" not in card
    assert "<img" not in card
    # a value that is refused is told without harm too
    bad = table.set_column(2, "confidence", pa.array([name] * 40))
    pq.write_table(bad, file)
    assert run(["assess", str(file), "--truth", name]) == 3
    error = capfd.readouterr().err
    assert len(error.splitlines()) == 1
    assert len(error) < 1000
    assert all(c.isprintable() or c == "\n" for c in error)


def test_titles_do_not_find_what_the_verdict_does_not() -> None:
    rng = np.random.default_rng(5)
    quiet = 0
    for _ in range(5):
        q = np.minimum(10 ** -rng.uniform(0.2, 5, 2000), 0.5)
        a = sf.assess(sf.Predictions.from_correct(rng.random(2000) >= q, doubt=q), metrics=())
        if a.verdict == "no evidence against calibration":
            quiet += 1
            page = report(a)
            assert "too often" not in page
            assert "often than it says" not in page
    assert quiet >= 4


def test_rows_that_weigh_the_same_are_counted_as_rows() -> None:
    correct, c = [True] * 380 + [False] * 20, [0.995] * 100 + [0.9] * 300
    plain = sf.assess(sf.Predictions.from_correct(correct, c))
    light = sf.assess(sf.Predictions.from_correct(correct, c, sample_weight=[0.25] * 400))
    assert (light.stated, light.seen) == pytest.approx((plain.stated, plain.seen))
    assert [band.rows for band in light.bands] == [band.rows for band in plain.bands]
    assert str(light).split("\n\n")[1:3] == str(plain).split("\n\n")[1:3]


def test_unequal_weights_have_no_concentration() -> None:
    weights = np.ones(50)
    weights[0] = 100
    p = sf.Predictions.from_correct([False] * 3 + [True] * 47, [0.9] * 50, sample_weight=weights)
    assert 'id="concentration"' not in report(sf.assess(p))


def test_the_other_side_s_zero_has_its_own_reason() -> None:
    page = report(sf.assess(sf.Predictions.from_correct([True] * 10, [0.0] * 5 + [0.5] * 5)))
    assert "A row with confidence 0 was correct" in page
    assert "with confidence 1 was wrong" not in page


def test_interval_ends_are_not_rounded_to_the_kind_side() -> None:
    a = sf.assess(sf.Predictions.from_correct([True] * 84 + [False] * 16, [0.9] * 100))
    interval = a.intervals["accuracy"]
    assert (round(interval.low, 6), round(interval.high, 6)) == (0.753212, 0.90569)
    assert "75.3% to 90.6%" in report(a)


def test_more_than_twenty_slices_are_folded_worst_first() -> None:
    rng = np.random.default_rng(5)
    c = rng.uniform(0.6, 0.95, 3000)
    group = rng.integers(0, 25, 3000)
    correct = rng.random(3000) < c - 0.4 * (group == 7)
    page = report(sf.assess(correct=correct, confidence=c, by=group))
    shown, folded = (page.partition('<details class="more">')[i] for i in (0, 2))
    assert shown.count('class="pick"') == 20
    assert folded.partition("</details>")[0].count('class="pick"') == 5
    assert "<summary>Show 5 more slices</summary>" in folded
    assert re.search(r'data-pick="s0">7</button>', shown)
    assert "more slices" not in report(sf.assess(correct=correct, confidence=c, by=group % 20))


def test_the_footer_has_date_version_and_file() -> None:
    a = replace(sf.assess(correct=[True, False] * 50, confidence=[0.9, 0.6] * 50), source="<rows>.csv")
    footer = report(a).partition("<footer>")[2]
    today = date.today().isoformat()
    assert footer.startswith(f"surefoot {sf.__version__}, &lt;rows&gt;.csv, {today}.")
    assert f"surefoot {sf.__version__}, {today}." in compared({"a": a, "b": a})


def compared(models: dict[str, sf.Assessment]) -> str:
    rows = {name: sf.Predictions.from_correct([True, False] * 50, [0.9, 0.6] * 50) for name in models}
    return side_by_side.report(sf.compare(rows))


def test_surprising_rows_carry_the_columns_that_were_asked_for(tmp_path: Path) -> None:
    lines = [f"{i % 3 > 0},{0.9 - i % 7 / 100},<p{i}>,ward {i % 2}" for i in range(60)]
    (tmp_path / "rows.csv").write_text("\n".join(["correct,confidence,patient,ward", *lines, ""]))
    out = tmp_path / "r.html"
    assert run(["assess", str(tmp_path / "rows.csv"), "--id", "patient", "--show", "ward", "-o", str(out)]) == 0
    table = re.search(r'<table class="rows">.*?</table>', out.read_text(), re.S)
    assert table
    heads = re.findall(r"<th [^>]*><button[^>]*>([^<]*)</button>", table[0])
    assert heads[:3] == ["patient", "ward", "Row"]
    first = re.findall(r"<td[^>]*>([^<]*)</td>", table[0])[:3]
    row = int(first[2]) - 1
    assert first[:2] == [f"&lt;p{row}&gt;", f"ward {row % 2}"]


def test_titles_claim_nothing_with_fewer_than_ten_errors() -> None:
    few = sf.assess(correct=[False] * 9 + [True] * 200, confidence=[0.999] * 209)
    assert few.verdict == "overconfident"
    titles = re.findall(r"<h3[^>]*>([^<]*)</h3>", report(few))
    assert titles[:2] == ["Reliability", "Reliability near certainty"]
    # a promise is no estimate: it holds with however few errors
    found = [title for title in titles if not title.startswith("It may act alone")]
    assert not any("×" in title or re.search(r"[\d.]+%", title) for title in found)
    more = sf.assess(correct=[False] * 12 + [True] * 200, confidence=[0.999] * 212)
    assert any("×" in title for title in re.findall(r"<h3[^>]*>([^<]*)</h3>", report(more)))


def test_the_page_of_a_served_model_has_every_mark_of_the_report() -> None:
    pages = Path(sf.__file__).parent / "render" / "page"
    marks = [
        set(re.findall(r'id="(m-\w+)"', (pages / f"{name}.html.jinja").read_text()))
        for name in ("frame", "service_model")
    ]
    assert marks[0] == marks[1] >= {"m-over", "m-under", "m-fair", "m-none"}
