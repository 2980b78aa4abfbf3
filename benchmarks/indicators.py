"""Which indicator detects what: ``python -m benchmarks.indicators [FOLDER]`` writes docs/indicators.md and its figure.

Ten profiles, eight modes, 1,000 rows, 25 repetitions, seeded. An indicator without a law of its own flags what lies beyond the
95% point of its values on calibrated models with the same profile; a test flags by its own verdict. FOLDER, if given, holds
real models' predictions (Parquet).
"""

import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import surefoot as sf
from surefoot.metrics import ALL
from surefoot.synthetic import MODES, PROFILES

ROWS, REPEATS, NULLS = 1000, 25, 120
DOCS = Path(__file__).parent.parent / "docs"

#: Indicators with the side on which they are worse: +1 large, -1 small, 0 far from their ideal.
INDICATORS = {
    "csr": 1,
    "csr_z": 1,
    "ece": 1,
    "mce": 1,
    "equal_mass_ece": 1,
    "adaptive_ece": 1,
    "smooth_ece": 1,
    "ls_ece": 1,
    "eci": -1,
    "brier": 1,
    "log_loss": 1,
    "ecd": 1,
    "tce": 1,
    "tcal": 1,
    "mcaldist": 1,
    "ecce_mad": 1,
    "ecce_r": 1,
    "cwsa": -1,
    "correctness_hosmer_lemeshow": 1,
    "correctness_slope": -1,
    "correctness_spiegelhalter_z": 1,
}


def tests(p: sf.Predictions) -> dict[str, bool]:
    """Verdicts at 5%: those of one side name overconfidence, those of two sides any error."""
    risk, ecce = sf.risk_test(p), sf.ecce_test(p)
    return {
        "exact test of CSR": risk.pvalue <= 0.05,
        "capped companion": risk.pvalue_capped <= 0.05,
        "pvalue_combined": risk.pvalue_combined <= 0.05,
        "e-value at 20": risk.e_value >= 20,
        "paper: P_risk above 95%": risk.p_risk >= 0.95,
        "ecd_test": sf.ecd_test(p).decision == 1,
        "ecce_test, mad": ecce.pvalue_mad <= 0.05,
        "ecce_test, range": ecce.pvalue_r <= 0.05,
        "tcal_test": sf.tcal_test(p, draws=100).rejected,
    }


def values(p: sf.Predictions) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [side * ALL[name](p) for name, side in INDICATORS.items()]
    return np.nan_to_num(np.array(found), nan=-np.inf)


def flagged(profile: str) -> dict[str, np.ndarray]:
    """For each mode how often each indicator and test flags a model of this profile."""
    rng = np.random.default_rng(list(PROFILES).index(profile))

    def draw(mode: str) -> sf.Predictions:
        return sf.synthetic.predictions(profile, mode, ROWS, rng=rng)

    points = np.quantile([values(draw("perfect")) for _ in range(NULLS)], 0.95, axis=0, method="higher")
    shares = {}
    for mode in MODES:
        models = [draw(mode) for _ in range(REPEATS)]
        by_value = np.mean([values(p) > points for p in models], axis=0)
        by_test = np.mean([list(tests(p).values()) for p in models], axis=0)
        shares[mode] = np.append(by_value, by_test)
    return shares


def hidden() -> sf.Predictions:
    """The paper's construction: ECE below 1/N and CSR above 1000.

    An error at a doubt of 5e-7; twenty rows at 95% that were all correct balance it in its bin.
    """
    confidence = np.concatenate([np.full(1000, 0.5), [1 - 5e-7], np.full(20, 0.95)])
    correct = np.concatenate([np.arange(1000) % 2 == 0, [False], np.ones(20, dtype=bool)])
    return sf.Predictions.from_correct(correct, confidence)


def main() -> None:
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(PROFILES, pool.map(flagged, PROFILES), strict=True))
    probe = sf.synthetic.predictions("bell", "perfect", 200, rng=np.random.default_rng(0))
    names = [*INDICATORS, *tests(probe)]
    grid = {mode: np.mean([found[profile][mode] for profile in PROFILES], axis=0) for mode in MODES}
    real = {} if len(sys.argv) < 2 else real_models(Path(sys.argv[1]))
    (DOCS / "indicators.md").write_text(report(names, grid, found, real), encoding="utf-8")
    draw_figure(names, grid)


