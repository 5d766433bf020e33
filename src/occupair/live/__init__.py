"""The live service: CO2 readings in, head counts out, for one room or for thousands.

Readings come from `mqtt` and `http` and go through `pipeline`: `engine` estimates, `store` keeps, and only
what is kept is acknowledged. `messages` has the words all of them share.
"""
