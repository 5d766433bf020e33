"""The default estimator: a weighted mean of an FS-ELM, the CO2 mass balance and three other members.

Modules in data-flow order:

- `lags`: lags at which estimates are refined
- `inputs`: recent CO2 and ventilation of each reading, and its local time
- `mass_balance`: people from the CO2 mass balance
- `balance_shapes`: its shape in other rooms, a prior for rooms with few labelled days
- `features`: features of the network
- `linked_elm`: FS-ELM with direct links from features to output
- `pooled_start`: read-outs and shapes of public rooms that a new room starts from
- `boosted_trees`: gradient-boosted trees
- `kernel_regression`: kernel regression with a robust loss
- `time_profile`: time-of-day profile
- `stack`: weights of the members
- `baseline_drift`: drift of the CO2 baseline since training
- `open_hours`: times of day at which the room may be occupied
- `evidence`: clear evidence of people in closed hours
- `error_scale`: expected size of the errors of an estimate
- `prediction_intervals`: prediction intervals from errors on held-out days
- `day_conformal`: calibration of the intervals on days left out
- `day_smoothing`: smoothing of the estimates of a day
- `hindsight`: estimates with all readings of a day
- `equation`: the estimate of one or many rooms
- `model`: a trained room
- `training_days`: training samples and sparse head counts
- `closed_hours`: times of day at which the room is empty
- `transfer`: prior from other trained rooms
- `fitted_balances`: mass balances of the training days, and without the days of each fold
- `members`: training of the members, and their estimates of held-out days
- `hindsight_training`: weights of the smoothings from held-out days
- `training`: training of a room
- `pooling`: read-outs and shapes over several rooms
- `stuck_sensors`: optional sensors that repeat one value for too long
- `sensor_features`: features of optional sensors
- `sensor_corrections`: corrections of the CO2 estimate by optional sensors
- `sensor_training`: training of the corrections, and which sensors to keep
- `profile_comparison`: comparison with the time-of-day profile
- `expectation`: expected accuracy, and what would improve it
- `fit_and_estimate`: training on a table of readings, and estimation from one
- `json_values`, `interval_json`, `hindsight_json`, `model_json`, `sensor_json`: a trained room as JSON
- `sensor_live`, `live_day`: state of one live room
- `batch`: many trained rooms in one evaluation
"""
