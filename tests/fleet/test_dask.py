"""Portfolios on a real Dask cluster of several processes."""

import os
import signal
import threading

import pytest
from command import occupair
from fleet.dask_processes import dask_processes
from fleet.folders import facts, model_bytes
from fleet.immediate import Immediate
from fleet.portfolio import plant_faults, write_rooms
from live.ports import free_port

from occupair.errors import InputError
from occupair.fleet.executors import dask_cluster
from occupair.fleet.training_run import fit_fleet

pytestmark = pytest.mark.slow


def test_cluster_trains_the_same_models_though_workers_are_killed(tmp_path):
    write_rooms(tmp_path / "data", 4)
    plant_faults(tmp_path / "data")
    alone = fit_fleet(tmp_path / "data", tmp_path / "alone", executor=Immediate())
    killed = threading.Event()

    def kill_once(what, done, failed, total):
        if done and not killed.is_set():
            killed.set()
            cluster.kill_worker()

    with dask_processes(tmp_path, workers=2) as cluster, dask_cluster(cluster.address) as executor:
        run = fit_fleet(tmp_path / "data", tmp_path / "models", executor=executor, on_progress=kill_once)
    assert killed.is_set()
    assert model_bytes(tmp_path / "models") == model_bytes(tmp_path / "alone")
    assert facts(run.results) == facts(alone.results)


def test_lost_scheduler_ends_the_run_with_one_line(tmp_path):
    write_rooms(tmp_path / "data", 4)

    def kill_scheduler(what, done, failed, total):
        if done:
            os.kill(cluster.scheduler.pid, signal.SIGKILL)
            cluster.scheduler.wait()

    with (
        dask_processes(tmp_path, workers=1) as cluster,
        pytest.raises(InputError, match=r"the workers are gone.*run the same command again"),
        dask_cluster(cluster.address) as executor,
    ):
        fit_fleet(tmp_path / "data", tmp_path / "models", executor=executor, on_progress=kill_scheduler)
    done = model_bytes(tmp_path / "models")
    assert 1 <= len(done) < 4
    fit_fleet(tmp_path / "data", tmp_path / "models", executor=Immediate())
    found = model_bytes(tmp_path / "models")
    assert len(found) == 4
    assert done.items() <= found.items()


def test_scheduler_that_is_not_there_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("occupair.fleet.executors.CONNECT_TIMEOUT", 1)
    write_rooms(tmp_path / "data", 1)
    address = f"tcp://127.0.0.1:{free_port()}"
    done = occupair("fleet", "fit", tmp_path / "data", "--out", tmp_path / "models", "--scheduler", address)
    assert done.returncode == 2
    assert done.stderr.startswith(f"occupair: --scheduler {address}: no Dask scheduler there")
    assert done.stderr.count("\n") == 1
