"""Decisions: from which confidence a model may act alone, and what to expect of it on rows without labels."""
