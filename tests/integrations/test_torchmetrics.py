"""Metrics for training loops: the values of arrays, and what torchmetrics asks of its own."""

import math
import pickle
import warnings
from functools import partial

import numpy as np
import pytest

import surefoot as sf

torch = pytest.importorskip("torch", reason="torch is not installed")
torchmetrics = pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")

from surefoot.torchmetrics import (  # noqa: E402
    CWAUROC,
    BrierScore,
    CalibratedSizeRatio,
    ConfidenceWeightedAccuracy,
    ConfidenceWeightedConfusionMatrix,
    ExpectedCalibrationError,
    Reliability,
    RiskProbability,
)

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

BATCHES, SIZE, CLASSES = 6, 64, 5
_generator = torch.Generator().manual_seed(1)
LOGITS = torch.randn(BATCHES, SIZE, CLASSES, generator=_generator, dtype=torch.float64) * 2
TARGET = torch.randint(0, CLASSES, (BATCHES, SIZE), generator=_generator)
TARGET = torch.where(torch.rand(BATCHES, SIZE, generator=_generator) < 0.6, LOGITS.argmax(-1), TARGET)
SECOND = LOGITS[:, :, 0].sigmoid()
BINARY = (torch.rand(BATCHES, SIZE, generator=_generator) < SECOND).long()


def cw_matrix(p):
    return sf.cw_confusion(p).matrix


MANY = {
    "csr": (CalibratedSizeRatio, sf.csr),
    "risk": (RiskProbability, sf.p_risk),
    "cwa": (partial(ConfidenceWeightedAccuracy, num_classes=CLASSES), sf.cw_accuracy),
    "ece": (ExpectedCalibrationError, sf.ece),
    "ece in seven bins": (partial(ExpectedCalibrationError, n_bins=7), partial(sf.ece, n_bins=7)),
    "brier": (BrierScore, sf.brier),
    "matrix": (partial(ConfidenceWeightedConfusionMatrix, CLASSES), cw_matrix),
    "binned": (partial(CWAUROC, CLASSES), sf.cw_auc),
    "exact": (partial(CWAUROC, CLASSES, exact=True), sf.cw_auc),
    "by class": (partial(CWAUROC, CLASSES, None, exact=True), partial(sf.cw_auc, average=None)),
}
TWO = {
    **{name: MANY[name] for name in ("csr", "risk", "ece", "ece in seven bins", "brier")},
    "cwa": (partial(ConfidenceWeightedAccuracy, num_classes=2), sf.cw_accuracy),
    "matrix": (partial(ConfidenceWeightedConfusionMatrix, 2), cw_matrix),
    "binned": (CWAUROC, sf.cw_auc),
    "exact": (partial(CWAUROC, exact=True), sf.cw_auc),
}
CASES = {
    **{f"many {name}": (made, value, LOGITS.softmax(-1), TARGET) for name, (made, value) in MANY.items()},
    **{f"two {name}": (made, value, SECOND, BINARY) for name, (made, value) in TWO.items()},
}


def expected(value, preds, target):
    p = sf.Predictions.from_probabilities(
        target.reshape(-1).numpy(),
        preds.reshape(-1, *preds.shape[2:]).numpy(),
        labels=range(CLASSES if preds.ndim == 3 else 2),
    )
    return value(p)


def assert_value(metric, found, wanted, case):
    tolerance = metric.bound() if "binned" in case else 0.0
    assert np.asarray(found) == pytest.approx(np.asarray(wanted), rel=1e-12, abs=tolerance + 1e-12)


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_arrays(case) -> None:
    """What torchmetrics' own tester does: forward, compute, pickling in between, reset, hash and state."""
    made, value, preds, target = CASES[case]
    metric = pickle.loads(pickle.dumps(made()))
    assert metric.state_dict() == {}
    assert isinstance(hash(metric), int)
    assert str(metric)
    with pytest.raises(RuntimeError):
        metric.higher_is_better = True
    with pytest.raises(RuntimeError):
        metric.is_differentiable = True
    for i in range(BATCHES):
        batch = metric(preds[i], target[i])
        single = made()
        single.update(preds[i], target[i])
        # forward gives the value of the batch
        assert_value(single, batch, expected(value, preds[[i]], target[[i]]), case)
        metric = pickle.loads(pickle.dumps(metric))
    assert_value(metric, metric.compute(), expected(value, preds, target), case)
    assert metric.update_count == BATCHES
    clone = metric.clone()
    metric.reset()
    assert np.isnan(np.asarray(metric.compute())).all() or "matrix" in case
    assert_value(clone, clone.compute(), expected(value, preds, target), case)


