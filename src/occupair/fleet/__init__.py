"""Portfolios: thousands of rooms trained, estimated and scored on a process pool or a Dask cluster.

The path of a room, module by module:

- `room_sources`: which files hold its readings; `room_options`: its size, time zone and columns
- `fleet_run`, `task_runner`: batches of rooms on any executor; `executors`: worker processes
  (`worker_processes`) or a Dask cluster; `task_report`: what a task returns
- `read_room`: its readings, hashed; `storage`: the folder or object store that results are written to
- `train_room`: checked and trained, as far as its readings allow; `room_verdicts`: how far to trust it
- `fit_tasks`: the same for a batch, with fingerprints; `training_run`: for all rooms
- `portfolio_start`: what rooms with few head counts start from
- `estimate_tasks`, `evaluate_tasks`: batches with trained models; `model_runs`: all rooms
- `room_result`: a row of the result
- `rooms_page`: the page for operators; `rooms_page_summary` has its key figures and groups of rooms
  (`message_groups`), `rooms_page_data` the data of its table and figures, and ``page/`` its template, style
  sheet and scripts
- `split_table`: one table of all rooms as a folder per room

Examples
--------
>>> import tempfile
>>> from concurrent.futures import ThreadPoolExecutor
>>> from pathlib import Path
>>> import occupair as oc
>>> from occupair.fleet import fit_fleet
>>> from occupair.readings.files import write_readings
>>> folder = Path(tempfile.mkdtemp())
>>> (folder / "data").mkdir()
>>> for room, seed in (("lab", 1), ("office", 2)):
...     write_readings(oc.simulate_office(days=3, seed=seed).iloc[::15], folder / f"data/{room}.csv")
>>> with ThreadPoolExecutor(1) as executor:
...     run = fit_fleet(folder / "data", folder / "models", executor=executor)
>>> [(result.room, result.status) for result in run.results]
[('lab', 'trained'), ('office', 'trained')]
"""

from occupair.fleet.executors import dask_cluster, local_workers
from occupair.fleet.model_runs import estimate_fleet, evaluate_fleet
from occupair.fleet.room_options import RoomOptions
from occupair.fleet.rooms_page import write_rooms_page
from occupair.fleet.training_run import fit_fleet, read_fleet

__all__ = [
    "RoomOptions",
    "dask_cluster",
    "estimate_fleet",
    "evaluate_fleet",
    "fit_fleet",
    "local_workers",
    "read_fleet",
    "write_rooms_page",
]
