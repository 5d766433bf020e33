"""Ventilation policies in an EnergyPlus model of a small office.

In the order of the data flow:

- `installation`: EnergyPlus, an optional dependency
- `reference_building`: the model and its zones
- `building_occupants`: people and outdoor CO2
- `building_run`: one EnergyPlus run, with the outdoor air of each zone set in every time step
- `zone_control`: sensors, live estimators and policies of all zones
- `zone_ventilation`: standard and design flow of a zone
- `building_outcome`: energy, outdoor air and air quality of a run
- `building_period`: a period of the study with one policy
- `zone_training`: training of estimators and tuning of CO2 control
- `building_study`: all policies, in worker processes
- `building_tables`: results as tables and sentences
"""
