"""Displays drawn by matplotlib; users find them in :mod:`surefoot.plots`."""
