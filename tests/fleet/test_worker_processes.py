"""Worker processes on this machine: a lost worker concerns its own task only."""

import os
import re
import signal
import time
from concurrent.futures import CancelledError, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import psutil
import pytest
from fleet.worker_tasks import append, end_process, fail, ignores_interrupts, process_id, wait_for_file

from occupair.errors import InputError
from occupair.fleet.worker_processes import WorkerProcesses

LONGEST_WAIT = 120.0  # s, for a machine that is very slow


def wait_until(condition):
    end = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


def is_gone(pid):
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.fixture(scope="module")
def pool():
    """One worker, so that calls are done in order."""
    with WorkerProcesses(1) as one:
        yield one


def test_calls_are_done_in_order(pool, tmp_path):
    for text in "abcdef":
        done = pool.submit(append, str(tmp_path / "order"), text)
    done.result(LONGEST_WAIT)
    assert (tmp_path / "order").read_text() == "abcdef"


def test_error_of_a_call_is_its_own(pool):
    before = pool.submit(process_id).result(LONGEST_WAIT)
    with pytest.raises(ValueError, match=r"^as asked$"):
        pool.submit(fail, "as asked").result(LONGEST_WAIT)
    assert pool.submit(process_id).result(LONGEST_WAIT) == before


def test_workers_leave_interrupts_to_the_main_process(pool):
    assert pool.submit(ignores_interrupts).result(LONGEST_WAIT)


def test_waiting_call_can_be_cancelled(pool, tmp_path):
    first = pool.submit(wait_for_file, str(tmp_path / "go"))
    second = pool.submit(append, str(tmp_path / "order"), "2")
    third = pool.submit(append, str(tmp_path / "order"), "3")
    assert second.cancel()
    assert not first.cancel()
    (tmp_path / "go").touch()
    third.result(LONGEST_WAIT)
    with pytest.raises(CancelledError):
        second.result(LONGEST_WAIT)
    assert (tmp_path / "order").read_text() == "3"


def test_killed_worker_fails_its_own_task_and_is_replaced(tmp_path):
    with WorkerProcesses(2) as pool:
        other = pool.submit(wait_for_file, str(tmp_path / "go"))
        lost = pool.submit(end_process)
        after = pool.submit(process_id)
        with pytest.raises(BrokenProcessPool):
            lost.result(LONGEST_WAIT)
        assert after.result(LONGEST_WAIT) > 0
        assert not other.done()
        (tmp_path / "go").touch()
        assert other.result(LONGEST_WAIT) == str(tmp_path / "go")


def test_worker_killed_while_idle_is_replaced(tmp_path):
    with WorkerProcesses(1) as pool:
        worker = pool.submit(process_id).result(LONGEST_WAIT)
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: is_gone(worker))
        wait_until(lambda: pool._idle and pool._idle[0]._broken)
        assert pool.submit(process_id).result(LONGEST_WAIT) != worker


def test_shutdown_waits_for_all_calls_and_ends_the_workers():
    pool = WorkerProcesses(1)
    calls = [pool.submit(process_id) for _ in range(3)]
    pool.shutdown()
    assert all(call.done() for call in calls)
    wait_until(lambda: is_gone(calls[0].result()))
    with pytest.raises(RuntimeError, match=r"^cannot submit to a pool that is shut down$"):
        pool.submit(process_id)
    pool.shutdown()


def test_shutdown_with_cancel_ends_running_calls_at_once(tmp_path):
    pool = WorkerProcesses(1)
    running = pool.submit(wait_for_file, str(tmp_path / "never"))
    waiting = pool.submit(process_id)
    wait_until(lambda: Path(tmp_path / "never.began").exists())
    pool.shutdown(cancel_futures=True)
    assert waiting.cancelled()
    assert isinstance(running.exception(LONGEST_WAIT), BrokenProcessPool)


def test_shutdown_without_waiting_lets_calls_end(tmp_path):
    pool = WorkerProcesses(1)
    running = pool.submit(wait_for_file, str(tmp_path / "go"))
    waiting = pool.submit(process_id)
    pool.shutdown(wait=False)
    assert not running.done()
    (tmp_path / "go").touch()
    wait([running, waiting], LONGEST_WAIT)
    assert running.result() == str(tmp_path / "go")
    wait_until(lambda: is_gone(waiting.result()))


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_number_of_workers_is_checked(workers):
    with pytest.raises(InputError, match=rf"^workers must be .* got {re.escape(repr(workers))}$"):
        WorkerProcesses(workers)
