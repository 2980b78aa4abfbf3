"""A metric for Hugging Face's ``evaluate``: can a classifier's confidences be trusted?"""

from typing import Any

import datasets
import evaluate

import surefoot

_DESCRIPTION = """\
Says whether a classifier's confidences can be trusted: a verdict, the calibrated size ratio (CSR) with its exact
p-value, confidence-weighted accuracy and the expected calibration error.
"""
_KWARGS_DESCRIPTION = """
Args:
    predictions: the probabilities of each class, a list for each sample; or, with two classes, the probability of class
        1; or, with config_name="confidence", the predicted classes.
    references: the true classes, as numbers from 0.
    confidences: with config_name="confidence", the confidence in each prediction.
    labels: the class numbers, in the order of the probabilities; by default 0, 1, ...
    floor: the smallest doubt (1 - confidence); 0.005 reads 100% as 99.5%.
Returns:
    verdict: "overconfident", "underconfident", "mixed", "no evidence against calibration" or "inconclusive".
    csr: 1 if calibrated, above 1 if errors carry too much confidence.
    pvalue: exact chance of such a CSR if the model were calibrated.
    pvalue_omnibus: the p-value on which the verdict rests.
    cw_accuracy: accuracy with each sample weighted by its confidence.
    ece: expected calibration error in 15 bins.
"""
_CITATION = ""


class Calibration(evaluate.Metric):
    """Verdict, CSR and its p-values, cwA and ECE, as a metric of ``evaluate``."""

    def _info(self) -> Any:
        number, whole = datasets.Value("float64"), datasets.Value("int64")
        if self.config_name == "confidence":
            features = [datasets.Features({"predictions": whole, "references": whole, "confidences": number})]
        else:
            features = [
                datasets.Features({"predictions": datasets.Sequence(number), "references": whole}),
                datasets.Features({"predictions": number, "references": whole}),
            ]
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=features if len(features) > 1 else features[0],
        )

    def _compute(
        self, predictions: Any, references: Any, confidences: Any = None, labels: Any = None, floor: float | None = None
    ) -> dict[str, Any]:
        given = {"labels": labels, "floor": floor}
        if confidences is None:
            given |= {"y_true": references, "probabilities": predictions}
        else:
            given |= {"y_true": references, "y_pred": predictions, "confidence": confidences}
        a = surefoot.assess(
            **{name: value for name, value in given.items() if value is not None},
            metrics=["csr", "cw_accuracy", "ece"],
        )
        return {
            "verdict": a.verdict,
            "csr": a["csr"],
            "pvalue": a.risk.pvalue,
            "pvalue_omnibus": a.risk.pvalue_omnibus,
            "cw_accuracy": a["cw_accuracy"],
            "ece": a["ece"],
        }
