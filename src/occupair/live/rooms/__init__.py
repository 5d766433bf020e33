"""Estimation in the live service: readings of all rooms in any order in, estimates and room states out."""
