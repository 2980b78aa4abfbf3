"""Documents, files and names that go in and out: written whole, read with suspicion."""
