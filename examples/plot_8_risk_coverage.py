"""
Answer only when sure
=====================

If the model answers only its surest samples, how many of the answers are wrong? A
useful confidence makes this curve fall to the left; confidences that say nothing make
it flat.
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import surefoot as sf

X, y = make_classification(
    4000, n_informative=6, n_redundant=4, flip_y=0.05, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
model = RandomForestClassifier(n_estimators=60, random_state=0).fit(X_train, y_train)
probabilities = model.predict_proba(X_test)

sf.plots.RiskCoverageDisplay.from_predictions(y_test, probabilities).plot()

# %%
# The same in one number each: accuracy, and accuracy weighted by confidence (cwA).

print(
    f"accuracy {sf.accuracy(y_test, probabilities):.3f}, weighted {sf.cw_accuracy(y_test, probabilities):.3f}"
)
