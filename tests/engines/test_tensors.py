"""Tensors: the same numbers as from arrays, on whatever device they lie.

The engine of tensors is run here on the host, where its constructors are called by name; on a machine with an
accelerator the same tests run there too.
"""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from surefoot import InvalidPredictions, Predictions, RoundedConfidenceWarning, assess, risk_test, tally
from surefoot.metrics import ALL
from surefoot.metrics.confusion import confusion, cw_confusion
from surefoot.metrics.roc import roc_curve

torch = pytest.importorskip("torch", reason="torch is not installed")
from surefoot.predictions import tensors  # noqa: E402

pytestmark = pytest.mark.heavy

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
TYPES = {"float64": 1e-12, "float32": 1e-6, "float16": 1e-6, "bfloat16": 1e-6}

ROWS = 5000
_rng = np.random.default_rng(3)
CLASSES = 4
LOGITS = _rng.normal(0, 3, (ROWS, CLASSES))
TRUTH = np.where(_rng.random(ROWS) < 0.7, LOGITS.argmax(axis=1), _rng.integers(0, CLASSES, ROWS))
WEIGHT = _rng.integers(0, 3, ROWS).astype(np.float64)
SECOND = 1 / (1 + np.exp(-LOGITS[:, 0]))
BINARY = (_rng.random(ROWS) < SECOND).astype(np.int64)
CONFIDENCE = np.maximum(SECOND, 1 - SECOND)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def given(name, dtype):
    """The arguments of a constructor, and the constructor's name."""
    scores = {"float64": np.float64, "float32": np.float32}.get(dtype, np.float32)
    if name == "correct":
        return "from_correct", [(BINARY == 1), CONFIDENCE.astype(scores)], {}
    if name == "weighted":
        return "from_correct", [(BINARY == 1), CONFIDENCE.astype(scores)], {"sample_weight": WEIGHT}
    if name == "labels":
        return "from_labels", [TRUTH * 3 - 2, LOGITS.argmax(axis=1) * 3 - 2, softmax(LOGITS).max(axis=1)], {}
    if name == "second":
        return "from_probabilities", [BINARY, SECOND.astype(scores)], {}
    if name == "columns":
        return "from_probabilities", [TRUTH, softmax(LOGITS).astype(scores)], {"sample_weight": WEIGHT}
    if name == "log-odds":
        return "from_logits", [BINARY, LOGITS[:, 0].astype(scores)], {}
    return "from_logits", [TRUTH, LOGITS.astype(scores)], {}


CONSTRUCTORS = ["correct", "weighted", "labels", "second", "columns", "log-odds", "logits"]


def as_tensors(arguments, options, device, dtype):
    def made(x):
        tensor = torch.tensor(x, device=device)
        return tensor.to(getattr(torch, dtype)) if tensor.dtype.is_floating_point else tensor

    return [made(x) for x in arguments], {k: torch.tensor(v, device=device) for k, v in options.items()}