@pytest.mark.parametrize("case", CASES)
def test_states_merge(case) -> None:
    made, value, preds, target = CASES[case]
    one, other = made(), made()
    for i in range(BATCHES):
        (one if i < 2 else other).update(preds[i], target[i])
    one.merge_state(other)
    assert_value(one, one.compute(), expected(value, preds, target), case)


@pytest.mark.parametrize("case", CASES)
def test_half_and_float_leave_the_sums_alone(case) -> None:
    made, value, preds, target = CASES[case]
    metric = torch.nn.ModuleList([made().half()]).half()[0]
    for i in range(BATCHES):
        metric.update(preds[i], target[i])
    assert_value(metric, metric.compute(), expected(value, preds, target), case)


@pytest.mark.parametrize("case", CASES)
def test_checkpoints_restore(case) -> None:
    made, value, preds, target = CASES[case]
    metric = made()
    metric.persistent(True)
    for i in range(3):
        metric.update(preds[i], target[i])
    saved = metric.state_dict()
    restored = made()
    restored.persistent(True)
    restored.load_state_dict(saved)
    for i in range(3, BATCHES):
        restored.update(preds[i], target[i])
    assert_value(restored, restored.compute(), expected(value, preds, target), case)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_logits_are_taken_at_their_word(dtype) -> None:
    logits = LOGITS.reshape(-1, CLASSES).to(dtype)
    target = TARGET.reshape(-1)
    p = sf.Predictions.from_logits(target.numpy(), logits.double().numpy(), labels=range(CLASSES))
    for made, value in ((CalibratedSizeRatio, sf.csr), (partial(CWAUROC, CLASSES, exact=True), sf.cw_auc)):
        metric = made(from_logits=True)
        metric.update(logits, target)
        assert float(metric.compute()) == pytest.approx(value(p), rel=1e-12)
    with pytest.raises(sf.InvalidPredictions, match="outside"):
        CalibratedSizeRatio().update(logits, target)


def test_they_work_together() -> None:
    collection = torchmetrics.MetricCollection(
        [CalibratedSizeRatio(), RiskProbability(), ConfidenceWeightedAccuracy(), CWAUROC(CLASSES)]
    )
    for i in range(BATCHES):
        collection.update(LOGITS[i].softmax(-1), TARGET[i])
    found = collection.compute()
    assert set(found) == {"CalibratedSizeRatio", "RiskProbability", "ConfidenceWeightedAccuracy", "CWAUROC"}
    assert float(found["CalibratedSizeRatio"]) == pytest.approx(expected(sf.csr, LOGITS.softmax(-1), TARGET))


def test_a_collection_keeps_apart_what_reads_batches_differently() -> None:
    collection = torchmetrics.MetricCollection(
        {"all": ConfidenceWeightedAccuracy(), "some": ConfidenceWeightedAccuracy(ignore_index=0)}
    )
    collection.update(torch.tensor([0.9, 0.8]), torch.tensor([1, 1]))
    collection.update(torch.tensor([0.9, 0.8]), torch.tensor([0, 0]))
    assert {name: float(value) for name, value in collection.compute().items()} == {"all": 0.5, "some": 1.0}


def test_what_is_beside_the_value_is_of_all_processes_too() -> None:
    together = {"dist_sync_fn": lambda x, group=None: [x, x], "distributed_available_fn": lambda: True}
    metric = ConfidenceWeightedConfusionMatrix(2, **together)
    metric.update(torch.tensor([0.9, 0.2, 0.75, 0.6]), torch.tensor([1, 0, 0, 1]))
    assert metric.confusion().matrix == pytest.approx(np.asarray(metric.compute()))


