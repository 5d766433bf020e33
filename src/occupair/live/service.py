"""The service, put together: the pipeline, its doors, signals, and what is done now and then."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator

import uvicorn

from occupair.checks.cleaned import counted
from occupair.errors import InputError
from occupair.live.config import ServiceConfig, reread
from occupair.live.http.app import make_app
from occupair.live.logs import secrets_of, start_logging
from occupair.live.mqtt import MqttLink
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer
from occupair.live.store import Store, StoreError

log = logging.getLogger("occupair.live")

PRUNE_EVERY = 6 * 3600.0
"""How often what is older than the retention is dropped [s]."""
PATIENCE = 15
"""How long all of it may take to stop [s]."""
GRACE = 5
"""How long requests may take to end when the service stops [s]."""

Beside = Callable[[Pipeline], Awaitable[None]]


def serve(config: ServiceConfig, beside: Beside | None = None) -> None:
    """Run the service until it is told to stop.

    Parameters
    ----------
    config : ServiceConfig
        Its settings.
    beside : callable, optional
        Something more to run with the pipeline.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is something to read again
    start_logging(config.log, config.log_level, secrets=secrets_of(config))
    for chatty in ("uvicorn", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    listening = listen(config.host, config.port)
    with contextlib.closing(open_store(config.store)) as store:
        asyncio.run(run(config, store, listening, beside))


def listen(host: str, port: int) -> socket.socket:
    """Take the address before anything else, so that a second service stops before it harms the first."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        taken = socket.socket(family, socket.SOCK_STREAM)
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
    except OSError as error:
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}: set another port") from None
    return taken


def open_store(url: str) -> Store:
    """Open the store, of whatever version it is."""
    store = Store(url)
    try:
        store.migrate()
    except StoreError as error:
        store.close()
        raise InputError(str(error)) from None
    return store


async def run(
    config: ServiceConfig, store: Store, listening: socket.socket, beside: Beside | None = None
) -> None:
    """Run the service on an address that is taken, until a signal tells it to stop."""
    pipeline = Pipeline(config, store)
    await pipeline.start()
    pipeline.trainer = Trainer(pipeline)
    app = make_app(pipeline, config)
    server = _Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE
        )
    )
    links = _Links(pipeline)
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    reloads: list[asyncio.Task[None]] = []

    def reload() -> None:
        reloads.append(asyncio.create_task(_reload(pipeline, links)))

    loop.add_signal_handler(signal.SIGHUP, reload)
    links.begin()
    tasks = [asyncio.create_task(work) for work in (server.serve([listening]), _prune(pipeline))]
    if beside is not None:
        tasks.append(asyncio.create_task(_forever(beside(pipeline))))
    host, port = listening.getsockname()[:2]
    log.info("listening on http://%s:%d, %s", host, port, counted(len(config.rooms), "room"))
    ended = asyncio.create_task(stopping.wait())
    await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping")
    _end_in_time()
    app.state.streams.stop()
    server.should_exit = True
    for task in [ended, *tasks[1:], *reloads]:
        task.cancel()
    await links.end()
    await asyncio.gather(*tasks, *reloads, return_exceptions=True)
    await pipeline.trainer.stop()
    await pipeline.stop()
    for task in tasks:
        if not task.cancelled() and (error := task.exception()):
            raise error


def _end_in_time() -> None:
    """End the process if a part of it hangs, in a database that does not answer: all it took is safe."""

    def end() -> None:
        log.error("something did not stop within %d s: ending all the same", PATIENCE)
        os._exit(1)

    timer = threading.Timer(PATIENCE, end)
    timer.daemon = True
    timer.start()


class _Server(uvicorn.Server):
    """A web server that leaves signals to us."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Links:
    """The link to the broker, which begins anew when rooms or the broker change."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._task: asyncio.Task[None] | None = None

    def begin(self, gone: tuple[str, ...] = ()) -> None:
        config = self._pipeline.config
        if config.mqtt is None:
            self._pipeline.mqtt_status = "off"
            return
        link = MqttLink(config.mqtt, config.rooms)
        for room in gone:
            link.remove(room)
        self._task = asyncio.create_task(link.run(self._pipeline))

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None


async def _reload(pipeline: Pipeline, links: _Links) -> None:
    """Read the settings again; rooms and the broker follow, a file with faults changes nothing."""
    before = pipeline.config
    try:
        config = reread(before)
    except InputError as error:
        log.error("the settings stay as they are: %s", error)
        return
    if (config.host, config.port, config.store) != (before.host, before.port, before.store):
        log.warning("host, port and store change only with a restart")
    start_logging(config.log, config.log_level, secrets=secrets_of(config))
    await links.end()
    await pipeline.reload(config)
    links.begin(tuple(set(before.rooms) - set(config.rooms)))
    log.info("read the settings again, %s", counted(len(config.rooms), "room"))


async def _prune(pipeline: Pipeline) -> None:
    """Drop what is older than it is to be kept, now and then."""
    while True:
        before = dt.datetime.now(dt.UTC) - dt.timedelta(days=pipeline.config.retention_days)
        try:
            dropped = await asyncio.to_thread(pipeline.store.prune, before)
        except StoreError as error:
            log.warning("old readings are still there: %s", error)
        else:
            if dropped:
                log.info("dropped %d rows from before %s", dropped, before.date())
        await asyncio.sleep(PRUNE_EVERY)


async def _forever(work: Awaitable[None]) -> None:
    await work
    await asyncio.Event().wait()
