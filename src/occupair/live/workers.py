"""The service as several processes on one machine, one per shard, that are restarted when they die.

The parent binds the address of the service, on which all workers accept connections, and for each worker a
loopback port after it (8100 for the first one, if the service has port 8099), which the other workers use.
A worker stops when its standard input ends, so that none survives its parent.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from occupair.errors import InputError
from occupair.live.config import ServiceConfig, read_config
from occupair.live.logs import find_secrets, start_logging
from occupair.live.room_shards import Shard
from occupair.live.service import STOP_TIMEOUT, listen, serve
from occupair.wording import plural

log = logging.getLogger("occupair.live")

RESTART_PAUSE = (1.0, 60.0)
"""The first and the longest pause before a worker is started again [s]."""
STABLE_AFTER = 60.0
"""A worker that ran for longer is started again after the first pause [s]."""
KILL_AFTER = STOP_TIMEOUT + 5.0
"""How long workers may take to stop [s]."""
INVALID = 2
"""Exit status of a worker that cannot start with its settings."""
_WORKER = "from occupair.live.workers import run_worker; run_worker()"
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def serve_workers(config: ServiceConfig, rooms: Path, options: Mapping[str, str], count: int) -> None:
    """Run the service as several processes until SIGTERM or SIGINT.

    Parameters
    ----------
    config : ServiceConfig
        Settings, as read once to check them.
    rooms : Path
        Settings file, which each worker reads.
    options : mapping
        CLI options that override it.
    count : int
        Number of workers.

    Raises
    ------
    InputError
        If an address is in use, or a worker cannot start with its settings.
    """
    if config.port + count > 65_535:
        raise InputError(f"--workers {count} needs as many ports after {config.port}, which is too high")
    with contextlib.ExitStack() as opened:
        public = opened.enter_context(listen(config.host, config.port))
        workers = []
        for number in range(1, count + 1):
            own = opened.enter_context(listen("127.0.0.1", config.port + number))
            shard = Shard(number, count)
            order = {
                "rooms": str(rooms),
                "options": dict(options) | {"--shard": str(shard)},
                "sockets": [public.fileno(), own.fileno()],
            }
            workers.append(_Worker(shard, order))
        start_logging(config.log, config.log_level, secrets=find_secrets(config))
        if not asyncio.run(_run(workers)):
            raise InputError("a worker cannot start, see the message above")


def run_worker() -> None:
    """Run one worker, whose order is the first line of its standard input."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    order = json.loads(sys.stdin.readline())
    threading.Thread(target=_stop_with_parent, name="parent", daemon=True).start()
    try:
        public, private = (socket.socket(fileno=number) for number in order["sockets"])
        config = read_config(order["rooms"], options=order["options"])
        serve(config, listening=public, private=private)
    except InputError as error:
        log.error("%s", error)
        sys.exit(INVALID)


def _stop_with_parent() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


class _Worker:
    """A process that is started again when it ends."""

    def __init__(self, shard: Shard, order: Mapping[str, Any]) -> None:
        self.shard = shard
        self._order = order
        self._process: asyncio.subprocess.Process | None = None

    def signal(self, number: signal.Signals) -> None:
        """Pass on a signal, if the process is running."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def run(self) -> None:
        """Keep the process running until cancelled, and then stop it.

        Raises
        ------
        InputError
            If the first start fails because of the settings.
        """
        loop = asyncio.get_running_loop()
        pause, is_first = RESTART_PAUSE[0], True
        try:
            while True:
                started = loop.time()
                status = await self._run_once()
                if is_first and status == INVALID:
                    raise InputError(f"worker {self.shard} cannot start")
                is_first = False
                if loop.time() - started > STABLE_AFTER:
                    pause = RESTART_PAUSE[0]
                how = f"was killed by signal {-status}" if status < 0 else f"exited with status {status}"
                log.error("worker %s %s: starting it again in %g s", self.shard, how, pause)
                await asyncio.sleep(pause)
                pause = min(2 * pause, RESTART_PAUSE[1])
        finally:
            await self._stop()

    async def _run_once(self) -> int:
        sockets = self._order["sockets"]
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", _WORKER),
            stdin=asyncio.subprocess.PIPE,
            pass_fds=sockets,
            env={**dict.fromkeys(_THREADS, str(_threads(self.shard.count))), **os.environ},
        )
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # it has ended
            self._process.stdin.write(json.dumps(self._order).encode() + b"\n")
            await self._process.stdin.drain()
        return await self._process.wait()

    async def _stop(self) -> None:
        if self._process is None:
            return
        self.signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(KILL_AFTER):
                await self._process.wait()
        except TimeoutError:
            self.signal(signal.SIGKILL)
            await self._process.wait()


def _threads(count: int) -> int:
    """Return the number of threads for linear algebra in each of ``count`` processes."""
    return max(1, (os.cpu_count() or 1) // count)


async def _run(workers: list[_Worker]) -> bool:
    """Run workers until a signal, and return whether all could start."""
    loop, stopping = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, _pass_on, workers, signal.SIGHUP)
    log.info("starting %s", plural(len(workers), "worker"))
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    ended = asyncio.create_task(stopping.wait())
    await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping %s", plural(len(workers), "worker"))
    for task in [ended, *tasks]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for error in results:
        if isinstance(error, Exception) and not isinstance(error, InputError):
            raise error
    return not any(isinstance(error, InputError) for error in results)


def _pass_on(workers: list[_Worker], number: signal.Signals) -> None:
    for worker in workers:
        worker.signal(number)
