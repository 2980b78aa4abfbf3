"""Figures as data and geometry: what is drawn, and where. Nobody draws here."""
