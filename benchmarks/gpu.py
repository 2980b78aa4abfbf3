"""Speed on a GPU, as times beside what the hardware and others take in the same run: `python benchmarks/gpu.py`.

Runs from a plain checkout and needs nothing but torch, triton, torchmetrics and NumPy. Writes `benchmarks/GPU.md`, or
the file named as its argument.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from surefoot import Predictions, assess, tally
from surefoot.metrics import ALL

SIX = ("csr", "csr_sigma", "cw_accuracy", "accuracy", "brier", "ece")


def timed(job: Callable[[], object], times: int = 10) -> float:
    """The median time of a job in milliseconds, to the last kernel's end."""
    took = []
    for _ in range(times + 3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        job()
        torch.cuda.synchronize()
        took.append(time.perf_counter() - start)
    return float(np.median(took[3:])) * 1e3


def claims(rows: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """Confidences between one half and 1, and whether each row was right, as calibrated."""
    generator = torch.Generator("cuda").manual_seed(rows)
    confidence = torch.rand(rows, device="cuda", dtype=dtype, generator=generator).mul_(0.49).add_(0.5)
    correct = torch.empty(rows, dtype=torch.bool, device="cuda")
    for start in range(0, rows, 1 << 27):
        part = slice(start, start + (1 << 27))
        drawn = torch.rand(len(confidence[part]), device="cuda", dtype=dtype, generator=generator)
        correct[part] = drawn < confidence[part]
    return correct, confidence


def scored(rows: int, dtype: torch.dtype = torch.float32) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of the second class, and the classes."""
    generator = torch.Generator("cuda").manual_seed(rows)
    score = torch.rand(rows, device="cuda", dtype=dtype, generator=generator).mul_(0.99)
    return (torch.rand(rows, device="cuda", dtype=dtype, generator=generator) < score).long(), score


def agreement() -> list[str]:
    """How far values from the GPU are from those of NumPy on the same numbers."""
    lines = ["| numbers | largest relative difference from NumPy | in |", "|---|---:|---|"]
    for dtype in (torch.float64, torch.float32):
        truth, score = scored(1_000_000, dtype)
        there, here = (Predictions.from_probabilities(y, p) for y, p in ((truth, score), (truth.cpu(), score.cpu())))
        apart = {}
        for name, metric in ALL.items():
            if "prediction" not in metric.views or not (metric.additive or metric.is_ranking):
                continue  # of events; or its formula walks along the rows on the host either way
            expected = metric(here)
            apart[name] = abs(metric(there) - expected) / max(abs(expected), 1e-300)
        worst = max(apart, key=lambda name: apart[name])
        lines.append(f"| 1e6 {str(dtype).removeprefix('torch.')} | {apart[worst]:.1e} | `{worst}`, of {len(apart)} |")
    return lines


class Page:
    """Times side by side, told as they come."""

    def __init__(self) -> None:
        self.rows = ["| | ms | beside | ms | ratio |", "|---|---:|---|---:|---:|"]

    def told(self, what: str, own: float, beside: str, other: float) -> None:
        print(f"{what}: {own:.2f} ms; {beside}: {other:.2f} ms; ratio {own / other:.2f}", flush=True)
        self.rows.append(f"| {what} | {own:.2f} | {beside} | {other:.2f} | {own / other:.2f} |")


def copied() -> float:
    """What a copy within the GPU's memory moves, read and written, in TB/s."""
    source = torch.empty(1 << 30, dtype=torch.float32, device="cuda").uniform_()
    target = torch.empty_like(source)
    return 2 * source.nbytes / timed(lambda: target.copy_(source)) / 1e9


def tallies(page: Page, bandwidth: float) -> None:
    correct, confidence = claims(1_000_000_000)
    p = Predictions.from_correct(correct, confidence)
    least = (correct.nbytes + confidence.nbytes) / bandwidth / 1e9
    page.told(
        "tally of six metrics, 1e9 float32", timed(lambda: tally(p, SIX)), "reading the rows at copy speed", least
    )
    checked = timed(lambda: Predictions.from_correct(correct, confidence))
    page.told(
        "checks of the constructor, the same", checked, "reading the confidences", confidence.nbytes / bandwidth / 1e9
    )


def assessments(page: Page, bandwidth: float) -> None:
    """All that a tally holds, of confidences of several kinds: a billion of one value are the worst for counting."""
    correct, confidence = claims(1_000_000_000)
    least = (correct.nbytes + confidence.nbytes) / bandwidth / 1e9
    for what, change in (
        ("", lambda: confidence),
        (", of two decimals", lambda: confidence.mul(100).round_().div_(100)),
        (", all but 1", lambda: 1 - (1 - confidence) ** 4 / 8),
        (", all equal", lambda: torch.full_like(confidence, 0.9)),
    ):
        p = Predictions.from_correct(correct, change())
        own = timed(lambda p=p: tally(p), 3)
        page.told(f"tally of every additive metric, 1e9 float32{what}", own, "reading the rows at copy speed", least)
        if not what:
            page.told("`assess` of the same", timed(lambda p=p: assess(p), 3), "the same", least)
        del p


def many_classes(page: Page) -> None:
    """A thousand classes: rankings, confusion, and the metrics of a training loop."""
    import torchmetrics

    import surefoot.torchmetrics as own_metrics

    generator = torch.Generator("cuda").manual_seed(1)
    truth = torch.randint(0, 1000, (50_000,), device="cuda", generator=generator)
    logits = torch.randn(50_000, 1000, device="cuda", generator=generator)
    logits[torch.arange(50_000), truth] += 3
    p = Predictions.from_probabilities(truth, logits.softmax(1))
    columns = p.probabilities.T.contiguous()
    sort = timed(lambda: columns.sort(dim=1), 5)
    page.told("`cw_auc`, 50,000 x 1,000", timed(lambda: ALL["cw_auc"](p), 5), "torch.sort of each class", sort)
    reading = timed(lambda: p.probabilities.amax(), 5)
    page.told("`cw_f1`, 50,000 x 1,000", timed(lambda: ALL["cw_f1"](p), 5), "largest of the table", reading)
    batch, labels = logits[:4096].contiguous(), truth[:4096].contiguous()
    other = torchmetrics.classification.MulticlassCalibrationError(1000, n_bins=15).to("cuda")
    theirs = timed(lambda: other.update(batch.softmax(1), labels), 100)
    for name in ("CalibratedSizeRatio", "ExpectedCalibrationError"):
        metric = getattr(own_metrics, name)(1000, from_logits=True).to("cuda")
        torch.cuda.set_sync_debug_mode("default")
        metric.update(batch, labels)
        torch.cuda.set_sync_debug_mode("error")
        metric.update(batch, labels)
        torch.cuda.set_sync_debug_mode("default")
        own = timed(lambda metric=metric: metric.update(batch, labels), 100)
        page.told(
            f"`{name}.update`, 4,096 x 1,000 logits, which waits for nothing",
            own,
            "torchmetrics' calibration error of their softmax",
            theirs,
        )


def areas(page: Page) -> None:
    truth, score = scored(100_000_000)
    p = Predictions.from_probabilities(truth, score)
    sort = timed(lambda: torch.sort(score), 5)
    for name in ("cw_auc", "auc"):
        metric = ALL[name]
        own = timed(lambda metric=metric: metric(p), 5)
        page.told(f"exact `{name}`, 1e8 float32", own, "torch.sort of the scores", sort)


def others(page: Page) -> None:
    from torchmetrics.functional.classification import binary_auroc, binary_calibration_error

    truth, score = scored(10_000_000)
    own = timed(lambda: ALL["ece"](Predictions.from_probabilities(truth, score)))
    other = timed(lambda: binary_calibration_error(score, truth, n_bins=15, norm="l1"), 5)
    page.told("ECE from scores, checks included, 1e7", own, "torchmetrics", other)
    other = timed(lambda: binary_auroc(score, truth), 20)
    for name in ("auc", "cw_auc"):
        metric = ALL[name]
        own = timed(lambda metric=metric: metric(Predictions.from_probabilities(truth, score)), 20)
        page.told(f"`{name}` from scores, checks included, 1e7", own, "torchmetrics' AUROC", other)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", default=str(Path(__file__).with_name("GPU.md")))
    out = Path(parser.parse_args().out)
    warnings.simplefilter("ignore")
    page = Page()
    bandwidth = copied()
    print(f"copy: {bandwidth:.2f} TB/s", flush=True)
    for job in (
        lambda: many_classes(page),
        lambda: tallies(page, bandwidth),
        lambda: assessments(page, bandwidth),
        lambda: areas(page),
        lambda: others(page),
    ):
        job()
        torch.cuda.empty_cache()
    text = [
        "# Speed on a GPU",
        f"Made by `python benchmarks/gpu.py` on {datetime.date.today()}: {torch.cuda.get_device_name()}, torch "
        f"{torch.__version__}. A copy within its memory moved {bandwidth:.2f} TB/s, read and written, in the same run. "
        "Medians in milliseconds, from the call to the number on the host.",
        "\n".join(page.rows),
        "## The same numbers\n\n" + "\n".join(agreement()),
    ]
    out.write_text("\n\n".join(text) + "\n", encoding="utf-8")
    print(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
