"""Extreme learning machines: random hidden layers and a ridge read-out."""
