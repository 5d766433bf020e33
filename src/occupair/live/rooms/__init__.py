"""Estimation in the live service: readings of all rooms in any order in, estimates and room states out.

- `engine`: all rooms; collects the readings to be estimated in one batch
- `room`: one room: which readings of its day are estimated, and again after late readings
- `day_estimates`: the estimates of one day of a room, made one by one and refined
- `interval_correction`: prediction intervals corrected by head counts
- `reading_grid`: the readings of a room on the time grid of its model
- `day_lows`: lowest CO2 of earlier days
- `sensor_faults`: implausible CO2 and wrong sensor clocks
- `room_state`: the state a room reports
- `air_recommendation`: recommended outdoor air, which follows the state
- `room_models`: the model of each room
- `restore`: rooms restored from the store when the service starts
"""
