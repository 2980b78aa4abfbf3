"""How an assessment is shown: as text, as a report, in a notebook and in plots."""
