"""Extreme learning machines: a random hidden layer and a ridge read-out."""
