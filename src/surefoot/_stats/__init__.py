"""Statistics that belong to no indicator: binomial limits, roots, logistic regression."""
