"""How many people are in the room? Ask the CO2 sensor it already has.

Public names are listed in ``__init__.pyi`` and imported on first use. The packages in data-flow order:

- `readings`: readings from files, checked and on a regular grid
- `checks`: data quality checks
- `elm`: extreme learning machines
- `room`: the default estimator
- `paper`: the estimator of Jiang et al. 2016
- `baselines`: alternative methods
- `groundtruth`: head counts from door videos and door counters
- `live`: the live service
- `web`: access control, errors and static files of the HTTP servers
- `simulation`: simulated readings of the paper's office
- `datasets`: public data sets
- `benchmark`: comparison of methods on public rooms, and validation
- `report`: HTML reports
- `cli`: the command line, also run by `__main__`

The modules:

- `smoothing`: smoothing of CO2
- `estimator`: the occupancy estimator, on top of `room` and `paper`
- `model_file`: trained estimators as files
- `live_room`, `live_rooms`: one live room, and batched updates of many
- `folds`, `cross_validation`, `tuning`: day-wise folds, and the choice of the paper's settings
- `metrics`: scores
- `errors`, `wording`, `progress`, `atomic_files`: user errors, text helpers, progress bars, safe writes
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
