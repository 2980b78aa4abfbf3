"""Assessments: the verdict, slices, comparisons, and the choice of a calibrator."""
