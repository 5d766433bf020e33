"""The estimator of Jiang et al. 2016.

Modules in data-flow order:

- `features`: lag windows of CO2, its differences, past occupancy and ventilation
- `training`: training on a table of readings, and the settings of Table I
- `network`: the trained network, run on its own past estimates
- `stability`: whether the feedback of past estimates is stable
- `estimation`: estimates for a table of readings
- `live_day`: one day of one room, one reading at a time
- `revised_day`: a live day by Eq. (26), which revises past estimates
- `live_weights`: the weights by lag, in the layout of the kernel
- `live_kernel`, `numpy_kernel`: the three steps of Eq. (26), compiled and in plain numpy
"""
