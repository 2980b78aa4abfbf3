"""The folder that ``evaluate.load`` is given; it copies ``calibration.py`` and runs the copy."""
