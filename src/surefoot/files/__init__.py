"""The files people already have: tables, evaluation logs, saved tallies; read in pieces, whatever their size."""
