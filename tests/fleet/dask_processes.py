"""A real Dask cluster on loopback: a scheduler and worker processes, ended by process id."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import psutil

LONGEST_WAIT = 240.0  # s, for a machine that is very slow


class DaskProcesses:
    """A scheduler, and workers each with a nanny that restarts it."""

    def __init__(self, folder, workers):
        self._file = folder / "scheduler.json"
        self._log = (folder / "dask.log").open("wb")
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0")
        self._wait(self._file.exists)
        self._wait(lambda: self._file.read_text().strip().endswith("}"))
        self.address = json.loads(self._file.read_text())["address"]
        self.nannies = [
            self._start("worker", "--nthreads", "1", "--host", "127.0.0.1") for _ in range(workers)
        ]

    def _start(self, kind, *options):
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--scheduler-file", str(self._file)]
        return subprocess.Popen(
            [*command, "--no-dashboard", *options], stdout=self._log, stderr=self._log, cwd=self._file.parent
        )

    def worker_pids(self):
        """Process ids of the workers that run now, without their nannies."""
        found = []
        for nanny in self.nannies:
            for child in psutil.Process(nanny.pid).children():
                command = " ".join(child.cmdline())  # Dask renames its workers if setproctitle is installed
                if "spawn_main" in command or "dask worker" in command:
                    found.append(child.pid)
        return found

    def kill_worker(self):
        """Kill one worker process at once; its nanny starts another."""
        self._wait(self.worker_pids)
        os.kill(self.worker_pids()[0], signal.SIGKILL)

    def stop(self):
        for process in [*self.nannies, self.scheduler]:
            if process.poll() is None:
                process.terminate()
        for process in [*self.nannies, self.scheduler]:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._log.close()

    def _wait(self, condition):
        end = time.monotonic() + LONGEST_WAIT
        while not condition():
            assert self.scheduler.poll() is None if hasattr(self, "scheduler") else True
            assert time.monotonic() < end, "Dask did not start"
            time.sleep(0.05)


@contextmanager
def dask_processes(folder, workers=2):
    """Yield a running cluster."""
    cluster = DaskProcesses(folder, workers)
    try:
        yield cluster
    finally:
        cluster.stop()
