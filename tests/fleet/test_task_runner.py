"""Tasks on any executor: lost workers, broken executors and sizes of batches."""

from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest
from fleet.worker_tasks import LightSource, room_names_unless_deadly
from hypothesis import given
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.fleet.room_sources import RoomSource
from occupair.fleet.task_runner import (
    ATTEMPTS,
    EXECUTOR_LOST,
    IN_FLIGHT_PER_WORKER,
    TaskRunner,
    count_workers,
    split_rooms,
)
from occupair.fleet.worker_processes import WorkerProcesses


class InlinePool(WorkerProcesses):
    """Calls functions at once in this process; a ``BrokenProcessPool`` that they raise is a lost worker."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future


class KilledWorker(Exception):
    """Has the name of Dask's error for a task that lost its workers."""


def batch_of(*rooms):
    return tuple(RoomSource(room, ()) for room in rooms)


def names(batch):
    return tuple(source.room for source in batch)


class Work:
    """Returns the names of rooms; loses the worker as often as asked with some of them."""

    def __init__(self, losses, error=BrokenProcessPool):
        self.losses, self.error, self.calls = Counter(losses), error, []

    def __call__(self, batch):
        self.calls.append(names(batch))
        for room in names(batch):
            if self.losses[room] > 0:
                self.losses[room] -= 1
                raise self.error("lost")
        return names(batch)


def run(executor, work, *batches):
    return {names(batch): result for batch, result in TaskRunner(executor, work).run(batches)}


def test_every_batch_is_done_once():
    work = Work({})
    batches = [batch_of("a", "b"), batch_of("c"), batch_of("d", "e")]
    assert run(InlinePool(2), work, *batches) == {names(one): names(one) for one in batches}
    assert len(work.calls) == 3


def test_batch_that_loses_its_worker_is_repeated():
    work = Work({"b": 1})
    assert run(InlinePool(2), work, batch_of("a", "b"), batch_of("c")) == {
        ("a", "b"): ("a", "b"),
        ("c",): ("c",),
    }
    assert Counter(work.calls) == {("a", "b"): 2, ("c",): 1}


def test_batch_that_loses_its_worker_again_is_divided():
    work = Work({"b": 2})
    assert run(InlinePool(2), work, batch_of("a", "b", "c")) == {
        ("a",): ("a",),
        ("b",): ("b",),
        ("c",): ("c",),
    }


@pytest.mark.parametrize("error", [BrokenProcessPool, KilledWorker])
def test_room_that_always_loses_its_worker_fails_alone(error):
    work = Work({"b": 100}, error)
    pool = InlinePool(2)
    assert run(pool, work, batch_of("a", "b", "c"), batch_of("d")) == {
        ("a",): ("a",),
        ("b",): None,
        ("c",): ("c",),
        ("d",): ("d",),
    }
    assert Counter(work.calls)[("b",)] == ATTEMPTS


@pytest.mark.slow
def test_room_that_kills_its_worker_process_fails_alone():
    batches = [tuple(map(LightSource, rooms)) for rooms in (["a", "deadly", "b"], ["c"], ["d"])]
    with WorkerProcesses(2) as pool:
        found = run(pool, room_names_unless_deadly, *batches)
    assert found == {(room,): [room] for room in "abcd"} | {("deadly",): None}


def test_error_of_the_work_is_raised():
    with pytest.raises(ZeroDivisionError, match=r"^lost$"):
        run(InlinePool(1), Work({"a": 1}, ZeroDivisionError), batch_of("a"))


class FakeExecutor(Executor):
    """An executor whose futures end in a given way."""

    def __init__(self, end):
        self.end, self.futures = end, []

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        self.futures.append(future)
        self.end(future)
        return future


def cancel(future):
    future.cancel()
    future.set_running_or_notify_cancel()


def refuse(future):
    raise RuntimeError("cannot schedule new futures after shutdown")


def refuse_broken(future):
    raise BrokenExecutor("a child process terminated abruptly")


@pytest.mark.parametrize(
    "end", [lambda future: future.set_exception(BrokenExecutor("x")), cancel, refuse, refuse_broken]
)
def test_lost_executor_ends_the_run_with_one_line(end):
    with pytest.raises(InputError, match=f"^{EXECUTOR_LOST}$"):
        run(FakeExecutor(end), Work({}), batch_of("a"), batch_of("b"))


def test_few_tasks_are_submitted_at_a_time():
    executor = FakeExecutor(None)
    executor.workers = 2
    batches = [batch_of(str(number)) for number in range(50)]
    done = []

    def end_the_first(future):
        pending = [one for one in executor.futures if not one.done()]
        most.append(len(pending))
        if len(pending) >= IN_FLIGHT_PER_WORKER * 2:
            pending[0].set_result("done")

    most, executor.end = [], end_the_first
    runner = TaskRunner(executor, Work({}))
    for batch, _ in runner.run(batches):
        done.append(batch)
        if len(executor.futures) == len(batches):
            for future in executor.futures:
                if not future.done():
                    future.set_result("done")
    assert Counter(map(names, done)) == Counter(map(names, batches))
    assert max(most) == IN_FLIGHT_PER_WORKER * 2


def test_waiting_tasks_are_cancelled_if_the_caller_stops():
    executor = FakeExecutor(lambda future: future.set_result("done") if not executor.futures[1:] else None)
    for _ in TaskRunner(executor, Work({})).run([batch_of("a"), batch_of("b"), batch_of("c")]):
        break
    assert [future.cancelled() for future in executor.futures][1:] == [True] * (len(executor.futures) - 1)


@given(st.integers(1, 120_000), st.integers(1, 300))
def test_batches_have_10_to_50_rooms_in_order(n_rooms, workers):
    rooms = [RoomSource("x", ())] * n_rooms
    sizes = [len(batch) for batch in split_rooms(rooms, workers)]
    assert sum(sizes) == n_rooms
    assert max(sizes) <= 50
    assert len(set(sizes[:-1])) <= 1
    if n_rooms >= 40 * workers:  # enough for four tasks of ten rooms for each worker
        assert sizes[0] >= 10


def test_small_portfolio_is_divided_among_all_workers():
    rooms = batch_of(*"abcdef")
    batches = split_rooms(rooms, 8)
    assert batches == [(room,) for room in rooms]
    assert split_rooms([], 2) == []


def test_large_portfolio_has_full_batches():
    sizes = [len(batch) for batch in split_rooms([RoomSource("x", ())] * 1_000_000, 100)]
    assert set(sizes) == {50}


class FakeClient:
    """A Dask client with two workers of four threads."""

    def nthreads(self):
        return {"tcp://a": 4, "tcp://b": 4}


def test_workers_are_counted():
    with ThreadPoolExecutor(3) as threads:
        assert count_workers(threads) == 3
    assert count_workers(InlinePool(2)) == 2
    dask = FakeExecutor(None)
    dask._client = FakeClient()
    assert count_workers(dask) == 8
    assert count_workers(FakeExecutor(None)) >= 1
