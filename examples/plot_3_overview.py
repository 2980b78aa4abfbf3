"""
Everything in one figure
========================

:meth:`surefoot.Assessment.plot` draws the four main pictures: use it first, then the
single displays.
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import surefoot as sf

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, random_state=0, stratify=y
)
model = GaussianNB(var_smoothing=1e-3).fit(X_train, y_train)

a = sf.assess(y_test, model.predict_proba(X_test))
a.plot()

# %%
# The same in words:

print(a.summary())
