"""The study on several processes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from multiprocessing.sharedctypes import Synchronized

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from occupair.errors import InputError
from occupair.progress import progress_to, track
from occupair.savings.result import StudyResult
from occupair.savings.study import SeedResults, run_seeds
from occupair.savings.study_settings import StudySettings

_STEPS = 1000  # of the progress bar


def run_study(settings: StudySettings, seeds: Sequence[int], *, jobs: int = 1) -> StudyResult:
    """Run the study for all seeds, divided between ``jobs`` processes.

    Parameters
    ----------
    settings
        Settings of the study.
    seeds
        Random seeds, all different.
    jobs
        Processes. The results do not depend on it.
    """
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise InputError(f"seeds must be different integers of 0 or more, got {list(seeds)}")
    began = time.monotonic()
    groups = [list(seeds[first::jobs]) for first in range(min(jobs, len(seeds)))]
    parts = [run_seeds(settings, seeds)] if len(groups) == 1 else _in_processes(settings, groups)
    totals = {key: one for part in parts for key, one in part.totals.items()}
    return StudyResult(settings, tuple(seeds), totals, parts[0].example, time.monotonic() - began)


def _in_processes(settings: StudySettings, groups: list[list[int]]) -> list[SeedResults]:
    context = get_context("spawn")
    shares = [context.Value("d", 0.0) for _ in groups]
    with ProcessPoolExecutor(
        len(groups), mp_context=context, initializer=_share_progress, initargs=(shares,)
    ) as pool:
        futures = [pool.submit(_run_group, settings, group, k) for k, group in enumerate(groups)]
        for _ in track(_Ticks(futures, shares), "simulating"):
            pass
        return [future.result() for future in futures]


class _Ticks(Sequence[int]):
    """Steps of a progress bar, each available when the processes have done their share."""

    def __init__(self, futures: list[Future[SeedResults]], shares: list[Synchronized[float]]) -> None:
        self._futures, self._shares = futures, shares

    def __len__(self) -> int:
        return _STEPS

    def __getitem__(self, step: int) -> int:  # type: ignore[override]
        return step

    def __iter__(self) -> Iterator[int]:
        for step in range(_STEPS):
            while sum(one.value for one in self._shares) / len(self._shares) * _STEPS < step:
                wait(self._futures, timeout=1.0)
                if all(future.done() for future in self._futures):
                    break
            yield step


_shares: list[Synchronized[float]] = []


def _share_progress(shares: list[Synchronized[float]]) -> None:
    _shares[:] = shares


def _run_group(settings: StudySettings, seeds: list[int], number: int) -> SeedResults:
    """Run some seeds in a process of their own."""

    def report(_: str, done: float, total: float) -> None:
        _shares[number].value = done / total

    with threadpool_limits(limits=1), progress_to(report):
        return run_seeds(settings, seeds)
