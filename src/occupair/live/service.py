"""The service, put together: the pipeline, its doors, signals, and what is done now and then."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import gc
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import uvicorn

from occupair.errors import InputError
from occupair.live.config import ServiceConfig, reread_config
from occupair.live.http.app import make_app
from occupair.live.logs import secrets_of, start_logging
from occupair.live.mqtt.link import MqttLink
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer
from occupair.live.store import Store, StoreError
from occupair.wording import plural

log = logging.getLogger("occupair.live")

PRUNE_EVERY = 6 * 3600.0
"""How often what is older than the retention is dropped [s]."""
PATIENCE = 15
"""How long all of it may take to stop [s]."""
ASKING = 32
"""Threads that ask the store and read files: some of them may hang while others are still answered."""
TIDIED_EVERY = 1_000
"""Tidyings of young objects between two of all: with 16,000 rooms that takes half a second, and all wait."""
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
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(ASKING, thread_name_prefix="asking"))
    pipeline = Pipeline(config, store)
    await pipeline.start()
    _tidy_rarely()
    pipeline.trainer = Trainer(pipeline)
    app = make_app(pipeline, config)
    server = _Server(
        uvicorn.Config(
            app, log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=GRACE
        )
    )
    links = _Links(pipeline)
    stopping, told = asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, told.set)
    links.begin()
    works = [server.serve([listening]), _prune(pipeline), _reload_when(told, pipeline, links)]
    if beside is not None:
        works.append(_forever(beside(pipeline)))
    tasks = [asyncio.create_task(work) for work in works]
    host, port = listening.getsockname()[:2]
    log.info("listening on http://%s:%d, %s", host, port, plural(len(config.rooms), "room"))
    ended = asyncio.create_task(stopping.wait())
    await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping")
    with _ending_in_time():
        app.state.streams.stop()
        server.should_exit = True
        for task in [ended, *tasks[1:]]:
            task.cancel()
        await asyncio.wait(tasks[1:])  # no link begins after this
        await links.end()
        await asyncio.wait(tasks)
        await pipeline.trainer.stop()
        await pipeline.stop()
        await loop.shutdown_default_executor()  # here, because it waits for calls that hang
    for task in tasks:
        if not task.cancelled() and (error := task.exception()):
            raise error


def _tidy_rarely() -> None:
    """Leave what is there for good alone: Python looks through all objects again and again for old ones."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], TIDIED_EVERY)


@contextlib.contextmanager
def _ending_in_time() -> Iterator[None]:
    """End the process if a part of it hangs, in a database that does not answer: all it took is safe."""

    def end() -> None:
        log.error("something did not stop within %d s: ending all the same", PATIENCE)
        os._exit(1)

    timer = threading.Timer(PATIENCE, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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
            if not self._task.cancelling():  # a second time would cut its goodbye short
                self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled() and (error := self._task.exception()):
                log.error("the link to the broker had failed: %s", error)
            self._task = None
        self._pipeline.mqtt_status = "off"


async def _reload_when(told: asyncio.Event, pipeline: Pipeline, links: _Links) -> None:
    """Read the settings again when told to, one time after the other; once for all it was told meanwhile."""
    while await told.wait():
        told.clear()
        try:
            await _reload(pipeline, links)
        except (InputError, StoreError) as error:
            log.error("the settings stay as they are: %s", error)
        except Exception:  # the service goes on
            log.exception("the settings could not be read again")


async def _reload(pipeline: Pipeline, links: _Links) -> None:
    """Read the settings again; rooms and the broker follow.

    A file with faults changes nothing, and nor does a store that cannot be asked: ``Pipeline.reload`` goes
    first, and the link to the broker stays until that is done.
    """
    before = pipeline.config
    config = reread_config(before)
    await pipeline.reload(config)
    if (config.host, config.port, config.store) != (before.host, before.port, before.store):
        log.warning("host, port and store change only with a restart")
    start_logging(config.log, config.log_level, secrets=secrets_of(config))
    if (config.mqtt, config.rooms) != (before.mqtt, before.rooms):
        await links.end()
        links.begin(tuple(set(before.rooms) - set(config.rooms)))
    log.info("read the settings again, %s", plural(len(config.rooms), "room"))


async def _prune(pipeline: Pipeline) -> None:
    """Drop what is older than it is to be kept, now and then."""
    while True:
        try:
            before = dt.datetime.now(dt.UTC) - dt.timedelta(days=pipeline.config.retention_days)
            dropped = await asyncio.to_thread(pipeline.store.prune, before)
        except StoreError as error:
            log.warning("old readings are still there: %s", error)
        except Exception:  # the next time may do it
            log.exception("old readings are still there")
        else:
            if dropped:
                log.info("dropped %d rows from before %s", dropped, before.date())
        await asyncio.sleep(PRUNE_EVERY)


async def _forever(work: Awaitable[None]) -> None:
    await work
    await asyncio.Event().wait()