def both(name, device, dtype):
    """The same numbers as arrays and as tensors."""
    constructor, arguments, options = given(name, dtype)
    there, there_options = as_tensors(arguments, options, device, dtype)
    # narrow numbers are rounded by torch first, so that both start from the same
    back = [(x.double() if x.dtype.is_floating_point else x).cpu().numpy() for x in there]
    if dtype == "float32":
        back = [x.astype(np.float32) if x.dtype == np.float64 else x for x in back]
    return getattr(Predictions, constructor)(*back, **options), getattr(tensors.BORDER, constructor)(
        *there, **there_options
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_every_metric_is_that_of_arrays(constructor, dtype, device) -> None:
    arrays, there = both(constructor, device, dtype)
    for name, metric in ALL.items():
        assert bool(metric.missing(arrays)) == bool(metric.missing(there)), name
        if metric.missing(arrays):
            continue
        expected, found = metric(arrays), metric(there)
        assert found == pytest.approx(expected, rel=TYPES[dtype], abs=1e-12, nan_ok=True), name


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_tallies_of_tensors_are_those_of_arrays(constructor, device) -> None:
    arrays, there = both(constructor, device, "float64")
    expected, found = tally(arrays), tally(there)
    assert found.labels == expected.labels
    assert found.tables.keys() == expected.tables.keys()
    for key, table in expected.tables.items():
        other = found.tables[key]
        if key == "class score":
            # a logarithm that rounds otherwise may put a row into the next cell
            assert len(np.setxor1d(table.codes, other.codes)) <= 2
            for name, sums in table.totals.items():
                assert other.totals[name].value.sum() == pytest.approx(sums.value.sum(), rel=1e-12), name
            for name in ("auc", "cw_auc", "cw_average_precision"):
                assert ALL[name].of(found) == pytest.approx(ALL[name].of(expected), abs=1e-6), name
                assert ALL[name].of(found) == pytest.approx(ALL[name](arrays), abs=ALL[name].bound(found) + 1e-12)
            continue
        if key == "doubt" and constructor in ("columns", "log-odds", "logits"):
            # so may a doubt, in its last digit: exponentials differ, and the order in which columns are added
            for name, sums in table.totals.items():
                assert other.totals[name].value.sum() == pytest.approx(sums.value.sum(), rel=1e-12), name
            continue
        assert other.codes.tolist() == table.codes.tolist(), key
        for name, sums in table.totals.items():
            assert other.totals[name].value == pytest.approx(sums.value, rel=1e-12, abs=1e-12), name


@pytest.mark.parametrize("device", DEVICES)
def test_risk_and_assessment_of_tensors(device) -> None:
    arrays, there = both("second", device, "float64")
    expected, found = risk_test(tally(arrays)), risk_test(there)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.log_e == pytest.approx(expected.log_e, rel=1e-9)
    assessed = assess(there, by=torch.tensor(BINARY, device=device))
    assert assessed.verdict == assess(arrays).verdict
    assert [one.value for one in assessed.slices] == [0, 1]
    assert [one.risk.n for one in assess(there, by="predicted").slices] == np.bincount(arrays.predicted).tolist()


@pytest.mark.parametrize("device", DEVICES)
def test_confusion_and_curves_of_tensors(device) -> None:
    arrays, there = both("labels", device, "float64")
    assert cw_confusion(there).matrix == pytest.approx(cw_confusion(arrays).matrix, rel=1e-12)
    assert cw_confusion(there).labels == cw_confusion(arrays).labels
    assert confusion(there, labels=[1, 4]).matrix.tolist() == confusion(arrays, labels=[1, 4]).matrix.tolist()
    arrays, there = both("second", device, "float64")
    expected, found = roc_curve(arrays), roc_curve(there)
    assert found.auc == pytest.approx(expected.auc, rel=1e-12)
    assert found.thresholds == pytest.approx(expected.thresholds, rel=1e-12)
    assert found.tpr == pytest.approx(expected.tpr, abs=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_doubt_from_narrow_logits_keeps_its_digits(dtype, device) -> None:
    logits = torch.tensor([[20.0, 0.0, 0.0], [80.0, 8.0, -8.0]], dtype=getattr(torch, dtype), device=device)
    p = tensors.BORDER.from_logits(torch.tensor([0, 0], device=device), logits)
    # 2 exp(-20) / (1 + 2 exp(-20)), and exp(-72) + exp(-88): where a softmax of any of these types says 1
    expected = [2 * math.exp(-20) / (1 + 2 * math.exp(-20)), math.exp(-72) + math.exp(-88)]
    assert p.doubt.tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("dtype", "doubt"), [("float32", 2**-21), ("float16", 2**-8), ("bfloat16", 2**-5)])
def test_a_narrow_one_is_rounded_and_not_certain(dtype, doubt, device) -> None:
    c = torch.tensor([1.0, 0.5, 1.0], dtype=getattr(torch, dtype), device=device)
    with pytest.warns(RoundedConfidenceWarning, match="2 of 3 values of confidence are 1.0"):
        p = tensors.BORDER.from_correct(torch.tensor([True, False, False], device=device), c)
    assert p.rounded == 2
    assert p.doubt.tolist() == [doubt, 0.5, doubt]
    assert ALL["csr"](p) == pytest.approx((1 / 0.5 + 1 / doubt) / 3, rel=1e-12)
    assert ALL["csr"](p.rows()) == ALL["csr"](p)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("constructor", "arguments", "said"),
    [
        ("from_correct", [[1, 0], [0.5, math.nan]], r"confidence\[1\] is nan"),
        ("from_correct", [[1, 2], [0.5, 0.5]], r"correct\[1\] is 2"),
        ("from_correct", [[1, 0], [0.5, 1.5]], r"confidence\[1\] is 1.5, outside \[0, 1\]"),
        ("from_correct", [[1, 0, 1], [0.5, 0.5]], "confidence has 2 rows"),
        ("from_correct", [[1, 0], [[0.5, 0.5]]], "must have one dimension"),
        ("from_correct", [[1, 0], [1, 0]], "holds integers"),
        ("from_labels", [[1, 0], [True, False], [0.5, 0.5]], "y_true holds integers"),
        ("from_labels", [[1.5, 0.0], [1, 0], [0.5, 0.5]], r"y_true\[0\] is 1.5, which is no label"),
        ("from_probabilities", [[0, 1], [[0.5, 0.5], [0.5, 0.4]]], r"probabilities\[1\] adds up to 0.9"),
        ("from_probabilities", [[0, 7], [[0.5, 0.5], [0.5, 0.5]]], None),
        ("from_probabilities", [[0, 1, 2], [0.5, 0.5, 0.4]], "3 distinct labels"),
        ("from_logits", [[0, 1], [[0.5, -math.inf], [0.5, 0.4]]], r"logits\[0, 1\] is -inf"),
    ],
)
def test_bad_tensors_are_named(constructor, arguments, said, device) -> None:
    made = [torch.tensor(argument, device=device) for argument in arguments]
    if said is None:
        assert getattr(tensors.BORDER, constructor)(*made).labels == (0, 7)
        return
    with pytest.raises(InvalidPredictions, match=said):
        getattr(tensors.BORDER, constructor)(*made)


