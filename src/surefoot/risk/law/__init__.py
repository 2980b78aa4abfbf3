"""The law of a sum of surprises under calibration: exact, by inversion, by enumeration."""
