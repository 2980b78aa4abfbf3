"""The monitor as a service: predictions come when they are made, labels when they are known, and nothing is lost."""
