"""Simulation of the paper's office: occupants, CO2 generation, room air and a CO2 sensor.

The data of Jiang et al. 2016 are not public. These modules simulate such readings, reproducibly:

- `occupants`: the people of the office and their daily routines
- `presence`: who is in the room in each minute, and their activity
- `vacations`: who is on vacation
- `co2_generation`: CO2 generation of a person
- `outdoor_air`: outdoor CO2
- `multizone_air`: CO2 balance of a room that is not well mixed
- `sensor`: response time, noise, resolution, and spikes from people close to the sensor
- `paper_room`: room, seats and sensor of the paper, each value with its source
- `office_day`: people, CO2 generation and sensor noise of one day
- `office`: the complete simulation, with ventilation on and off at fixed times
- `closed_loop`: the office with outdoor air that is chosen minute by minute
- `random_streams`: independent random generators

Each value comes from a standard, a published measurement, the paper's own description or a stated
judgement. The size of the spikes is calibrated to the scales in the paper's Table I, after a first run of
the estimators, so agreement with those scales is not evidence; see docs/experiment.md.
"""

from occupair.simulation.office import OfficeHistory, simulate_history, simulate_office

__all__ = ["OfficeHistory", "simulate_history", "simulate_office"]
