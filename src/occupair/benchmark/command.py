"""What ``occupair benchmark`` does, without the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from occupair.atomic_files import check_writable
from occupair.benchmark.cache import Cache, default_folder
from occupair.benchmark.methods import methods_called
from occupair.benchmark.run import run_benchmark
from occupair.benchmark.tables import as_json as json_of
from occupair.benchmark.tables import as_markdown
from occupair.datasets import ROOMS, read_room
from occupair.errors import InputError
from occupair.room.lags import LAGS


def benchmark(
    rooms: Sequence[str] = (),
    methods: Sequence[str] = (),
    lags: Sequence[float] = LAGS,
    *,
    out: Path | None = None,
    as_json: bool = False,
    cache: Path | None = None,
    jobs: int = 1,
) -> str:
    """Run the benchmark on public rooms and say what came out.

    Parameters
    ----------
    rooms, methods : sequence of str
        Names in ``ROOMS`` and ``METHODS``; all of them when none is named.
    lags : sequence of float
        Minutes that an estimate may wait for later readings [min].
    out : path, optional
        HTML page with a figure for each room to write.
    as_json : bool
        JSON instead of Markdown.
    cache : path, optional
        Folder of kept results; see ``default_folder``.
    jobs : int
        Processes to run in.

    Raises
    ------
    InputError
        For rooms or methods there are not, a room whose data are not on this machine, a method that looks
        ahead.
    """
    chosen = methods_called(list(methods))
    for lag in lags:
        if not 0 <= lag < 24 * 60:
            raise InputError(f"lag must be from 0 to less than 1440 min, got {lag:g}")
    if out is not None:
        check_writable(out)
    readings = rooms_called(rooms)
    folder = cache or default_folder()
    folder.mkdir(parents=True, exist_ok=True)
    result = run_benchmark(readings, chosen, lags, cache=Cache(folder), jobs=jobs)
    if out is not None:
        from occupair.benchmark.page import write_page  # here, because plotly takes its time

        write_page(result, out)
    return json_of(result) if as_json else as_markdown(result)


def rooms_called(names: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Read the rooms of those names, all of them when none is named, or say which there are."""
    for name in names:
        if name not in ROOMS:
            raise InputError(f"there is no room {name!r}, only {', '.join(ROOMS)}")
    return {name: read_room(name) for name in dict.fromkeys(names or ROOMS)}
