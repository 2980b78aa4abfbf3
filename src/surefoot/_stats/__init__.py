"""Statistics that belong to no indicator: binomial limits, quantiles, roots, logarithms, regressions."""
