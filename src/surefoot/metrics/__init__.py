"""Every metric, by name: ``ALL["csr"]`` is a :class:`surefoot.Metric`."""

from __future__ import annotations

from surefoot.core.metric import Metric
from surefoot.metrics.adaptive import adaptive_ece_metric, eci_metric
from surefoot.metrics.binned import ece_metric, equal_mass_ece_metric, mce_metric, top_label_ece_metric
from surefoot.metrics.classwise import (
    CW_BALANCED_ACCURACY,
    CW_F1,
    CW_FBETA,
    CW_JACCARD,
    CW_KAPPA,
    CW_MCC,
    CW_NPV,
    CW_PRECISION,
    CW_RECALL,
    CW_SPECIFICITY,
)
from surefoot.metrics.clinical import (
    CORRECTNESS_SPIEGELHALTER_Z,
    OE_RATIO,
    SCALED_BRIER,
    SPIEGELHALTER_Z,
    correctness_hosmer_lemeshow_metric,
    hosmer_lemeshow_metric,
)
from surefoot.metrics.cumulative import ECCE_MAD, ECCE_R
from surefoot.metrics.cutoff import ATB
from surefoot.metrics.decomposition import DISCRIMINATION, MISCALIBRATION, UNCERTAINTY
from surefoot.metrics.entropic import ECD
from surefoot.metrics.flexible import E50, E90, EMAX, ICI
from surefoot.metrics.isotonic import MCALDIST
from surefoot.metrics.leaderboard import rms_ce_metric
from surefoot.metrics.multiclass import MULTICLASS_BRIER, MULTICLASS_LOG_LOSS, classwise_ece_metric
from surefoot.metrics.net_benefit import net_benefit_metric
from surefoot.metrics.proper import BRIER, LOG_LOSS
from surefoot.metrics.ranking import AUC, AUC_GAIN, CW_AUC, CW_AVERAGE_PRECISION
from surefoot.metrics.recalibration import (
    CALIBRATION_IN_THE_LARGE,
    CALIBRATION_INTERCEPT,
    CALIBRATION_SLOPE,
    CORRECTNESS_INTERCEPT,
    CORRECTNESS_SLOPE,
    COX_INTERCEPT,
    COX_SLOPE,
)
from surefoot.metrics.risk_coverage import AUGRC, AURC
from surefoot.metrics.selective import cwsa_metric, cwsa_plus_metric
from surefoot.metrics.size_ratio import CSR, CSR_SIGMA, CSR_Z, P_RISK
from surefoot.metrics.smooth import SMOOTH_ECE, ls_ece_metric
from surefoot.metrics.tested import TCAL, tce_metric
from surefoot.metrics.weighted import ACCURACY, CW_ACCURACY, GAIN, MEAN_CONFIDENCE

__all__ = ["ALL"]

#: Every metric with its default parameters: engines, assessment, report and law tests follow from this list.
ALL: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        CSR,
        CSR_SIGMA,
        CSR_Z,
        P_RISK,
        ACCURACY,
        CW_ACCURACY,
        GAIN,
        MEAN_CONFIDENCE,
        ece_metric(),
        mce_metric(),
        equal_mass_ece_metric(),
        top_label_ece_metric(),
        classwise_ece_metric(),
        adaptive_ece_metric(),
        rms_ce_metric(),
        BRIER,
        LOG_LOSS,
        MULTICLASS_BRIER,
        MULTICLASS_LOG_LOSS,
        MISCALIBRATION,
        DISCRIMINATION,
        UNCERTAINTY,
        ECD,
        tce_metric(),
        TCAL,
        MCALDIST,
        cwsa_metric(),
        cwsa_plus_metric(),
        AURC,
        AUGRC,
        ECCE_MAD,
        ECCE_R,
        ATB,
        ls_ece_metric(),
        eci_metric(),
        SMOOTH_ECE,
        OE_RATIO,
        CALIBRATION_IN_THE_LARGE,
        CALIBRATION_SLOPE,
        CALIBRATION_INTERCEPT,
        SPIEGELHALTER_Z,
        hosmer_lemeshow_metric(),
        COX_SLOPE,
        COX_INTERCEPT,
        CORRECTNESS_SLOPE,
        CORRECTNESS_INTERCEPT,
        CORRECTNESS_SPIEGELHALTER_Z,
        correctness_hosmer_lemeshow_metric(),
        SCALED_BRIER,
        ICI,
        E50,
        E90,
        EMAX,
        net_benefit_metric(),
        CW_PRECISION,
        CW_RECALL,
        CW_SPECIFICITY,
        CW_NPV,
        CW_F1,
        CW_FBETA,
        CW_JACCARD,
        CW_BALANCED_ACCURACY,
        CW_MCC,
        CW_KAPPA,
        AUC,
        CW_AUC,
        AUC_GAIN,
        CW_AVERAGE_PRECISION,
    )
}
