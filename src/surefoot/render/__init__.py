"""How an assessment is told: in a terminal, and in numbers people can read."""
