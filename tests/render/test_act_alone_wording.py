"""What is said where no threshold will do: only what the rows speak for, and no policy that decides nothing."""

import numpy as np

import surefoot as sf


def test_a_policy_that_reviews_every_row_is_not_offered() -> None:
    """One threshold for all rows keeps the promise, and none of the 100 slices of ten rows does."""
    correct = np.arange(1000) >= 10
    found = sf.act_alone(correct=correct, confidence=np.full(1000, 0.95), error=0.05, by=np.arange(1000) % 100)
    assert found.threshold == 0.95
    words = " ".join(str(found).split())
    assert words.endswith("would have every row reviewed. For the one threshold of all rows, leave out by=.")
    assert all("leave out by=" in one and "policy.save" not in one for one in (found.to_markdown(), found.to_html()))


def test_more_rows_might_help_where_few_enough_were_wrong() -> None:
    """3 of 500 are 0.6%, which is less than the 1% asked for: that speaks for more rows, not against them."""
    found = sf.act_alone(correct=np.arange(500) >= 3, confidence=np.ones(500), error=0.01)
    said = " ".join(str(found).split())
    assert found.rows_needed is None
    assert "so few rows do not rule out that more than 1% are" in said
    assert "More rows like these might help" in said
    assert "Nothing here suggests" not in said


def test_the_best_of_rows_that_are_all_wrong_is_none_of_them() -> None:
    found = sf.act_alone(correct=np.zeros(500, bool), confidence=np.linspace(0.5, 1, 500), error=0.01)
    said = " ".join(str(found).split())
    assert "The best seen: over all rows, 500 of 500 rows were wrong (100.0%). Every row needs a review." in said
    assert "Nothing here suggests that more rows would help." in said
