"""Other packages, in their own terms: scikit-learn, torchmetrics, MLflow, Inspect and Hugging Face's ``evaluate``."""

from pathlib import Path

__all__ = ["evaluate_path"]


def evaluate_path() -> str:
    """Return the folder of the metric for Hugging Face's ``evaluate``.

    ``evaluate.load(evaluate_path())`` loads it, without a network.

    Returns
    -------
    str
        The path of the folder, within the installed package.

    Examples
    --------
    >>> evaluate_path().endswith("calibration")
    True
    """
    return str(Path(__file__).parent / "huggingface" / "calibration")
