"""Damaged files of every kind that is read: a result comes out, or an error of ours, never anything else."""
