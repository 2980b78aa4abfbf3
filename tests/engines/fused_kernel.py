"""Compare the fused kernel's sums with NumPy's: on a GPU, or with TRITON_INTERPRET=1 anywhere."""

import dataclasses
import math
import warnings
from functools import partial

import numpy as np
import torch

from surefoot.engines import torch as torch_engine
from surefoot.engines import triton as kernels
from surefoot.metrics import ALL
from surefoot.metrics.confusion import cw_confusion
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
    compare_counted(terms, device)
    compare_classes(device)
    compare_rows(device)


def compare_counted(terms, device) -> None:
    """Confidences of a narrow type, counted before anything is made of them."""
    from surefoot.metrics.terms import BY_DOUBT, BY_THRESHOLD

    rng = np.random.default_rng(1)
    torch_engine._MANY = 1
    for least in (0.5, 0.03):
        c = rng.uniform(least, 1, 9000).astype(np.float32)
        c[:5] = [1, least, 0.5, 1, 0.75]
        correct = rng.random(9000) < c
        here, there = (
            read.from_correct(*columns)
            for read, columns in (
                (Predictions, (correct, c)),
                (tensors.BORDER, (torch.tensor(correct, device=device), torch.tensor(c, device=device))),
            )
        )
        distinct = torch_engine._distinct(there)
        assert len(distinct) == len(np.unique(np.stack([correct, c]), axis=1).T)
        assert int(distinct.times.sum()) == 9000
        wanted = [*terms, *BY_DOUBT, *BY_THRESHOLD]
        expected, found = here.tally(wanted), there.tally(wanted)
        assert expected.tables.keys() == found.tables.keys()
        assert expected.rounded == found.rounded == 2
        for key, table in expected.tables.items():
            np.testing.assert_array_equal(found.tables[key].codes, table.codes, err_msg=key)
            for name, sums in table.totals.items():
                own = found.tables[key].totals[name].value
                np.testing.assert_allclose(own, sums.value, rtol=1e-12, atol=1e-13, err_msg=name)
    torch_engine._MANY = 1 << 40
    print("counted confidences agree")


def compare_classes(device) -> None:
    """Areas of many classes, whose scores are sorted together."""
    rng = np.random.default_rng(2)
    logits = rng.normal(0, 2, (3000, 5))
    y = np.where(rng.random(3000) < 0.5, logits.argmax(axis=1), rng.integers(0, 5, 3000))
    # many ties, of which none is made by rounding
    p = rng.multinomial(64, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)) / 64
    for constructor, table in (("from_probabilities", p), ("from_logits", logits)):
        weight = rng.integers(0, 3, 3000).astype(float)
        for options in ({}, {"sample_weight": weight}, {"floor": 0.05}):
            columns = {k: torch.tensor(v, device=device) if k != "floor" else v for k, v in options.items()}
            here = getattr(Predictions, constructor)(y, table, **options)
            given = (torch.tensor(y, device=device), torch.tensor(table, device=device))
            there = getattr(tensors.BORDER, constructor)(*given, **columns)
            for name in ("auc", "cw_auc", "cw_average_precision"):
                np.testing.assert_allclose(ALL[name](there), ALL[name](here), rtol=1e-12)
    print("areas of classes agree")


def compare_rows(device) -> None:
    """Tables that are checked where they lie, as metrics for training loops have it."""
    import pytest

    from surefoot import InvalidPredictions, RoundedConfidenceWarning
    from surefoot.integrations.torchmetrics import base
    from surefoot.torchmetrics import CalibratedSizeRatio, ConfidenceWeightedConfusionMatrix, ExpectedCalibrationError

    base.has_kernels = kernels.has_kernels
    rng = np.random.default_rng(3)
    logits = torch.tensor(rng.normal(0, 3, (60, 7)), device=device)
    target = torch.tensor(rng.integers(0, 7, 60), device=device)
    logits[0] = 0  # of equal ones the first
    logits[1, 2] = 800
    for are_logits in (True, False):
        for dtype in (torch.float64, torch.float32, torch.float16):
            table = (logits if are_logits else logits.softmax(1)).to(dtype)
            read = Predictions.from_logits if are_logits else Predictions.from_probabilities
            here = read(target.cpu().numpy(), table.double().cpu().numpy())
            for metric, value in (
                (CalibratedSizeRatio, ALL["csr"](here)),
                (ExpectedCalibrationError, ALL["ece"](here)),
                (partial(ConfidenceWeightedConfusionMatrix, 7), cw_confusion(here).matrix),
            ):
                metric = metric(from_logits=are_logits).to(device)
                for batch in (slice(20), slice(20, None)):
                    metric.update(table[batch], target[batch])
                np.testing.assert_allclose(metric.compute().cpu().numpy(), value, rtol=1e-11, atol=1e-13)
                assert int(metric.found[:3].sum()) == 0
    for are_logits, change, words in (
        (True, (3, 2, math.nan), "1 samples since the last reset have preds that are not finite logits"),
        (True, (3, 2, math.inf), "finite logits"),
        (False, (3, 2, 1.5), "not probabilities from 0 to 1; for logits, from_logits=True"),
        (False, (3, 2, 0.5), "do not add up to 1"),
        (True, None, "a target that is no class number"),
    ):
        table = logits.clone() if are_logits else logits.softmax(1) * 0.4 + 0.6 / 7
        own = target.clone()
        if change:
            table[change[0], change[1]] = change[2]
        else:
            own[5] = 7
        metric = CalibratedSizeRatio(from_logits=are_logits).to(device)
        metric.update(table, own)
        with pytest.raises(InvalidPredictions, match=words):
            metric.compute()
        metric.reset()
        metric.update(logits if are_logits else logits.softmax(1), target)
        metric.compute()
    metric = CalibratedSizeRatio().to(device)
    metric.update(torch.tensor([[1.0, 0, 0], [0.5, 0.25, 0.25]], device=device), torch.tensor([0, 0], device=device))
    warnings.simplefilter("always")
    with pytest.warns(RoundedConfidenceWarning, match="1 rows of float32 probabilities leave exactly nothing"):
        metric.compute()
    print("rows of tables agree")


if __name__ == "__main__":
    main()
