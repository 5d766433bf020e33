"""The estimator for real rooms: an FS-ELM with direct links, averaged with the mass balance of CO2.

rows -> balance -> features -> linked_elm -> training -> model -> day
"""
