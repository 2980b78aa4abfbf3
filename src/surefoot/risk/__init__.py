"""Risk: is the surprise of the mistakes more than calibrated confidences would show by chance?"""