def real_models(folder: Path) -> dict[str, sf.Predictions]:
    import pandas as pd

    files = {
        "VGG16, CIFAR-10": ("verified_calibration_cifar10_vgg16", {"truth": "label", "probabilities": "probs"}),
        "LeNet-5, CIFAR-10": ("netcal_lenet_5_cifar_10", {"truth": "label", "probabilities": "probs"}),
        "employment, 4,000 rows": (
            "nannyml_employment_ma",
            {"truth": "employed", "predicted": "prediction", "probabilities": "predicted_probability"},
        ),
    }
    return {
        name: sf.Predictions.from_frame(
            pd.read_parquet(folder / f"{file}.parquet")[: 4000 if "4,000" in name else None], **columns
        )
        for name, (file, columns) in files.items()
    }


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def report(names, grid, found, real) -> str:
    titles = [mode.title for mode in MODES.values()]
    rows = [[name, *(f"{grid[mode][i]:.0%}" for mode in MODES)] for i, name in enumerate(names)]
    heavy = ("skew_high", "bimodal", "log_uniform_high")
    over = ("overconf_root", "overconf_half")
    seen = [
        [
            name,
            *(f"{np.mean([found[p][mode][i] for mode in over]):.0%}" for p in heavy),
            f"{np.mean([found[p]['perfect'][i] for p in found]):.1%}",
            f"{max(found[p]['perfect'][i] for p in found):.0%}",
        ]
        for i, name in enumerate(names)
    ]
    trick = hidden()
    lines = [
        "# Which indicator detects what",
        "",
        f"Written by `python -m benchmarks.indicators`. How often a model of {ROWS:,} rows is flagged, over ten profiles and {REPEATS} models each. "
        "An indicator flags a model whose value lies beyond the 95% point of calibrated models of the same profile. In practice that point is not known. "
        "Tests flag by their own decision, as in practice.",
        "",
        "![Share of models flagged, by indicator and mode](indicators.svg)",
        "",
        table(["indicator or test", *titles], rows),
        "",
        "Perfect should be flagged in 5% of cases; more are false alarms. The underconfident modes should not be called overconfident, but a "
        "two-sided indicator may flag them. The next table has the overconfident modes where most confidences are near 1, and false alarms by profile:",
        "",
        table(
            [
                "indicator or test",
                *(f"overconfident, {PROFILES[p].title}" for p in heavy),
                "false alarms, mean",
                "false alarms, worst profile",
            ],
            seen,
        ),
        "",
        "## An error that ECE does not detect",
        "",
        f"{len(trick):,} rows, constructed so that one error at a doubt (1 − confidence) of 5e-7 is balanced by correct rows in its bin: "
        f"ECE is {sf.ece(trick):.1e} (1/N is {1 / len(trick):.1e}), CSR {sf.csr(trick):,.0f}, exact p {sf.risk_test(trick).pvalue:.1e}, "
        f"P_risk {sf.p_risk(trick):.3f}, ECCE p {sf.ecce_test(trick).pvalue_r:.2f}, T-Cal {'rejects' if sf.tcal_test(trick).rejected else 'does not reject'}, "
        f"Brier {sf.brier(trick):.4f}.",
    ]
    if real:
        lines += [
            "",
            "## Real models",
            "",
            table(
                ["model", *tests(next(iter(real.values())))],
                [[name, *("flags" if flag else "—" for flag in tests(p).values())] for name, p in real.items()],
            ),
        ]
    return "\n".join(lines) + "\n"


def draw_figure(names, grid) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "surefoot"
    import matplotlib.pyplot as plt

    shares = np.array([[grid[mode][i] for mode in MODES] for i in range(len(names))])
    figure, axes = plt.subplots(figsize=(7.2, 8.2), layout="constrained")
    axes.imshow(shares, cmap="Greys", vmin=0, vmax=1.25, aspect="auto")
    for (row, column), share in np.ndenumerate(shares):
        axes.text(
            column,
            row,
            f"{share:.0%}",
            ha="center",
            va="center",
            fontsize=7,
            color="white" if share > 0.7 else "#17191e",
        )
    axes.set_xticks(range(len(MODES)), [mode.title for mode in MODES.values()], rotation=35, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.axhline(len(INDICATORS) - 0.5, color="#17191e", linewidth=0.8)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title("Share of models flagged, ten profiles together", loc="left", fontsize=9)
    figure.savefig(DOCS / "indicators.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main()
