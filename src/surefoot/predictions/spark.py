"""What follows from the probabilities of all classes, as Spark's own operations on one array.

Spark writes out what a column is made of wherever it is used. Sums over classes that each look at the largest of all
are then so many times longer than there are classes, twice over: of a hundred, Spark planned for minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def with_choice(frame: Any, classes: Sequence[str], *, is_given: bool) -> Any:
    """The frame with the total, the predicted class unless it is given, its probability, and that of all others.

    The first of equals is predicted.
    """
    import narwhals as nw

    each = f"array({', '.join(classes)})"
    native = frame.to_native().selectExpr("*", f"{each} AS sf_each")
    total = "AGGREGATE(sf_each, 0.0D, (a, x) -> a + x) AS sf_total"
    predicted = [] if is_given else ["CAST(array_position(sf_each, array_max(sf_each)) - 1 AS BIGINT) AS sf_predicted"]
    native = native.selectExpr("*", total, *predicted)
    others = "TRANSFORM(sf_each, (x, i) -> IF(i = sf_predicted, 0.0D, x))"
    native = native.selectExpr(
        "*",
        "get(sf_each, CAST(sf_predicted AS INT)) AS sf_own",
        f"AGGREGATE({others}, 0.0D, (a, x) -> a + x) AS sf_others",
    )
    return nw.from_native(native.drop("sf_each"))
