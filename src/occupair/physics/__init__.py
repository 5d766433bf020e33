"""What CO2 tells without head counts: a mass balance with priors, and people inferred from it.

- `room_properties`: volume, seats and activity, and what standards say about such a room
- `day_grid`: readings of whole days in steps of 5 min, and the base level of CO2
- `air_change`: air change rate as a function of the ventilation signal
- `co2_filter`: Kalman filter and smoother of CO2 and people
- `calibration`: the most probable air change rate, from readings and from head counts
- `inferred_counts`: people at every reading, in place of head counts
- `doubts`: reasons not to trust them
- `room_air`: what was identified: air change rates, base level, outdoor air per person
- `prior_days`: days as priors expect them, for a room without any reading yet
- `training_readings`: readings to train on, with inferred counts where nobody counted
"""
