"""One run over all rooms: results, progress, memory and lost rooms."""

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

import pandas as pd
import pytest
from fleet.portfolio import write_rooms
from threadpoolctl import threadpool_info

from occupair.errors import InputError
from occupair.fleet.fleet_run import FleetRun, open_executor, run_rooms, write_table
from occupair.fleet.model_runs import estimate_fleet, evaluate_fleet
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.storage import Storage
from occupair.fleet.task_report import TaskReport
from occupair.fleet.training_run import fit_fleet, read_fleet
from occupair.fleet.worker_processes import WorkerProcesses


@dataclass(frozen=True)
class Outcome:
    """The result of a room in these tests."""

    room: str
    status: str
    reason: str = ""


def work(batch):
    """Rooms whose name starts with x fail; those with u are unchanged."""
    results = tuple(Outcome(one.room, "failed" if one.room[0] == "x" else "done") for one in batch)
    n_unchanged = sum(one.room[0] == "u" for one in batch)
    return TaskReport(results, n_unchanged, f"worker {len(batch)}", float(len(batch)))


def sources_of(*rooms):
    return [RoomSource(room, ()) for room in rooms]


def run(executor, sources, function=work, **options):
    return run_rooms(
        executor,
        function,
        sources,
        what="testing",
        on_lost=lambda *lost: Outcome(lost[0], "failed", lost[1]),
        **options,
    )


def test_results_are_sorted_and_counted():
    with ThreadPoolExecutor(2) as threads:
        found = run(threads, sources_of("c", "x1", "u2", "a", "u1", "x2"))
    assert [result.room for result in found.results] == ["a", "c", "u1", "u2", "x1", "x2"]
    assert (found.n_failed, found.n_unchanged) == (2, 2)
    assert found.seconds > 0
    assert found.megabytes == {"worker 1": 1.0}


def test_memory_is_the_peak_of_each_worker():
    def one_worker(batch):
        return TaskReport(
            (Outcome(batch[0].room, "done"),), 0, "here", {"a": 100.0, "b": 300.0, "c": 200.0}[batch[0].room]
        )

    with ThreadPoolExecutor(1) as threads:
        assert run(threads, sources_of("a", "b", "c"), one_worker).megabytes == {"here": 300.0}


def test_progress_starts_at_zero_and_ends_with_all_rooms():
    seen = []
    sources = sources_of(*(f"x{number}" if number % 10 == 0 else f"a{number}" for number in range(100)))
    with ThreadPoolExecutor(1) as threads:
        run(threads, sources, on_progress=lambda *now: seen.append(now))
    assert seen[0] == ("testing", 0, 0, 100)
    assert seen[-1] == ("testing", 100, 10, 100)
    assert [done for _, done, _, _ in seen] == list(range(0, 101, 10))


class LosingPool(WorkerProcesses):
    """Loses its worker with every batch that has a room named lost."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        if any(one.room == "lost" for one in args[0]):
            future.set_exception(BrokenProcessPool("x"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_room_that_loses_every_worker_is_a_failed_row():
    found = run(LosingPool(1), sources_of("a", "lost", *(f"b{k}" for k in range(20))))
    assert found.n_failed == 1
    assert len(found.results) == 22
    lost = next(result for result in found.results if result.room == "lost")
    assert lost.reason == "the worker process was lost 3 times, perhaps for lack of memory"


def test_no_rooms():
    with ThreadPoolExecutor(1) as threads:
        assert run(threads, []).results == []


def threads_of_blas():
    return {library["num_threads"] for library in threadpool_info()}


def test_executor_of_the_caller_is_used_and_kept():
    with ThreadPoolExecutor(1) as threads:
        with open_executor(threads) as found:
            assert found is threads
            assert threads_of_blas() == {1}
        assert threads.submit(int).result() == 0


def test_executor_of_this_machine_ends_with_the_block():
    with open_executor(None, 1) as pool:
        assert isinstance(pool, WorkerProcesses)
        assert pool.submit(abs, -3).result() == 3
    with pytest.raises(RuntimeError, match=r"^cannot submit to a pool that is shut down$"):
        pool.submit(abs, -3)
    with pytest.raises(ZeroDivisionError), open_executor(None, 1) as pool:
        raise ZeroDivisionError
    with pytest.raises(RuntimeError, match=r"^cannot submit to a pool that is shut down$"):
        pool.submit(abs, -3)


def test_table_is_parquet(tmp_path):
    table = pd.DataFrame({"room": ["Büro", "lab"], "error": [1.5, float("nan")]})
    write_table(Storage(str(tmp_path)), "rooms.parquet", table)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "rooms.parquet"), table)


def test_failed_rooms_are_counted():
    assert FleetRun([Outcome("a", "done"), Outcome("b", "failed")]).n_failed == 1


def test_output_within_the_readings_is_refused(tmp_path):
    data, models = tmp_path / "data", tmp_path / "models"
    write_rooms(data, 1)
    with pytest.raises(
        InputError, match=r"data/models: is in the folder of the readings, .*: choose another$"
    ):
        fit_fleet(data, data / "models")
    Storage(str(models)).write("rooms/x.json", b"")
    with pytest.raises(InputError, match=r"data/out: is in the folder of the readings, .*: choose another$"):
        estimate_fleet(data, models, data / "out")
    assert [path.name for path in data.iterdir()] == ["room-00.csv"]


def test_folder_without_models(tmp_path):
    for call in (
        read_fleet,
        lambda out: estimate_fleet(tmp_path, out, tmp_path / "e"),
        lambda out: evaluate_fleet(tmp_path, out),
    ):
        with pytest.raises(InputError, match=r"none: has no trained rooms: run 'occupair fleet fit' first$"):
            call(tmp_path / "none")


@pytest.mark.parametrize(
    ("options", "message"),
    [({"lag": -1.0}, r"^lag must be .* got -1\.0"), ({"interval": 1.5}, r"^interval must be .* got 1\.5")],
)
def test_settings_of_estimates_are_checked_before_the_run(tmp_path, options, message):
    with pytest.raises(InputError, match=message):
        estimate_fleet(tmp_path, tmp_path, tmp_path / "out", **options)
