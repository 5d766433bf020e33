"""Readings: CO2, ventilation and head counts of a room, from any file to a regular grid.

*Readings* are a DataFrame of ``co2`` [ppm], ``ventilation`` [0..1, optional] and ``occupancy`` [people,
optional] over time, and perhaps other sensors; `schema` defines them. The modules in the order of the data
flow:

- `files`: read and write CSV and Parquet files; calls the steps below
- `raw_table`: a file as a table of strings, whatever its encoding, delimiter and header
- `frame_table`: the same for a DataFrame
- `column_names`: which column is time, CO2, ventilation or occupancy
- `other_sensors`, `sensor_columns`: optional sensors, such as humidity, and their columns
- `records`: the columns of a file parsed into times and numbers
- `time_column`, `time_strings`, `time_zones`, `epochs`: times
- `number_column`, `co2_units`: numbers and units
- `ventilation_column`, `ventilation_failed_reads`, `ventilation_units`, `ventilation_scale`: ventilation
- `value_rules`: the valid values of each column
- `grid`, `gaps`: records on a regular grid
- `schema`: the definition of readings, their intervals, days and episodes
- `daily_lows`: lowest CO2 of each day
- `head_counts`, `labelled_days`: sparse and weighted labels, and how many days are enough
- `thinning`: the days of a long record to train on
- `training_match`, `day_fingerprints`: readings compared with those a model was trained on
- `source`: locations in error messages, and strict or lenient reading
"""
