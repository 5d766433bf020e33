"""Soak test of the live service: a simulated day with crashes, outages, a full disk and clock steps."""
