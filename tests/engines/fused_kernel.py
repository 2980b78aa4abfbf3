"""Compare the fused kernel's sums with NumPy's: on a GPU, or with TRITON_INTERPRET=1 anywhere."""

import dataclasses
import warnings

import numpy as np
import torch

from surefoot.engines import triton as kernels
from surefoot.metrics import ALL
from surefoot.metrics.tallying import ALWAYS, BANDS, DIAGRAM
from surefoot.predictions import Predictions, tensors


def main() -> None:
    warnings.simplefilter("ignore")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kernels.has_kernels = lambda device: True
    tensors.has_kernels = kernels.has_kernels
    kernels.multiprocessors = tensors.multiprocessors = lambda device: 1

    every = [*ALWAYS, *BANDS, *DIAGRAM, *(term for metric in ALL.values() for term in metric.terms)]
    terms = [term for term in dict.fromkeys(every) if term.key.operation == "cells" and not term.key.classes]
    rng = np.random.default_rng(0)
    rows = 9 * 1024 + 77
    compared = 0
    for dtype in (np.float64, np.float32):
        p = rng.beta(2, 0.2, rows).astype(dtype)
        p[:7] = [1, 0, 0.5, 1 / 3, 2 / 3, 0.6, 1]
        y, weight = rng.integers(0, 2, rows), rng.integers(0, 3, rows).astype(np.float64)
        for constructor, arguments, options in (
            ("from_correct", (y == 1, p), {}),
            ("from_correct", (y == 1, p), {"sample_weight": weight}),
            ("from_probabilities", (y, p), {}),
        ):
            arrays = getattr(Predictions, constructor)(*arguments, **options)
            there = [torch.tensor(x, device=device) for x in arguments]
            weights = {name: torch.tensor(x, device=device) for name, x in options.items()}
            expected = arrays.tally(terms)
            found = getattr(tensors.BORDER, constructor)(*there, **weights).tally(terms)
            assert expected.tables.keys() == found.tables.keys()
            for key, table in expected.tables.items():
                for name, sums in table.totals.items():
                    own = found.tables[key].totals[name].value
                    np.testing.assert_allclose(own, sums.value, rtol=1e-12, atol=1e-13, err_msg=name)
            compared += 1
        scored = tensors.BORDER.from_probabilities(torch.tensor(y, device=device), torch.tensor(p, device=device))
        here = Predictions.from_probabilities(y, p)
        assert scored.follows_second
        for name in ("predicted", "correct", "confidence", "doubt", "certain", "rounded"):
            own = torch.as_tensor(getattr(scored, name)).cpu().numpy()
            np.testing.assert_array_equal(own, getattr(here, name), err_msg=name)
        apart = dataclasses.replace(scored, _confidence=scored.confidence, _doubt=scored.doubt, follows_second=False)
        for name in ("auc", "cw_auc"):
            np.testing.assert_allclose(ALL[name](apart), ALL[name](Predictions.from_probabilities(y, p)), rtol=1e-12)
        for name in ("auc", "cw_auc", "cw_average_precision"):
            here = ALL[name](Predictions.from_probabilities(y, p))
            np.testing.assert_allclose(ALL[name](scored), here, rtol=1e-12)
    print(compared, "requests agree")


if __name__ == "__main__":
    main()
