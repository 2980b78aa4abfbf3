"""Every value that differs from another package's has its reason, or this fails."""

import pytest

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]


def test_values_agree_with_other_packages_or_say_why() -> None:
    from benchmarks.conformance import DOCUMENT, ROUNDING, comparisons

    found = list(comparisons())
    assert len(found) > 70
    assert {one.package for one in found} == {
        *("scikit-learn", "torchmetrics", "netcal", "MAPIE", "relplot", "model-diagnostics"),
    }
    assert {"multiclass_log_loss, weighted", "multiclass_brier, weighted", "classwise_ece"} <= {
        one.metric for one in found
    }
    # a reason says by how much, too
    assert not [one for one in found if one.difference > one.allowed]
    # most agree, and what is documented is about these comparisons
    assert sum(one.difference <= ROUNDING for one in found) > len(found) / 2
    text = DOCUMENT.read_text(encoding="utf-8")
    assert all(f"| {one.metric} |" in text and one.package in text for one in found)
