"""The rooms of the live service: readings in any order in, estimates and states out."""
