"""What an assessment prints in a terminal."""

import numpy as np
import pytest
from looked_at import assessed, predictions

import surefoot as sf
from surefoot import Predictions
from surefoot.render import markdown, side_by_side
from surefoot.render.html import report
from surefoot.render.text import Terminal, render


def test_a_weighted_assessment_says_so() -> None:
    p = Predictions.from_correct([1, 0] * 20, [0.5, 0.6] * 20, sample_weight=[0.5] * 40)
    assert "40 rows; counted by weights that add up to 20" in str(sf.assess(p))


def profile(rows: int, accuracy, seed: int = 0) -> sf.Predictions:
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.5, 0.95, rows)
    predicted = rng.integers(0, 2, rows)
    correct = rng.random(rows) < accuracy(c)
    return sf.Predictions.from_labels(np.where(correct, predicted, 1 - predicted), predicted, c)


def test_print_says_what_was_found() -> None:
    text = str(sf.assess(profile(4000, lambda c: 0.8 * c), by="predicted"))
    assert "v STRONGLY OVERCONFIDENT\n  Do not take these confidences at face value." in text
    assert "\n  Risk\n    O/E" in text
    assert "\n  Value\n    accuracy" in text
    assert "Slices by predicted: 2 of 2 overconfident" in text
    assert max(map(len, text.splitlines())) <= 88
    certain = str(sf.assess(sf.Predictions.from_correct([False, True], [1.0, 0.5])))
    assert "1 row with confidence 1 was wrong" in certain


def test_print_tells_of_rounded_and_certain_rows() -> None:
    with pytest.warns(sf.RoundedConfidenceWarning):
        p = sf.Predictions.from_correct([True, True], np.array([1, 0.5], dtype=np.float32))
    assert "note: 1 of 2 confidences is 1.0 because it was rounded" in str(sf.assess(p))
    assert "1 of 2 rows has confidence 1 and is correct" in str(
        sf.assess(sf.Predictions.from_correct([1, 1], [1.0, 0.5]))
    )


def test_names_from_outside_are_shown_escaped_and_cut() -> None:
    group = ["a\x1b[31m\u202e", "b" * 60] * 50
    text = str(sf.assess(profile(100, lambda c: c), by=group))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "b" * 41 not in text


def test_few_rows_do_not_reassure() -> None:
    text = str(sf.assess(sf.Predictions.from_correct([True] * 35 + [False] * 5, [0.9] * 40)))
    assert "  INCONCLUSIVE\n  With 40 rows, confidence could be up to 16.9 points too high on average" in text
    assert "deflation of up to" not in text


def test_the_ruler_of_the_terminal() -> None:
    p = sf.synthetic.predictions("tight_hi", "overconf_root", 3000, rng=np.random.default_rng(3))
    text = render(sf.assess(p), Terminal(symbols=True, width=88))
    ruler = next(line for line in text.splitlines() if line.strip().startswith("|"))
    assert "▼" in ruler
    assert "|" in ruler[4:]
    assert "▼" not in render(sf.assess(p), Terminal(symbols=True, width=70)).split("Risk")[1]


def test_one_confidence_for_all_is_told_with_its_digits() -> None:
    a = sf.assess(sf.Predictions.from_correct([True] * 100, doubt=[1e-4] * 100))
    assert "all rows have the same confidence (99.99%)" in str(a)


WIDTHS = (50, 60, 72, 80, 88, 120)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("kind", ["ten", "verbalised"])
def test_text_fits_the_terminal_from_50_columns_on(kind: str, width: int) -> None:
    a = assessed(kind, 2000)
    for symbols in (True, False):
        lines = render(a, Terminal(symbols=symbols, width=width)).splitlines()
        assert max(map(len, lines)) <= width
    assert "report" not in " ".join(lines)
    assert " ".join(lines).count("What to do next") == 1


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("models", [2, 3, 6])
def test_a_comparison_fits_the_terminal_too(models: int, width: int) -> None:
    own = {f"model {i}": predictions("ten", 400, is_over=bool(i)) for i in range(models)}
    text = side_by_side.render(sf.compare(own), Terminal(symbols=True, width=width))
    assert max(map(len, text.splitlines())) <= width
    for name in (*own, "ECE", "Brier", "log loss", "CSR"):
        assert name in text


def test_more_slices_are_counted() -> None:
    a = assessed("ten", 2000)
    assert "... and 7 more" in str(a)


def test_warnings_stand_right_under_the_verdict() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.7, 0.95, 400)
    y = np.array(["no", "yes"])[(rng.random(400) > p).astype(int)]
    a = sf.assess(y, p, pos_label="yes")
    (warning,) = a.warnings
    start = " ".join(warning.split()[:4])
    text = str(a)
    assert text.index("OVERCONFIDENT") < text.index(f"Warning: {start}") < text.index("Its confidences imply")
    for page in (markdown.render(a), a._repr_html_(), report(a)):
        assert page.index(start) < page.index("Its confidences imply")
