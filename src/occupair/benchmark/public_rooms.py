"""The benchmark on public rooms, as run by ``occupair benchmark``: `run_benchmark` with files in and out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from occupair.atomic_files import check_writable
from occupair.benchmark.methods import methods_called
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.benchmark.run_cache import Cache
from occupair.benchmark.score_tables import as_json as json_of
from occupair.benchmark.score_tables import as_markdown
from occupair.datasets import read_rooms
from occupair.errors import InputError
from occupair.room.lags import LAGS
from occupair.user_folders import benchmark_folder


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
    """Run the benchmark on public rooms and return its tables as text.

    Parameters
    ----------
    rooms : sequence of str
        Names in ``occupair.datasets.ROOMS``; default: ``BENCHMARK_ROOMS``.
    methods : sequence of str
        Names in ``METHODS``; default: all.
    lags : sequence of float
        Lags of the estimates [min].
    out : path, optional
        HTML report to write, with a figure for each room.
    as_json : bool
        Return JSON instead of Markdown.
    cache : path, optional
        Folder of cached results; default: ``benchmark_folder``.
    jobs : int
        Number of parallel processes.

    Raises
    ------
    InputError
        For an unknown room or method, a room whose data are missing, or a method that looks ahead.
    """
    chosen = methods_called(list(methods))
    for lag in lags:
        if not 0 <= lag < 24 * 60:
            raise InputError(f"lag must be from 0 to less than 1440 min, got {lag:g}")
    if out is not None:
        check_writable(out)
    readings = read_rooms(rooms)
    folder = cache or benchmark_folder()
    folder.mkdir(parents=True, exist_ok=True)
    result = run_benchmark(readings, chosen, lags, cache=Cache(folder), jobs=jobs)
    if out is not None:
        from occupair.benchmark.benchmark_page import write_page  # plotly is slow to import

        write_page(result, out)
    return json_of(result) if as_json else as_markdown(result)
