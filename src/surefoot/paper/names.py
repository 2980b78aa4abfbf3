"""The paper's own names of columns, regimes, profiles and modes, for the heads and rows of tables."""

from __future__ import annotations

from collections.abc import Iterable

from surefoot.synthetic import MODES, PROFILES

#: Of columns, as in the heads of the paper's tables.
HEADS = {
    "acc": "Acc",
    "cwa": "cwA",
    "delta_cwa": "ΔcwA",
    "gain": "gain",
    "csr": "CSR",
    "sigma": "σ_CSR",
    "over_1_sigma": ">1σ_CSR",
    "over_3_sigma": ">3σ_CSR",
    "p_risk": "P_risk",
    "auc": "AUC",
    "cwauc": "cwAUC",
    "delta_auc": "ΔAUC",
    "auc_gain": "AUC gain",
    "ece_15": "ECE_15",
    "brier": "Brier",
    "ecd": "ECD",
    "ecd_test": "->test",
    "tce_0.05": "TCE_0.05",
    "tcal": "T-CAL",
    "tcal_reject": "->reject",
    "mcaldist": "MCalDist",
    "cwsa_0.5": "CWSA_0.5",
    "cwsa_plus_0.5": "CWSA+_0.5",
    "cwauc_above_auc": "cwAUC > AUC",
    "cwauc_below_auc": "cwAUC < AUC",
}
#: Of tables, by their place in the paper.
TABLES = {
    "perfect_summary": "Table 1",
    "real_averaged": "Table 2",
    "p_risk_extremes": "Table 3",
    "perfect_by_size": "Table 5",
    "real": "Table 6",
    "real_other_indicators": "Table 7",
    "modes": "Tables 8 and 9",
    "cwauc_counts": "Table 10",
    "cwauc_synthetic": "Table 11",
    "cwauc_real": "Table 12",
}
#: Of regimes, in the order of the paper's tables.
REGIME_NAMES = {"raw": "no post-hoc", "isotonic": "isotonic", "platt": "platt"}


def row_name(row: Iterable[str]) -> str:
    """What a row is of: sizes, profiles and modes by their names in the paper."""
    return ", ".join(_name(part) for part in row)


def _name(part: str) -> str:
    if part in PROFILES:
        return PROFILES[part].title
    if part in MODES:
        return MODES[part].title
    return f"N = {int(part):,}" if part.isdigit() else part
