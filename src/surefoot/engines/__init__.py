"""Engines turn a source and terms into a tally."""
