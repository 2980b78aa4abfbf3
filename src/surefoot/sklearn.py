"""Scorers for scikit-learn: see :mod:`surefoot.integrations.sklearn`."""

from surefoot.integrations.sklearn import SCORERS, Scorer

__all__ = ["SCORERS", "Scorer"]
