"""Comparison of estimation methods on public rooms, with the same folds and scores for every method.

- `room_starts`: pooled read-outs that have not seen the room to be scored
- `methods`: the methods compared
- `fold_run`: one method on one fold
- `lookahead`: detection of methods that use future readings
- `run_cache`, `code_fingerprint`: results cached by the content of data and code
- `run_benchmark`: all methods, rooms and folds
- `scores`, `bootstrap`, `result`: scores and confidence intervals of their differences
- `score_tables`, `room_figures`, `benchmark_page`: tables, figures and report
- `public_rooms`: the benchmark on public rooms, ``occupair benchmark``
- `room_variants`: altered rooms and simulated offices
- `leave_one_room_out`: scores with nothing chosen on the room itself
- `coverage`: coverage of the prediction intervals
- `few_labelled_days`: accuracy with few labelled days
- `validation`, `validation_tables`: both studies on public rooms, ``occupair validate``
"""
