"""Ventilation policies in an EnergyPlus model of a small office.

`installation` finds EnergyPlus, `reference_building` the model, `building_occupants` its people;
`building_run` simulates it.
"""
