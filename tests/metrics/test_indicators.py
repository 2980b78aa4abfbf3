"""The other indicators: reference vectors, direct transcriptions of the definitions, and edges."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit
from vectors import DOCUMENT, EDGES, VALUES, VECTORS, close, of

import surefoot as sf
from surefoot.metrics import ALL
from surefoot.metrics.by_confidence import TERMS, levels
from surefoot.metrics.tested import binomial_p_values, pooled, rejections, tcal_statistics

NAMES = ("A", "B", "D", "E")


@pytest.mark.parametrize("name", NAMES)
def test_reference_vectors(name: str) -> None:
    p, r = of(name), VALUES[name]
    close(sf.tce(p), r["TCE"]["ref_N20_N5"])
    close(sf.tce(p, n_min=10, n_max=1000), r["TCE"]["ref_default_10_1000"])
    close(sf.tcal(p), r["T-Cal"]["inferred_reported_value"])
    close(sf.mcaldist(p), r["MCalDist"]["own_sklearn_isotonic"])
    close(sf.cwsa(p), r["CWSA_tau0.5"]["own_cwsa_accepted_norm"])
    close(sf.cwsa_plus(p), r["CWSA_tau0.5"]["own_cwsa_plus_accepted_norm"])
    close(sf.ecce_mad(p), r["ECCE"]["own_tie_group_ends_MAD"])
    close(sf.ecce_r(p), r["ECCE"]["own_tie_group_ends_R"])
    close(sf.adaptive_ece(p), r["AD-ECE"]["ref_uusml_datadependent_min100_mean"])
    close(sf.adaptive_ece(p, min_size=20), r["AD-ECE"]["ref_uusml_datadependent_min20_mean"])
    for bins in (10, 15):
        parts, reference = sf.eci_parts(p, n_bins=bins), r["ECI_15"][f"ref_calfram_head_{bins}"]
        close(parts.eci, reference["ec_g"])
        close(parts.over, reference["ec_overconf"])
        close(parts.under, reference["ec_underconf"])
        assert parts.balance == pytest.approx(reference["ec_dir"], abs=1e-12)
        assert sf.eci(p, n_bins=bins) == parts.eci
    # its reference takes confidences 1e-6 lower, which is nearly all of the difference
    for width, bandwidth in (("1/15", 1 / 15), ("1/10", 1 / 10), ("1", 1.0)):
        if f"own_quadrature_sigma_{width}" in r["LS-ECE"]:
            close(sf.ls_ece(p, bandwidth=bandwidth), r["LS-ECE"][f"own_quadrature_sigma_{width}"], 1e-5)
    # ties of D are kept together here and split by their order there
    tolerance = 1e-6 if name == "D" else 1e-10
    close(sf.equal_mass_ece(p), r["ACE15_equal_mass"]["ref_tce_repo_ace"], tolerance)


def test_edge_vectors() -> None:
    edges = DOCUMENT["edge_vectors"]
    five = edges["ece_5_bins"]
    p = sf.Predictions.from_correct(np.array(five["correct"], dtype=bool), five["conf"])
    close(sf.ece(p, n_bins=5, closed="left"), five["ref_netcal"])
    two = edges["cwsa_tau0.5"]
    p = sf.Predictions.from_correct(np.array(two["correct"], dtype=bool), two["conf"])
    close(sf.cwsa(p), two["ref_repo_cwsa"])
    assert sf.cwsa_plus(p) == two["ref_repo_cwsa_plus"]
    with pytest.warns(sf.UndefinedMetricWarning, match="nothing is accepted"):
        assert math.isnan(sf.cwsa(p, threshold=0.95))
    with pytest.raises(ValueError, match="threshold is 1"):
        sf.cwsa(p, threshold=1)
    for n in (11, 12, 25):
        rng = np.random.default_rng(n)
        confidence = rng.random(n)
        p = sf.Predictions.from_correct(rng.random(n) < confidence, confidence)
        close(sf.tce(p, n_min=10, n_max=1000), edges["tce_default"][f"n={n}"])
    with pytest.warns(sf.UndefinedMetricWarning, match="n_min"):
        assert math.isnan(sf.tce(sf.Predictions.from_correct([True] * 10, [0.5] * 10), n_min=10, n_max=1000))


def test_bins_of_tce_are_those_of_its_reference() -> None:
    for name in ("A", "B", "E"):
        v = VECTORS[name]
        order = np.argsort(v.confidence, kind="stable")
        n = len(order)
        sizes, hits = pooled(v.correct[order].astype(float), n // 20, n // 5)
        assert sizes.tolist() == VALUES[name]["TCE"]["bins_N20_N5"]["total"]
        assert hits.tolist() == VALUES[name]["TCE"]["bins_N20_N5"]["count"]


def test_binomial_p_values_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 60, 3000)
    hits = rng.binomial(rows, rng.random(3000))
    chance = np.where(rng.random(3000) < 0.3, rng.integers(0, 11, 3000) / 10, rng.random(3000))
    mine = binomial_p_values(hits, rows, chance)
    theirs = [stats.binomtest(int(k), int(n), p).pvalue for k, n, p in zip(hits, rows, chance, strict=True)]
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-15)
    for k, n, p in ((4000, 9000, 0.45), (0, 5000, 1e-4), (20_000, 20_000, 0.9999)):
        assert binomial_p_values([k], [n], np.array([p]))[0] == pytest.approx(stats.binomtest(k, n, p).pvalue, rel=1e-8)


@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.4])
def test_bins_of_many_confidences_are_decided_as_each_confidence_would_be(alpha: float) -> None:
    rng = np.random.default_rng(1)
    hits, rows = np.array([0, 40, 4_000, 30_000, 7_000]), np.array([9_000, 5_000, 9_000, 30_000, 7_100])
    shares = [np.append(rng.random(5_000), [0.0, 1.0, k / n]) for k, n in zip(hits[:3], rows[:3], strict=True)]
    chances = [np.unique(x) for x in (*shares, 1 - 10 ** rng.uniform(-7, 0, 5_000), rng.random(100))]
    bins, chance = np.repeat(np.arange(5), [len(x) for x in chances]), np.concatenate(chances)
    expected = binomial_p_values(hits[bins], rows[bins], chance) <= alpha
    assert 0 < expected.sum() < len(expected)
    assert (rejections(hits, rows, bins, chance, alpha) == expected).all()


def test_tcal_and_adaptive_ece_of_many_confidences_are_those_of_their_definitions() -> None:
    rng = np.random.default_rng(2)
    confidence = np.concatenate([rng.random(3_000), 1 - 10 ** rng.uniform(-9, -1, 1_000), rng.random(500).round(2)])
    correct = rng.random(4_500) < confidence**1.2
    p = sf.Predictions.from_correct(correct, confidence)
    residual, variance = correct - confidence, confidence * (1 - confidence)
    errors, spreads, skews = tcal_statistics(levels(p.tally(TERMS)), 24)
    for level in range(24):
        bins = np.floor(confidence * 2.0 ** (level + 1))
        error = second = third = 0.0
        for cell in np.unique(bins):
            own = bins == cell
            n, v = own.sum(), variance[own]
            error += (residual[own].sum() ** 2 - (residual[own] ** 2).sum()) / n
            second += 2 * (v.sum() ** 2 - (v**2).sum()) / n**2
            third += 8 * (v.sum() / n) ** 3 * (n > 1)
        assert errors[level] == pytest.approx(error / 4_500, rel=1e-10, abs=1e-15)
        assert spreads[level] == pytest.approx(math.sqrt(second) / 4_500, rel=1e-10)
        assert skews[level] == pytest.approx(third / second**1.5, rel=1e-10)

    def gap(rows: np.ndarray) -> float:
        mean = confidence[rows].mean()
        below = rows[confidence[rows] < mean]
        if len(rows) < 20 or not len(below):
            return abs(residual[rows].sum())
        return gap(below) + gap(rows[confidence[rows] >= mean])

    assert sf.adaptive_ece(p, min_size=20) == pytest.approx(gap(np.arange(4_500)) / 4_500, rel=1e-12)


def test_smooth_ece_is_a_fixed_point_of_direct_smoothing() -> None:
    # the definition written out: a normal kernel reflected at both ends, and an integral on a fine grid
    for name in ("A", "B", "E"):
        v = VECTORS[name]
        value = sf.smooth_ece(of(name))
        grid = np.linspace(0, 1, 4001)
        centres = np.concatenate([v.confidence, -v.confidence, 2 - v.confidence])
        residual = np.tile(v.correct - v.confidence, 3)
        kernel = np.exp(-(((grid[:, None] - centres) / value) ** 2) / 2) / (value * math.sqrt(2 * math.pi))
        smooth = np.abs(kernel @ residual / len(v.confidence))
        assert np.trapezoid(smooth, grid) == pytest.approx(value, rel=1e-6)


def test_smooth_ece_agrees_with_relplots_figures() -> None:
    # relplot 1.0.3, smECE(f, y): it searches the bandwidth in steps of 0.001
    for name, published in (("A", 0.06553838525771014), ("B", 0.04712333344960369), ("E", 0.11083804794549022)):
        assert sf.smooth_ece(of(name)) == pytest.approx(published, abs=1e-3)


def test_ls_ece_by_direct_quadrature() -> None:
    v = VECTORS["B"]
    odds = np.log(v.confidence / (1 - v.confidence))
    for bandwidth in (1 / 15, 0.5):
        grid = np.arange(odds.min() - 9 * bandwidth, odds.max() + 9 * bandwidth, bandwidth / 200)
        kernel = np.exp(-(((grid[:, None] - odds) / bandwidth) ** 2) / 2) / (bandwidth * math.sqrt(2 * math.pi))
        gap = kernel @ v.correct - kernel.sum(axis=1) / (1 + np.exp(-grid))
        expected = np.abs(gap).sum() / len(odds) * bandwidth / 200
        assert sf.ls_ece(of("B"), bandwidth=bandwidth) == pytest.approx(expected, rel=1e-5)
        drawn = sf.ls_ece(of("B"), bandwidth=bandwidth, rng=np.random.default_rng(0), draws=100_000)
        assert drawn == pytest.approx(expected, rel=0.02)


def test_spiegelhalter_and_hosmer_lemeshow_by_hand() -> None:
    v = VECTORS["A"]
    c, y = v.confidence, v.correct.astype(float)
    z = ((y - c) * (1 - 2 * c)).sum() / math.sqrt(((1 - 2 * c) ** 2 * c * (1 - c)).sum())
    close(sf.spiegelhalter_z(of("A")), z)
    order = np.argsort(c)
    groups = np.array_split(order, 10)  # 500 rows: ten groups of 50
    expected = sum((y[g].sum() - c[g].sum()) ** 2 / (c[g].sum() * (1 - c[g].sum() / len(g))) for g in groups)
    close(sf.hosmer_lemeshow(of("A")), expected)


def test_cox_line_maximises_the_likelihood() -> None:
    # statsmodels 0.15.0, Logit of correctness on a constant and the log-odds
    for name, line in (
        ("A", (-0.45140576, 1.04488073)),
        ("B", (0.37222125, 0.80538266)),
        ("E", (-0.29376759, 0.65983694)),
    ):
        assert (sf.cox_intercept(of(name)), sf.cox_slope(of(name))) == pytest.approx(line, abs=1e-7)


def test_scikit_learn_agrees_on_the_isotonic_fit() -> None:
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(1)
    c = rng.random(400).round(2)
    y, w = rng.random(400) < c**2, rng.integers(1, 4, 400).astype(float)
    fit = IsotonicRegression().fit(c, y, sample_weight=w).predict(c)
    expected = (w * np.abs(c - fit)).sum() / w.sum()
    close(sf.mcaldist(sf.Predictions.from_correct(y, c, sample_weight=w)), expected)


def test_adaptive_parts_by_recursion() -> None:
    rng = np.random.default_rng(2)
    c = rng.beta(5, 1, 2000).round(3)
    y = rng.random(2000) < c

    def gaps(rows: np.ndarray) -> float:
        below = c[rows] < c[rows].mean()
        if len(rows) < 100 or not below.any() or below.all():
            return abs(float((c[rows] - y[rows]).sum()))
        return gaps(rows[below]) + gaps(rows[~below])

    close(sf.adaptive_ece(sf.Predictions.from_correct(y, c)), gaps(np.arange(2000)) / 2000)


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", sorted(name for name, m in ALL.items() if not m.is_of_classes))
def test_edges_give_a_number_or_say_why_not(edge: str, name: str) -> None:
    confidence, correct = EDGES[edge]
    p = sf.Predictions.from_correct(correct, confidence)
    if "prediction" not in ALL[name].views:
        happened = np.asarray(correct, dtype=int)
        p = sf.Predictions.from_probabilities(happened, confidence, labels=[0, 1], of="event")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        value = ALL[name](p)
    assert isinstance(value, float)
    assert [w.category for w in said] == ([sf.UndefinedMetricWarning] if math.isnan(value) else [])
    low, high = ALL[name].range
    assert math.isnan(value) or low - 1e-9 <= value <= high + 1e-9


def test_unequal_weights_are_refused_where_rows_are_counted() -> None:
    p = sf.Predictions.from_correct([True, False, True], [0.9, 0.8, 0.7], sample_weight=[1.0, 2.0, 1.0])
    for call in (sf.tce, sf.tcal, sf.ecd_test, sf.tcal_test):
        with pytest.raises(sf.MetricUnavailable, match="accepts no unequal weights"):
            call(p)
    a = sf.assess(p)
    assert "unequal weights" in a.reasons["tce"]
    same = sf.Predictions.from_correct([True, False, True], [0.9, 0.8, 0.7], sample_weight=[2.0, 2.0, 2.0])
    plain = sf.Predictions.from_correct([True, False, True], [0.9, 0.8, 0.7])
    assert sf.tcal(same) == pytest.approx(sf.tcal(plain), rel=1e-12)
    assert sf.ecd_test(same) == sf.ecd_test(plain)


def test_bad_parameters_say_so() -> None:
    p = sf.Predictions.from_correct([True, False], [0.9, 0.8])
    for call, match in (
        (lambda: sf.tce(p, alpha=0), "alpha is 0"),
        (lambda: sf.tce(p, n_min=-1), "n_min is -1"),
        (lambda: sf.adaptive_ece(p, min_size=0), "min_size is 0"),
        (lambda: sf.eci(p, n_bins=0), "n_bins is 0"),
        (lambda: sf.ls_ece(p, bandwidth=0), "bandwidth is 0"),
        (lambda: sf.hosmer_lemeshow(p, n_groups=0), "n_groups is 0"),
        (lambda: sf.ecd_test(p, alpha=2), "alpha is 2"),
        (lambda: sf.tcal_test(p, draws=0), "draws is 0"),
    ):
        with pytest.raises(ValueError, match=match):
            call()


def test_coxs_line_is_where_the_likelihood_is_largest() -> None:
    rng = np.random.default_rng(2)
    for n, share in ((30, 1.0), (500, 0.6), (500, 3.0)):
        confidence = np.round(rng.beta(3, 1, n).clip(0.01, 0.99), 2)
        x = np.log(confidence) - np.log1p(-confidence)
        correct = rng.random(n) < expit(share * x)
        p = sf.Predictions.from_correct(correct, confidence)
        residual = correct - expit(sf.cox_intercept(p) + sf.cox_slope(p) * x)
        assert [residual.mean(), (x * residual).mean()] == pytest.approx([0, 0], abs=1e-13)


def test_the_scale_of_tiny_weights_does_not_matter_to_cox() -> None:
    confidence = [0.9999996674266838, 0.999999970823666, 0.9999999999997089]
    slopes = [
        sf.correctness_slope([1] * 3, [1, 0, 1], confidence, sample_weight=np.full(3, weight))
        for weight in (1e-12, 1e-9, 1, 1e9)
    ]
    assert slopes == pytest.approx([slopes[2]] * 4, rel=1e-9)


def test_a_wide_kernel_overflows_nothing() -> None:
    assert 0 <= sf.ls_ece([1, 1], [1, 0], [0.5, 0.5], bandwidth=100.0) <= 1
