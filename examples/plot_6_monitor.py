"""
Monitor a model in production
=============================

A monitor bets against the model after each label. Under calibration its wealth is
unlikely ever to exceed 20: the chance is at most 5%, however often you look. Here the
model goes bad after 2,000 predictions.
"""

import numpy as np

import surefoot as sf

rng = np.random.default_rng(1)
confidence = rng.uniform(0.6, 0.99, 4000)
accuracy = np.where(np.arange(4000) < 2000, confidence, 0.9 * confidence)
correct = rng.random(4000) < accuracy

monitor = sf.Monitor(level=0.05, mean_time_between_false_alarms=10_000)
for start in range(0, 4000, 100):
    monitor.update(correct[start : start + 100], confidence[start : start + 100])

print(f"alarm: {monitor.alarm}, at sample {monitor.alarm_row}")
print(f"drift first seen at sample {monitor.drift_rows[0]}")

# %%
# The evidence over time, with the line at which the alarm is raised:

sf.plots.WealthDisplay.from_predictions(correct=correct, confidence=confidence).plot()
