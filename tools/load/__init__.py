"""Load test of the live service: `python -m tools.load`."""
