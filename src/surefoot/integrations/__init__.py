"""Other packages, in their own terms: scikit-learn scorers, torchmetrics."""
