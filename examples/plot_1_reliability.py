"""
Reliability diagram
===================

How often is the model right at each stated confidence? Points below the dotted line
are overconfident. Each bin has a 95% confidence interval, and shape repeats what
colour says: a triangle that points down has more errors than expected, one that
points up has fewer, and a circle's interval touches the line.
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import surefoot as sf

X, y = make_classification(
    6000, n_informative=6, n_redundant=4, flip_y=0.05, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = HistGradientBoostingClassifier(random_state=0).fit(X_train, y_train)

display = sf.plots.ReliabilityDisplay.from_predictions(
    y_test, model.predict_proba(X_test)
)
display.plot()

# %%
# The numbers drawn are a table as well, and :func:`surefoot.reliability_curve` gives it without a plot.

curve = sf.reliability_curve(y_test, model.predict_proba(X_test), n_bins=5)
prob_true, prob_pred = curve
for stated, right, low, high in zip(
    prob_pred, prob_true, curve.lower, curve.upper, strict=True
):
    print(f"stated {stated:6.1%}   right {right:6.1%}   95% CI {low:.1%} to {high:.1%}")
