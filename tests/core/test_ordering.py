"""The order of many numbers is that of NumPy's stable sort, whatever their upper bits have in common."""

import numpy as np
import pytest

from surefoot.core.ordering import stable_order

RNG = np.random.default_rng(7)
MANY = 20_000
NUMBERS = {
    "distinct": RNG.random(MANY),
    "signed": RNG.normal(size=MANY) * 10.0 ** RNG.integers(-300, 300, MANY),
    "tied": RNG.integers(0, 50, MANY) / 50,
    "zeros of both signs": np.where(RNG.random(MANY) < 0.5, 0.0, -0.0),
    "float32": RNG.random(MANY).astype(np.float32),
    "integers": RNG.integers(-(2**62), 2**62, MANY),
    "integers further apart than 63 bits": RNG.integers(-(2**63), 2**63 - 1, MANY),
    "unsigned": RNG.integers(0, 2**64 - 1, MANY, dtype=np.uint64),
    "booleans": RNG.random(MANY) < 0.5,
    "infinite": np.where(RNG.random(MANY) < 0.1, np.inf, -RNG.random(MANY)),
    "one": np.array([0.5]),
    "none": np.array([]),
    # one far away leaves no bits to tell the others apart, which differ in their last ones
    "all in one place but one": np.append(0.5 + RNG.permutation(MANY) * 2.0**-53, -1e300),
    # a few neighbours that only their last bits tell apart
    "some in one place": np.concatenate([RNG.random(MANY), 0.5 + RNG.permutation(300) * 2.0**-53, [-1e300]]),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_it_is_the_stable_order_of_numpy(name: str) -> None:
    values = NUMBERS[name]
    before = values.copy()
    np.testing.assert_array_equal(stable_order(values), np.argsort(values, kind="stable"))
    np.testing.assert_array_equal(values, before)
