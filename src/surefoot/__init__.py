"""surefoot: can this classifier's confidences be trusted, and are they worth anything?"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from surefoot import metrics
from surefoot.errors import (
    FewMistakesWarning,
    InvalidMonitor,
    InvalidPredictions,
    InvalidTally,
    MetricUnavailable,
    MissingPackage,
    RoundedConfidenceWarning,
    UndefinedMetricWarning,
)
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
from surefoot.tallies import Tally, Term
from surefoot.tallying import tally, tally_batches

if TYPE_CHECKING:
    from surefoot import synthetic
    from surefoot.assessment import Assessment, assess, assess_estimator
    from surefoot.risk.evalues import e_bh, e_mean, e_product
    from surefoot.risk.indicator_tests import EcceResult, EcdResult, TcalResult, ecce_test, ecd_test, tcal_test
    from surefoot.risk.intervals import Interval, intervals
    from surefoot.risk.monitor import Monitor
    from surefoot.risk.planning import minimum_detectable, required_n
    from surefoot.risk.test import RiskResult, risk_test

__version__ = "0.1.0"

#: Loaded when first used, so that `import surefoot` stays quick.
_LATER = {
    "Assessment": "assessment",
    "assess": "assessment",
    "assess_estimator": "assessment",
    "Interval": "risk.intervals",
    "Monitor": "risk.monitor",
    "RiskResult": "risk.test",
    "intervals": "risk.intervals",
    "minimum_detectable": "risk.planning",
    "required_n": "risk.planning",
    "risk_test": "risk.test",
    "EcceResult": "risk.indicator_tests",
    "EcdResult": "risk.indicator_tests",
    "TcalResult": "risk.indicator_tests",
    "e_bh": "risk.evalues",
    "e_mean": "risk.evalues",
    "e_product": "risk.evalues",
    "ecce_test": "risk.indicator_tests",
    "ecd_test": "risk.indicator_tests",
    "tcal_test": "risk.indicator_tests",
    "synthetic": "synthetic",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    module = import_module(f"surefoot.{_LATER[name]}")
    value = globals()[name] = module if name == _LATER[name] else getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
