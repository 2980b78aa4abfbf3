"""Which groups of rows have confidences that cannot be trusted: a search, and what it found."""
