"""Readings: CO2, ventilation and head counts of a room, from any file to a regular grid.

*Readings* are a DataFrame of ``co2`` [ppm], ``ventilation`` [0..1, optional] and ``occupancy`` [people,
optional] over time; `schema` defines them. The modules in the order of the data flow:

- `files`: read and write CSV and Parquet files; calls the steps below
- `raw_table`: a file as a table of strings, whatever its encoding, delimiter and header
- `column_names`: which column is time, CO2, ventilation or occupancy
- `records`: the columns of a file parsed into times and numbers
- `time_column`, `time_strings`, `time_zones`, `epochs`: times
- `number_column`, `co2_units`, `ventilation_units`, `ventilation_scale`: numbers and units
- `value_rules`: the valid values of each column
- `grid`, `gaps`: records on a regular grid
- `schema`: the definition of readings, their intervals, days and episodes
- `head_counts`: sparse and weighted labels
- `training_match`: readings checked against those a model was trained on
- `source`: locations in error messages, and strict or lenient reading
"""
