"""Portfolios: thousands of rooms trained, estimated and scored on a process pool or a Dask cluster.

The path of a room, module by module:

- `room_sources`: which files hold its readings; `room_options`: its size, time zone and columns
- `fleet_run`, `task_runner`: batches of rooms on any executor; `executors`: worker processes
  (`worker_processes`) or a Dask cluster; `task_report`: what a task returns
- `read_room`: its readings, hashed; `storage`: the folder or object store that results are written to
- `train_room`: checked and trained, as far as its readings allow; `room_verdicts`: how far to trust it
- `fit_tasks`: the same for a batch, with fingerprints; `fit_fleet`: for all rooms
- `portfolio_start`: what rooms with few head counts start from
- `estimate_tasks`, `evaluate_tasks`: batches with trained models; `apply_fleet`: all rooms
- `room_result`: a row of the result
- `rooms_page`: the page for operators; `rooms_page_summary` has its key figures and groups of rooms
  (`message_groups`), `rooms_page_data` the data of its table and figures, and ``page/`` its template, style
  sheet and scripts
- `split_table`: one table of all rooms as a folder per room
"""
