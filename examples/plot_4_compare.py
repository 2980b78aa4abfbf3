"""
Compare two models
==================

Which model overstates its accuracy more, and is the difference more than chance?
:func:`surefoot.compare` pairs the samples, so small differences show.
"""

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import surefoot as sf

X, y = make_classification(
    4000, n_informative=6, n_redundant=4, flip_y=0.05, class_sep=0.8, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
models = {
    "boosting": HistGradientBoostingClassifier(random_state=0),
    "logistic": LogisticRegression(),
}
probabilities = {
    name: model.fit(X_train, y_train).predict_proba(X_test)
    for name, model in models.items()
}

comparison = sf.compare({name: (y_test, p) for name, p in probabilities.items()})
print(comparison)

# %%
# Value against risk, one mark a model:

sf.plots.CalibratorsDisplay.from_predictions(
    {
        name: sf.Predictions.from_probabilities(y_test, p)
        for name, p in probabilities.items()
    }
).plot()
