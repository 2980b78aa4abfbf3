"""Evidence that may be looked at at any time: the monitor and its e-processes."""
