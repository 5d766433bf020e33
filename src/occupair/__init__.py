"""How many people are in the room? Ask the CO2 sensor it already has.

Public names are listed in ``__init__.pyi`` and imported on first use. The packages in data-flow order:

- `readings`: readings from files, checked and on a regular grid
- `checks`: data quality checks
- `elm`: extreme learning machines
- `room`: the default estimator
- `physics`: people inferred from CO2 without head counts
- `paper`: the estimator of Jiang et al. 2016
- `baselines`: alternative methods
- `groundtruth`: head counts from door videos and door counters
- `live`: the live service
- `web`: access control, errors and static files of the HTTP servers
- `simulation`: simulated readings of the paper's office
- `datasets`: public data sets
- `benchmark`: comparison of methods on public rooms, and validation
- `control`: outdoor air from counts
- `savings`: closed-loop studies of ventilation that follows people
- `utilisation`: use of rooms over weeks
- `fleet`: thousands of rooms on worker processes or a Dask cluster
- `report`: HTML reports
- `doctor`: checks of an installation
- `cli`: the command line, also run by `__main__`

The modules:

- `smoothing`: smoothing of CO2
- `estimator_arguments`: checks of the settings of the estimator, and of mode, lag and confidence
- `inferred_training`: training on people inferred from CO2
- `estimator`: the occupancy estimator, on top of `room` and `paper`
- `model_file`: trained estimators as files
- `live_room`, `live_rooms`: one live room, and batched updates of many
- `folds`, `cross_validation`, `tuning`: day-wise folds, and the choice of the paper's settings
- `metrics`: scores
- `_version`, `deprecations`: the version, deprecated names
- `errors`, `wording`, `progress`: user errors, text helpers, progress bars
- `compiler`: numba, or a warning that it is missing
- `output_names`, `atomic_files`, `user_folders`: file names that match the format, safe writes, cache folders
- `ventilation_rates`: outdoor air rates of ASHRAE 62.1 and EN 16798-1
"""

from occupair._version import __version__ as __version__


def __getattr__(name: str) -> object:
    """Attach the public names at the first use of one, so that the command line starts without them."""
    import lazy_loader

    names = globals()
    names["__getattr__"], names["__dir__"], names["__all__"] = lazy_loader.attach_stub(__name__, __file__)
    return names["__all__"] if name == "__all__" else names["__getattr__"](name)


def __dir__() -> list[str]:
    return sorted(__getattr__("__all__"))
