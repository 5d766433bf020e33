"""The default estimator: an FS-ELM with direct links, averaged with the CO2 mass balance.

Modules in data-flow order:

- `lags`: lags at which estimates are refined
- `inputs`: recent CO2 and ventilation of each reading, and its local time
- `mass_balance`: people from the CO2 mass balance
- `features`: features of the network
- `linked_elm`: FS-ELM with direct links from features to output
- `baseline_drift`: drift of the CO2 baseline since training
- `open_hours`: times of day at which the room may be occupied
- `prediction_intervals`: prediction intervals from errors on held-out days
- `equation`: the estimate of one or many rooms
- `model`: a trained room
- `training_days`: training samples and sparse head counts
- `transfer`: prior from other trained rooms
- `training`: training and cross-validation
- `profile_comparison`: comparison with the time-of-day profile
- `fit_and_estimate`: training on a table of readings, and estimation from one
- `model_json`: a trained room as JSON
- `live_day`: state of one live room
- `batch`: many trained rooms in one evaluation
"""
