"""Metrics for Hugging Face's ``evaluate``, each in a folder that it can load."""
