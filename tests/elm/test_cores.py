"""Work on threads: results in order, and one OpenMP thread each."""

import threading

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor  # loads OpenMP
from threadpoolctl import threadpool_info

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
