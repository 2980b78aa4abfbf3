"""
Which group is worst?
=====================

A model can look fine overall and fail for one group. `by=` assesses each group with
the same test, adjusted for the number of groups.
"""

import numpy as np

import surefoot as sf

rng = np.random.default_rng(0)
region = rng.choice(["north", "south", "east", "west"], 4000)
confidence = rng.uniform(0.6, 0.99, 4000)
accuracy = np.where(region == "west", confidence - 0.12, confidence)
correct = rng.random(4000) < accuracy

a = sf.assess(correct=correct, confidence=confidence, by=region)
for part in a.slices:
    print(
        f"{part.value:6} {part.verdict:32} overstatement {part.risk.overstatement:+.1%}"
    )

sf.plots.SlicesDisplay.from_assessment(a).plot()
