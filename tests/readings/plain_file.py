"""The text of a valid CSV file, for tests that read it, or change it first."""

GOOD = """time,co2,ventilation,occupancy
2024-01-08 08:00,420,0,0
2024-01-08 08:01,421,1,1
2024-01-08 08:02,423,1,2
"""
