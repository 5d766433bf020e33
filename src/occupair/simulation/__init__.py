"""The paper's office, made up from physics: people, breath, room air, a sensor in the middle.

The readings behind Jiang et al. 2016 are not public. These modules make such readings, seeded:

- `habits`: who works in the office and how they live their day
- `presence`: who is in, minute by minute, and what they are doing
- `breathing`: how much CO2 a body breathes out
- `outdoors`: the CO2 of the fresh air
- `room_air`: the CO2 balance of a room that is not well mixed
- `sensor`: lag, noise, resolution, and the spikes of people passing
- `paper_room`: the room, the seats and the sensor of the paper, each value with its source
- `office`: all of it together

Every value comes from a standard, a published measurement, the paper's own description or a stated
reason. The size of the spikes is held to the scales of the paper's Table I, so that those scales come out
alike proves nothing; it was set so after a first run of the estimators, see docs/experiment.md.
"""

from occupair.simulation.office import OfficeHistory, simulate_history, simulate_office

__all__ = ["OfficeHistory", "simulate_history", "simulate_office"]