def test_buffers_may_be_used_again() -> None:
    preds, target = torch.tensor([0.1, 0.4, 0.35, 0.8]), torch.tensor([0, 0, 1, 1])
    metric = CWAUROC(exact=True)
    metric.update(preds, target)
    preds.zero_()
    assert float(metric.compute()) == pytest.approx(1.785 / 2.175, rel=1e-6)


def test_pixels_and_rows_that_do_not_count() -> None:
    preds = LOGITS.softmax(-1).permute(0, 2, 1).reshape(BATCHES, CLASSES, 8, 8)
    target = TARGET.reshape(BATCHES, 8, 8).clone()
    metric = ConfidenceWeightedAccuracy(ignore_index=-1)
    metric.update(preds, target)
    assert float(metric.compute()) == pytest.approx(expected(sf.cw_accuracy, LOGITS.softmax(-1), TARGET))
    masked = torch.where(torch.arange(8) < 4, -1, target)
    metric.reset()
    metric.update(preds, masked)
    kept = (masked != -1).reshape(-1)
    p = sf.Predictions.from_probabilities(
        TARGET.reshape(-1)[kept].numpy(), LOGITS.softmax(-1).reshape(-1, CLASSES)[kept].numpy(), labels=range(CLASSES)
    )
    assert float(metric.compute()) == pytest.approx(sf.cw_accuracy(p))
    metric.reset()
    metric.update(preds, torch.full_like(target, -1))
    assert math.isnan(metric.compute())