@pytest.mark.parametrize("device", DEVICES)
def test_weights_and_mixtures_are_checked(device) -> None:
    correct, c = torch.tensor([True, False], device=device), torch.tensor([0.5, 0.6], device=device)
    for weight, said in ([[-1.0, 1.0], "below 0"], [[0.0, 0.0], "all others"], [[1e60, 1.0], "float64"]):
        with pytest.raises(InvalidPredictions, match=said):
            tensors.BORDER.from_correct(
                correct, c, sample_weight=torch.tensor(weight, dtype=torch.float64, device=device)
            )
    with pytest.raises(InvalidPredictions, match="confidence is a list"):
        tensors.BORDER.from_correct(correct, [0.5, 0.6])
    with pytest.raises(InvalidPredictions, match="floor"):
        tensors.BORDER.from_correct(correct, c, floor=0.7)
    clipped = tensors.BORDER.from_correct(correct, torch.tensor([1.0, 0.6], device=device), floor=1e-8)
    assert float(clipped.doubt[0]) == pytest.approx(1e-8, rel=1e-7)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("constructor", CONSTRUCTORS)
def test_tensors_that_were_given_are_left_alone(constructor, device) -> None:
    name, arguments, options = given(constructor, "float64")
    made, more = as_tensors(arguments, options, device, "float64")
    copies = [tensor.clone() for tensor in made]
    tally(getattr(tensors.BORDER, name)(*made, **more))
    assert all(torch.equal(one, other) for one, other in zip(made, copies, strict=True))


@pytest.mark.parametrize("device", DEVICES)
def test_unequal_weights_are_judged_by_the_exact_law(device) -> None:
    correct, c, weight = np.ones(100, dtype=bool), np.full(100, 0.999), np.ones(100)
    correct[0], weight[1] = False, 1.01
    arrays = Predictions.from_correct(correct, c, sample_weight=weight)
    there = tensors.BORDER.from_correct(
        *(torch.tensor(x, device=device) for x in (correct, c)), sample_weight=torch.tensor(weight, device=device)
    )
    assert assess(there).verdict == assess(arrays).verdict
    assert risk_test(there).pvalue == risk_test(arrays).pvalue


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("device", DEVICES)
def test_whatever_needs_rows_gets_them(device) -> None:
    from surefoot import ecce_test, ecd_test, intervals, plots, tcal_test
    from surefoot.metrics.adaptive import eci_parts

    arrays, there = both("second", device, "float64")
    assert ecd_test(there) == ecd_test(arrays)
    assert ecce_test(there) == ecce_test(arrays)
    assert tcal_test(there, rng=np.random.default_rng(0)) == tcal_test(arrays, rng=np.random.default_rng(0))
    assert eci_parts(there) == eci_parts(arrays)
    assert intervals(there)["cw_accuracy"].low == intervals(arrays)["cw_accuracy"].low
    assert plots.ReliabilityDisplay.from_predictions(there) is not None


