"""surefoot: can this classifier's confidences be trusted, and are they worth anything?"""

from importlib import import_module as _import_module

__version__ = "0.2.0"

#: What each module offers to users, loaded when it is first used: `import surefoot` takes no time. The stub beside
#: this file, which type checkers and editors read, is made of it by `make stub`.
_OFFERED = {
    "assessment.assess": "assess assess_estimator",
    "assessment.calibrate": "Calibration calibrate",
    "assessment.compare": "Comparison compare",
    "assessment.result": "Assessment",
    "core.metric": "Metric",
    "core.tally": "Tally",
    "core.term": "Term",
    "decisions.act_alone": "ActAlone act_alone",
    "decisions.cost": "Cost",
    "decisions.curve": "RiskCoverageCurve",
    "decisions.expect": "expect",
    "decisions.expected": "Expected",
    "decisions.policy": "Policy Thresholds",
    "errors": (
        "AmbiguousViewWarning CertaintyWarning FewMistakesWarning InvalidCalibrator InvalidMonitor InvalidPolicy "
        "InvalidPredictions InvalidTally MetricUnavailable MissingPackage RoundedConfidenceWarning "
        "UndefinedMetricWarning"
    ),
    "figures.curve": "ReliabilityCurve reliability_curve",
    "files.reading": "load",
    "integrations.mlflow": "log_to_mlflow",
    "metrics.adaptive": "EciParts adaptive_ece eci eci_parts",
    "metrics.binned": "ece equal_mass_ece mce top_label_ece",
    "metrics.classwise": (
        "cw_balanced_accuracy cw_f1 cw_fbeta cw_jaccard cw_kappa cw_mcc cw_metric cw_npv cw_precision "
        "cw_recall cw_specificity"
    ),
    "metrics.clinical": (
        "correctness_hosmer_lemeshow correctness_spiegelhalter_z hosmer_lemeshow oe_ratio scaled_brier spiegelhalter_z"
    ),
    "metrics.confusion": "Confusion confusion cw_confusion",
    "metrics.cumulative": "ecce_mad ecce_r",
    "metrics.cutoff": "atb cutoff_ce",
    "metrics.decomposition": "discrimination miscalibration uncertainty",
    "metrics.entropic": "ecd",
    "metrics.flexible": "FlexibleCurve e50 e90 emax flexible_curve ici",
    "metrics.isotonic": "mcaldist",
    "metrics.leaderboard": "rms_ce",
    "metrics.multiclass": "classwise_ece multiclass_brier multiclass_log_loss",
    "metrics.net_benefit": "DecisionCurve decision_curve net_benefit",
    "metrics.proper": "brier log_loss",
    "metrics.ranking": "auc auc_gain cw_auc cw_average_precision",
    "metrics.recalibration": (
        "calibration_in_the_large calibration_intercept calibration_slope correctness_intercept correctness_slope "
        "cox_intercept cox_slope"
    ),
    "metrics.risk_coverage": "augrc aurc",
    "metrics.roc": "RocCurve cw_roc_curve roc_curve",
    "metrics.selective": "cwsa cwsa_plus",
    "metrics.size_ratio": "csr csr_sigma csr_z p_risk",
    "metrics.smooth": "ls_ece smooth_ece",
    "metrics.tallying": "tally tally_batches",
    "metrics.tested": "tcal tce",
    "metrics.weighted": "accuracy cw_accuracy gain mean_confidence",
    "predictions": "Predictions",
    "risk.decomposition": "Decomposition score_decomposition",
    "risk.evalues": "e_bh e_mean e_product",
    "risk.indicator_tests": "EcceResult EcdResult TcalResult ecce_test ecd_test tcal_test",
    "risk.intervals": "Interval intervals",
    "risk.planning": "minimum_detectable power_curve required_n",
    "risk.result": "RiskResult",
    "risk.stream.monitor": "Monitor",
    "risk.test": "risk_test",
    "search.condition": "Condition",
    "search.find_slices": "find_slices",
    "search.found": "FoundSlice FoundSlices",
    "service.client": "Client ServiceError",
}
_HOMES = {name: home for home, names in _OFFERED.items() for name in names.split()}
#: Public modules, with the packages that they cannot do without.
_MODULES: dict[str, tuple[str, ...]] = {
    "calibrators": (),
    "metrics": (),
    "plots": (),
    "sklearn": ("sklearn",),
    "synthetic": (),
    "torchmetrics": ("torch", "torchmetrics"),
}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return _listed()
    if name in _MODULES:
        return _import_module(f"surefoot.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'surefoot' has no attribute {name!r}")
    value = globals()[name] = getattr(_import_module(f"surefoot.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(_listed())


def _listed() -> list[str]:
    """The public names. What cannot be imported is left out: ``help`` and ``import *`` ask for each of them."""
    from importlib.util import find_spec

    usable = [name for name, packages in _MODULES.items() if all(map(find_spec, packages))]
    return ["__version__", *_HOMES, *usable]


def _stub() -> str:
    """The text of the stub: every name, imported from its home."""
    imports = [
        f"from surefoot.{home} import {name} as {name}" for home, names in _OFFERED.items() for name in names.split()
    ]
    modules = [f"from surefoot import {name} as {name}" for name in _MODULES]
    head = "# Made by `make stub` from __init__.py: do not edit."
    return "\n".join([head, *modules, *imports, "", "__version__: str", ""])