@pytest.mark.parametrize(
    ("made", "preds", "target", "said"),
    [
        (CalibratedSizeRatio, [0.5, 1.5], [0, 1], "outside"),
        (CalibratedSizeRatio, [0.5, math.nan], [0, 1], "nan"),
        (CalibratedSizeRatio, [0.5, 0.5], [0, 2], r"y_true\[1\] is 2"),
        (CalibratedSizeRatio, [0.5, 0.5], [0.0, 1.0], "must hold class numbers"),
        (CalibratedSizeRatio, [[[0.5, 0.5]]], [0], "shape"),
        (CalibratedSizeRatio, [[0.5, 0.5, 0.1]], [[0], [1], [1]], "shape"),
        (CalibratedSizeRatio, [], [1], "shape"),
        (CalibratedSizeRatio, [0.5, 0.5], 1, "shape"),
        (partial(CWAUROC, 3), [0.5, 0.5], [0, 1], "2 classes"),
        (partial(ExpectedCalibrationError, 3), [0.5, 0.5], [0, 1], "2 classes, but num_classes is 3"),
        (partial(BrierScore, num_classes=3), [0.5, 0.5], [0, 1], "2 classes, but num_classes is 3"),
    ],
)
def test_bad_batches_are_refused_and_nothing_is_added(made, preds, target, said) -> None:
    metric = made()
    with pytest.raises(sf.InvalidPredictions, match=said):
        metric.update(torch.tensor(preds), torch.tensor(target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(metric.compute())


@pytest.mark.parametrize("case", ["many csr", "many matrix", "two binned"])
def test_they_draw_themselves(case) -> None:
    import matplotlib.pyplot as plt

    made, _, preds, target = CASES[case]
    metric = made()
    metric.update(preds[0], target[0])
    figure, axes = metric.plot()
    assert axes is not None
    plt.close(figure)


def test_ece_and_brier_are_those_of_torchmetrics() -> None:
    preds, target = LOGITS.softmax(-1).reshape(-1, CLASSES), TARGET.reshape(-1)
    ours = ExpectedCalibrationError(num_classes=CLASSES)
    theirs = torchmetrics.classification.MulticlassCalibrationError(num_classes=CLASSES, n_bins=15)
    assert float(ours(preds, target)) == pytest.approx(float(theirs(preds, target)), abs=1e-6)
    second, binary = SECOND.reshape(-1), BINARY.reshape(-1)
    assert float(BrierScore()(second, binary)) == pytest.approx(float(((second - binary) ** 2).mean()), rel=1e-12)


@pytest.mark.parametrize(("preds", "target"), [(LOGITS.softmax(-1), TARGET), (SECOND, BINARY)], ids=["many", "two"])
def test_reliability_and_assessment_of_all_batches(preds, target) -> None:
    metric = Reliability(num_classes=2 if preds.ndim == 2 else CLASSES)
    for i in range(BATCHES):
        metric.update(preds[i], target[i])
    metric = pickle.loads(pickle.dumps(metric))
    curve = expected(sf.reliability_curve, preds, target)
    found = metric.compute().numpy()
    assert found == pytest.approx(
        np.stack([curve.prob_pred, curve.prob_true, curve.lower, curve.upper, curve.count], axis=1)
    )
    assert metric.curve().count == pytest.approx(curve.count)
    a, wanted = metric.assess(level=0.01), expected(partial(sf.assess, level=0.01), preds, target)
    assert (a.verdict, a.level) == (wanted.verdict, 0.01)
    assert dict(a) == pytest.approx(dict(wanted), nan_ok=True)
    assert a.risk.pvalue_omnibus == pytest.approx(wanted.risk.pvalue_omnibus)
    other = Reliability()
    other.update(preds[0], target[0])
    other.merge_state(metric)
    assert other.compute()[:, 4].sum() == (BATCHES + 1) * SIZE


def test_reliability_before_any_batch_and_as_a_picture() -> None:
    import matplotlib.pyplot as plt

    metric = Reliability(n_bins=5, from_logits=True)
    assert metric.compute().shape == (0, 5)
    with pytest.raises(sf.InvalidPredictions, match="no batches"):
        metric.assess()
    metric.update(LOGITS[0], TARGET[0])
    figure, axes = metric.plot()
    assert axes.get_xlabel()
    plt.close(figure)
    with pytest.raises(sf.InvalidPredictions, match="5 classes, but num_classes is 3"):
        Reliability(3).update(LOGITS[0].softmax(-1), TARGET[0])


def test_in_a_lightning_module(tmp_path) -> None:
    lightning = pytest.importorskip("lightning", reason="lightning is not installed")

    class Model(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(8, CLASSES)
            options = {"num_classes": CLASSES, "from_logits": True}
            self.metrics = torchmetrics.MetricCollection(
                {"csr": CalibratedSizeRatio(**options), "ece": ExpectedCalibrationError(**options)}
            )
            self.reliability = Reliability(**options)

        def training_step(self, batch, index):
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def validation_step(self, batch, index) -> None:
            logits = self.layer(batch[0])
            self.metrics.update(logits, batch[1])
            self.reliability.update(logits, batch[1])
            self.log_dict(self.metrics)

        def on_validation_epoch_end(self) -> None:
            self.verdict = self.reliability.assess().verdict
            self.reliability.reset()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    torch.manual_seed(0)
    features = torch.randn(256, 8)
    data = torch.utils.data.TensorDataset(features, features[:, :CLASSES].argmax(1))
    loader = torch.utils.data.DataLoader(data, batch_size=64)
    model = Model()
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        default_root_dir=tmp_path,
    )
    trainer.fit(model, loader, loader)
    with torch.no_grad():
        p = sf.Predictions.from_logits(data.tensors[1].numpy(), model.layer(features).double().numpy())
    assert float(trainer.callback_metrics["csr"]) == pytest.approx(sf.csr(p), rel=1e-5)
    assert float(trainer.callback_metrics["ece"]) == pytest.approx(sf.ece(p), rel=1e-5)
    assert model.verdict == sf.assess(p).verdict


def _process(rank: int, address: str, results: str) -> None:
    torch.distributed.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    values = {}
    for case, (made, _, preds, target) in CASES.items():
        metric = made(dist_sync_on_step=False)
        # unequal shares: two batches here, four there
        for i in range(BATCHES):
            if (i < 2) == (rank == 0):
                metric.update(preds[i], target[i])
        values[case] = np.asarray(metric.compute())
    if rank == 0:
        np.savez(results, **{case.replace(" ", "_"): value for case, value in values.items()})
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def test_two_processes_are_one(tmp_path) -> None:
    address, results = f"file://{tmp_path}/rendezvous", str(tmp_path / "values.npz")
    torch.multiprocessing.spawn(_process, args=(address, results), nprocs=2)
    with np.load(results) as values:
        for case, (made, value, preds, target) in CASES.items():
            metric = made()
            metric.update(preds.reshape(-1, *preds.shape[2:]), target.reshape(-1))
            assert_value(metric, values[case.replace(" ", "_")], expected(value, preds, target), case)
