"""Work on threads: results in order, and one OpenMP thread each."""

import threading

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor  # loads OpenMP
from threadpoolctl import threadpool_info, threadpool_limits

from occupair.elm import cores


def openmp_threads(_):
    return threading.current_thread().name, [
        pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"
    ]


def test_each_worker_has_one_openmp_thread(monkeypatch):
    assert HistGradientBoostingRegressor is not None
    monkeypatch.setattr(cores, "usable_cores", lambda: 2)
    found = cores.each_on_a_core(openmp_threads, range(6))
    for name, limits in found:
        assert name != threading.main_thread().name
        assert limits
        assert set(limits) == {1}


def test_results_keep_their_order(monkeypatch):
    for n in (1, 3):
        monkeypatch.setattr(cores, "usable_cores", lambda n=n: n)
        assert cores.each_on_a_core(lambda k: k * k, range(9)) == list(np.arange(9) ** 2)
    assert cores.each_on_a_core(str, []) == []


def test_one_item_runs_in_the_calling_thread_and_two_in_a_pool(monkeypatch):
    monkeypatch.setattr(cores, "usable_cores", lambda: 3)
    here = threading.get_ident()
    assert cores.each_on_a_core(lambda _: threading.get_ident(), [0]) == [here]
    assert here not in cores.each_on_a_core(lambda _: threading.get_ident(), [0, 1])


def test_pool_has_a_thread_per_core_and_each_blas_one_thread(monkeypatch):
    sizes = []

    class Recorded(cores.ThreadPoolExecutor):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            sizes.append(self._max_workers)

    monkeypatch.setattr(cores, "ThreadPoolExecutor", Recorded)
    with threadpool_limits(3):
        assert cores.usable_cores() == 3
        assert cores.each_on_a_core(lambda _: cores.usable_cores(), range(5)) == [1] * 5
        assert cores.usable_cores() == 3
    assert sizes == [3]


def test_one_core_is_used_without_a_thread_pool_library(monkeypatch):
    monkeypatch.setattr(cores, "threadpool_info", list)
    assert cores.usable_cores() == 1


def test_libraries_are_searched_in_the_calling_thread(monkeypatch):
    """A search in a worker, and a worker that loads a library, would wait for each other."""
    searches = []

    class Recorded(cores.ThreadpoolController):
        def __init__(self):
            searches.append(threading.get_ident())
            super().__init__()

    monkeypatch.setattr(cores, "ThreadpoolController", Recorded)
    monkeypatch.setattr(cores, "usable_cores", lambda: 3)
    cores.each_on_a_core(str, range(6))
    assert searches == [threading.get_ident()]
