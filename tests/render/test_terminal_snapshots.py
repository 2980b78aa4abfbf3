"""The whole text that an assessment prints, for each of the five verdicts.

The texts are files in `tests/data/terminal`. After an intended change of words, write them anew and read the
difference:

    SUREFOOT_REWRITE=1 python -m pytest tests/render/test_terminal_snapshots.py
"""

import os
from pathlib import Path

import pytest
from reference_sets import reference_sets

import surefoot as sf

FOLDER = Path(__file__).parents[1] / "data" / "terminal"
#: Which of the reference sets has which verdict.
SETS = {
    "overconfident": "near-certain rows beside a middle 10 points too confident",
    "underconfident": "right more often than it says",
    "mixed": "too sure near certainty, too timid in the middle",
    "no evidence against calibration": "calibrated, 20,000 rows",
    "inconclusive": "calibrated, 40 rows",
}


@pytest.fixture(scope="module")
def sets() -> dict[str, sf.Predictions]:
    return reference_sets()


@pytest.mark.parametrize("verdict", SETS)
def test_the_text_of_a_verdict_is_that_of_its_file(verdict: str, sets: dict[str, sf.Predictions]) -> None:
    assessment = sf.assess(sets[SETS[verdict]])
    assert assessment.verdict == verdict
    path = FOLDER / f"{verdict}.txt"
    if os.environ.get("SUREFOOT_REWRITE"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{assessment}\n", encoding="utf-8")
    assert f"{assessment}\n" == path.read_text(encoding="utf-8")


def test_there_is_a_file_for_each_verdict_and_no_other() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(SETS)
