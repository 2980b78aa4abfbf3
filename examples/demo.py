"""Assess a real model: naive Bayes on the breast cancer data that come with scikit-learn."""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

import surefoot as sf

X, y = load_breast_cancer(return_X_y=True)
X_fit, X_held, y_fit, y_held = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
model = GaussianNB().fit(X_fit, y_fit)

print(sf.assess_estimator(model, X_held, y_held, by="predicted"))
