"""
Near certainty: the stretched diagram
=====================================

A plain reliability diagram squeezes 99% and 99.99% into one point. Here doubt (1 -
confidence) is drawn on log axes, so each step to the right is ten times as sure. This
is where overconfidence hides, and where errors cost most.
"""

import numpy as np

import surefoot as sf

# a classifier of six classes whose probabilities are too sharp
rng = np.random.default_rng(0)
honest = rng.dirichlet(np.full(6, 0.3), 5000)
y_true = np.array([rng.choice(6, p=row) for row in honest])
sharp = honest**1.5
sharp /= sharp.sum(axis=1, keepdims=True)

sf.plots.StretchedReliabilityDisplay.from_predictions(y_true, sharp).plot()

# %%
# ECE gives the same weight to a gap at 60% and to one at 99.99%. The expected errors do not:

a = sf.assess(y_true, sharp)
print(f"ECE {a.ece:.3f}")
print(
    f"{a.risk.observed_errors:.0f} errors where about {a.risk.expected_errors:.0f} were expected"
)
