"""Every display, of a model that is too sure, in one picture: python examples/gallery.py docs/plots.png"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import surefoot as sf
from surefoot import plots

rng = np.random.default_rng(0)
p = rng.dirichlet(np.ones(6) * 0.3, 5000)
truth = np.array([rng.choice(6, p=row) for row in p])


def with_power(power: float) -> sf.Predictions:
    """The same model, its probabilities sharpened or blunted."""
    changed = p**power
    return sf.Predictions.from_probabilities(truth, changed / changed.sum(axis=1, keepdims=True))


sharp = with_power(1.5)
displays = [
    plots.ReliabilityDisplay.from_predictions(sharp),
    plots.StretchedReliabilityDisplay.from_predictions(sharp),
    plots.RocDisplay.from_predictions(sharp),
    plots.RiskCoverageDisplay.from_predictions(sharp),
    plots.ConcentrationDisplay.from_predictions(sharp),
    plots.SlicesDisplay.from_predictions(sharp),
    plots.WealthDisplay.from_predictions(sharp),
    plots.CalibratorsDisplay.from_predictions(
        {"as it is": sharp, "blunted": with_power(0.6), "calibrated": with_power(1)}
    ),
]
figure, axes = plt.subplots(2, 4, figsize=(15, 7.2), layout="constrained")
for display, ax in zip(displays, axes.flat, strict=True):
    display.plot(ax=ax)
figure.savefig(sys.argv[1], dpi=80)