@pytest.mark.parametrize("device", DEVICES)
def test_columns_mean_the_same_on_every_device(device) -> None:
    y, p = np.array([5, 1, 5]), np.array([[0.2, 0.8], [0.7, 0.3], [1.0, 0.0]])
    arrays = Predictions.from_probabilities(y, p)
    there = tensors.BORDER.from_probabilities(torch.tensor(y, device=device), torch.tensor(p, device=device))
    for name in ("truth", "predicted", "correct", "wrong", "confidence", "doubt", "weight"):
        assert getattr(there, name).tolist() == getattr(arrays, name).tolist(), name
    for name in ("labels", "certain", "certain_wrong", "rounded"):
        assert getattr(there, name) == getattr(arrays, name), name


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_no_tensor_is_named(device) -> None:
    y, p = torch.tensor([0, 1], device=device), torch.tensor([0.2, 0.7], device=device)
    for arguments, said in (
        ((None, p), "y_true is missing"),
        ((y, None), "probabilities is missing"),
        ((np.array([0, 1]), p), "y_true is a ndarray"),
    ):
        with pytest.raises(InvalidPredictions, match=said):
            tensors.BORDER.from_probabilities(*arguments)
    assert tensors.BORDER.from_probabilities(y, p, labels=np.array([0, 1])).labels == (0, 1)
    with pytest.raises(InvalidPredictions, match="booleans"):
        tensors.BORDER.from_probabilities(y, p, labels=(False, True))
    with pytest.raises(InvalidPredictions, match="too large"):
        tensors.BORDER.from_labels(
            torch.tensor([2**63 + 1, 0], dtype=torch.uint64), torch.tensor([0, 1]), torch.rand(2)
        )
    with pytest.raises(InvalidPredictions, match="true and false"):
        tensors.BORDER.from_logits(y, torch.tensor([True, False], device=device))
    rows = tensors.BORDER.from_probabilities(y, p)
    with pytest.raises(InvalidPredictions, match="by is a list"):
        tally(rows, by=[1, 2])
    assert list(tally(rows, by=torch.tensor([1.0, 2.0], device=device)).slices) == [1, 2]


def test_tensors_of_the_host_are_looked_at_as_arrays() -> None:
    confidence = torch.tensor([0.9, 0.6])
    p = Predictions.from_correct(torch.tensor([True, False]), confidence)
    assert isinstance(p, Predictions)
    assert np.shares_memory(p.confidence, confidence.numpy())


def test_the_fused_kernel_gives_the_same_sums() -> None:
    """By Triton's interpreter where there is no GPU: the same source."""
    pytest.importorskip("triton", reason="triton is not installed")
    script = Path(__file__).with_name("fused_kernel.py")
    interpreted = {} if torch.cuda.is_available() else {"TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, script], env={**os.environ, **interpreted}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "6 requests agree" in done.stdout
    assert "counted confidences agree" in done.stdout
    assert "areas of classes agree" in done.stdout
    assert "rows of tables agree" in done.stdout


@pytest.mark.skipif(len(DEVICES) == 1, reason="no GPU")
def test_the_same_tensors_give_the_same_bits() -> None:
    generator = torch.Generator("cuda").manual_seed(0)
    p = torch.rand(3_000_000, device="cuda", generator=generator) * 0.99
    y = (torch.rand(3_000_000, device="cuda", generator=generator) < p).long()
    torch.use_deterministic_algorithms(True)
    try:
        found = {
            (ALL["cw_auc"](q), ALL["csr"](q), ALL["ece"](q)) for q in [tensors.BORDER.from_probabilities(y, p)] * 3
        }
    finally:
        torch.use_deterministic_algorithms(False)
    assert len(found) == 1
