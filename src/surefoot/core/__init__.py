"""The idea: row expressions, keys, tallies of their sums, and metrics as formulas over tallies."""
