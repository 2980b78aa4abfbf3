"""surefoot: can this classifier's confidences be trusted, and are they worth anything?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot import calibrators, metrics, plots, synthetic
    from surefoot.assessment import Assessment, assess, assess_estimator
    from surefoot.calibrators.choosing import Calibration, calibrate
    from surefoot.comparison import Comparison, compare
    from surefoot.errors import (
        CertaintyWarning,
        FewMistakesWarning,
        InvalidCalibrator,
        InvalidMonitor,
        InvalidPredictions,
        InvalidTally,
        MetricUnavailable,
        MissingPackage,
        RoundedConfidenceWarning,
        UndefinedMetricWarning,
    )
    from surefoot.files.reading import load
    from surefoot.metric import Metric
    from surefoot.metrics.adaptive import EciParts, adaptive_ece, eci, eci_parts
    from surefoot.metrics.binned import ece, equal_mass_ece, mce
    from surefoot.metrics.classwise import (
        cw_balanced_accuracy,
        cw_f1,
        cw_fbeta,
        cw_jaccard,
        cw_kappa,
        cw_mcc,
        cw_metric,
        cw_npv,
        cw_precision,
        cw_recall,
        cw_specificity,
    )
    from surefoot.metrics.clinical import cox_intercept, cox_slope, hosmer_lemeshow, spiegelhalter_z
    from surefoot.metrics.confusion import Confusion, confusion, cw_confusion
    from surefoot.metrics.cumulative import ecce_mad, ecce_r
    from surefoot.metrics.entropic import ecd
    from surefoot.metrics.isotonic import mcaldist
    from surefoot.metrics.proper import brier, log_loss
    from surefoot.metrics.ranking import RocCurve, auc, auc_gain, cw_auc, cw_average_precision, cw_roc_curve, roc_curve
    from surefoot.metrics.selective import cwsa, cwsa_plus
    from surefoot.metrics.size_ratio import csr, csr_sigma, csr_z, p_risk
    from surefoot.metrics.smooth import ls_ece, smooth_ece
    from surefoot.metrics.tested import tcal, tce
    from surefoot.metrics.weighted import accuracy, cw_accuracy, gain, mean_confidence
    from surefoot.predictions import Predictions
    from surefoot.risk.evalues import e_bh, e_mean, e_product
    from surefoot.risk.indicator_tests import EcceResult, EcdResult, TcalResult, ecce_test, ecd_test, tcal_test
    from surefoot.risk.intervals import Interval, intervals
    from surefoot.risk.monitor import Monitor
    from surefoot.risk.planning import minimum_detectable, power_curve, required_n
    from surefoot.risk.result import RiskResult
    from surefoot.risk.test import risk_test
    from surefoot.tallies import Tally, Term
    from surefoot.tallying import tally, tally_batches

__version__ = "0.1.0"

#: What each module offers to users. It is loaded when first used: `import surefoot` takes no time.
_OFFERED = {
    "errors": (
        "CertaintyWarning FewMistakesWarning InvalidCalibrator InvalidMonitor InvalidPredictions InvalidTally "
        "MetricUnavailable MissingPackage RoundedConfidenceWarning UndefinedMetricWarning"
    ),
    "files.reading": "load",
    "metric": "Metric",
    "metrics.adaptive": "EciParts adaptive_ece eci eci_parts",
    "metrics.binned": "ece equal_mass_ece mce",
    "metrics.classwise": (
        "cw_balanced_accuracy cw_f1 cw_fbeta cw_jaccard cw_kappa "
        "cw_mcc cw_metric cw_npv cw_precision cw_recall cw_specificity"
    ),
    "metrics.clinical": "cox_intercept cox_slope hosmer_lemeshow spiegelhalter_z",
    "metrics.confusion": "Confusion confusion cw_confusion",
    "metrics.cumulative": "ecce_mad ecce_r",
    "metrics.entropic": "ecd",
    "metrics.isotonic": "mcaldist",
    "metrics.proper": "brier log_loss",
    "metrics.ranking": "RocCurve auc auc_gain cw_auc cw_average_precision cw_roc_curve roc_curve",
    "metrics.selective": "cwsa cwsa_plus",
    "metrics.size_ratio": "csr csr_sigma csr_z p_risk",
    "metrics.smooth": "ls_ece smooth_ece",
    "metrics.tested": "tcal tce",
    "metrics.weighted": "accuracy cw_accuracy gain mean_confidence",
    "predictions": "Predictions",
    "tallies": "Tally Term",
    "tallying": "tally tally_batches",
    "assessment": "Assessment assess assess_estimator",
    "calibrators.choosing": "Calibration calibrate",
    "comparison": "Comparison compare",
    "risk.evalues": "e_bh e_mean e_product",
    "risk.indicator_tests": "EcceResult EcdResult TcalResult ecce_test ecd_test tcal_test",
    "risk.intervals": "Interval intervals",
    "risk.monitor": "Monitor",
    "risk.planning": "minimum_detectable power_curve required_n",
    "risk.result": "RiskResult",
    "risk.test": "risk_test",
}
_HOMES = {name: home for home, names in _OFFERED.items() for name in names.split()}
_MODULES = ("calibrators", "metrics", "plots", "synthetic", "torchmetrics")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"surefoot.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"surefoot.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
