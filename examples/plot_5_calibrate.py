"""
Fix an overconfident model
==========================

:func:`surefoot.calibrate` fits every calibrator to half of the samples you give it
and compares them on the other half. It recommends the most useful one among those
with a guarantee.
"""

import matplotlib.pyplot as plt
import numpy as np

import surefoot as sf

# probabilities that are three times too far from one half, on the scale of log-odds
rng = np.random.default_rng(0)
x = rng.normal(0, 2, 6000)
y = (rng.random(6000) < 1 / (1 + np.exp(-x))).astype(int)
p = 1 / (1 + np.exp(-3 * x))

found = sf.calibrate(y[:2000], p[:2000])
print(found)

# %%
# Use it on samples that neither the model nor the calibrator has seen, and look again:

after = found.calibrator.predict_proba(p[2000:])
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
for ax, probabilities in zip(axes, (p[2000:], after), strict=True):
    sf.plots.ReliabilityDisplay.from_predictions(
        y_true=y[2000:], probabilities=probabilities
    ).plot(ax=ax)
