"""How many rooms the service keeps up with: `python -m tools.load`."""
