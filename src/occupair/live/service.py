"""The running service: pipeline, HTTP server, MQTT and BACnet links, signals and periodic tasks."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import gc
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from occupair.errors import InputError
from occupair.live.bacnet.link import BacnetLink
from occupair.live.bacnet.port_check import check_port, need_bacpypes3
from occupair.live.calibration import Calibrator
from occupair.live.config import ServiceConfig, is_unprotected, reread_config
from occupair.live.http.app import make_app
from occupair.live.http.events import MAX_STREAMS, Streams
from occupair.live.logs import find_secrets, start_logging
from occupair.live.mqtt.bridge import MqttBridge
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer
from occupair.live.room_shards import Shard
from occupair.live.sharding.exchange import ShardExchange
from occupair.live.store import Store, StoreError, service_lock
from occupair.live.wall_clock import utc_now
from occupair.web.server import ConnectionLimits, LimitedServer
from occupair.wording import plural

log = logging.getLogger("occupair.live")

PRUNE_EVERY = 6 * 3600.0
"""How often data past their retention time are deleted [s]."""
STOP_TIMEOUT = 15
"""How long stopping the service may take [s]."""
WORKER_THREADS = 32
"""Threads that read the store and files: some may hang while others still respond."""
FULL_COLLECTION_EVERY = 1_000
"""Young garbage collections per full one, which stops the service for half a second with 16,000 rooms."""
REQUEST_TIMEOUT = 5
"""How long open requests may take to finish when the service stops [s]."""
_FIXED = ("host", "port", "store", "ingress", "shard", "advertise", "room_metrics", "clock", "tolerance")
"""Settings of ``[service]`` that a reload does not change..."""
_FIXED_LIMITS = ("requests_per_minute",)
"""...and those of ``[limits]``."""

BackgroundTask = Callable[[Pipeline], Awaitable[None]]


def serve(
    config: ServiceConfig,
    background: BackgroundTask | None = None,
    *,
    listening: socket.socket | None = None,
    private: socket.socket | None = None,
) -> None:
    """Run the service until it receives SIGTERM or SIGINT.

    Parameters
    ----------
    config : ServiceConfig
        Settings.
    background : callable, optional
        A coroutine to run alongside, given the pipeline.
    listening : socket, optional
        A socket of `listen`, if the address is bound already.
    private : socket, optional
        A second one, at the address that a shard shares with other shards only.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there are settings to reload
    _start_logging(config)
    for name in ("uvicorn", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    listening = listening or listen(config.host, config.port)
    if config.bacnet is not None:
        need_bacpypes3()
        check_port(config.bacnet)
    sockets = [listening] if private is None else [listening, private]
    with open_store(config.store, config.shard) as store:
        asyncio.run(run(config, store, sockets, background))


def _start_logging(config: ServiceConfig) -> None:
    fields = {} if config.shard is None else {"shard": str(config.shard)}
    start_logging(config.log, config.log_level, secrets=find_secrets(config), fields=fields)


def listen(host: str, port: int) -> socket.socket:
    """Bind the address first of all, so that a second service exits before it affects the first."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen()  # until then, another process could bind it, too
    except OSError as error:
        bound.close()
        raise InputError(f"cannot listen on {host}:{port}: {error.strerror}: choose another port") from None
    return bound


@contextlib.contextmanager
def open_store(url: str, shard: Shard | None = None) -> Iterator[Store]:
    """Open the store for this service alone, and upgrade it to this version."""
    with contextlib.closing(Store(url)) as store, contextlib.ExitStack() as held:
        try:
            held.enter_context(service_lock(store.engine, shard))
            store.migrate()
        except StoreError as error:
            raise InputError(str(error)) from None
        yield store


async def run(
    config: ServiceConfig,
    store: Store,
    sockets: Sequence[socket.socket],
    background: BackgroundTask | None = None,
) -> None:
    """Run the service on bound sockets until it receives SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(WORKER_THREADS, thread_name_prefix="worker"))
    pipeline = Pipeline(config, store)
    await pipeline.start()
    _reduce_garbage_collection()
    pipeline.trainer, pipeline.calibrator = Trainer(pipeline), Calibrator(pipeline)
    limits = ConnectionLimits.of_this_process()
    exchange = None
    if config.shard is not None:
        exchange = ShardExchange(pipeline, config.shard, shard_address(config, sockets[-1]))
    streams = Streams(limit=min(MAX_STREAMS, limits.connections // 2))
    app = make_app(pipeline, config, streams=streams, exchange=exchange)
    trusts_proxies = config.ingress is None  # else a client of such a proxy could pretend to be ingress
    server = _Server(app, limits, stop_seconds=REQUEST_TIMEOUT, proxy_headers=trusts_proxies)
    links = _Links(_MqttLink(pipeline), _BacnetLink(pipeline))
    stopping, reloading = asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, reloading.set)
    for link in links:
        link.start()
    coroutines = [server.serve(list(sockets)), _prune(pipeline), _reload_on(reloading, pipeline, links)]
    coroutines.append(pipeline.calibrator.run())
    if exchange is not None:
        coroutines.append(exchange.run())
    if background is not None:
        coroutines.append(_forever(background(pipeline)))
    tasks = [asyncio.create_task(one) for one in coroutines]
    host, port = sockets[0].getsockname()[:2]
    log.info("listening on http://%s:%d, %s", host, port, plural(len(config.own_rooms), "room"))
    ended = asyncio.create_task(stopping.wait())
    await asyncio.wait([ended, *tasks], return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping")
    with _exit_on_timeout():
        app.state.streams.stop()
        server.should_exit = True
        for task in [ended, *tasks[1:]]:
            task.cancel()
        await asyncio.wait(tasks[1:])  # no link starts after this
        await asyncio.gather(*(link.stop() for link in links))
        await asyncio.wait(tasks)
        await pipeline.trainer.stop()
        await pipeline.stop()
        await loop.shutdown_default_executor()  # within the time limit, since it waits for hanging calls
    for task in tasks:
        if not task.cancelled() and (error := task.exception()):
            raise error


def shard_address(config: ServiceConfig, listening: socket.socket) -> str:
    """Return the address at which other shards reach this one."""
    if config.advertise is not None:
        return config.advertise
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:  # all addresses of this machine
        host = socket.gethostname()
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _reduce_garbage_collection() -> None:
    """Exempt the objects that exist now from garbage collection, and collect old objects less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], FULL_COLLECTION_EVERY)


@contextlib.contextmanager
def _exit_on_timeout() -> Iterator[None]:
    """Exit the process if stopping hangs, such as in a database call. Acknowledged readings are stored."""

    def end() -> None:
        log.error("the service did not stop within %d s: exiting anyway", STOP_TIMEOUT)
        os._exit(1)

    timer = threading.Timer(STOP_TIMEOUT, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


class _Server(LimitedServer):
    """A web server that does not handle signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Link:
    """A connection to other systems, which is restarted when its settings or rooms change."""

    name: str

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._task: asyncio.Task[None] | None = None

    def start(self, removed: tuple[str, ...] = ()) -> None:
        """Start the link if it has settings; ``removed`` are rooms of earlier settings."""
        raise NotImplementedError

    def _set_off(self) -> None:
        raise NotImplementedError

    async def stop(self) -> None:
        if self._task is not None:
            if not self._task.cancelling():  # cancelling again would interrupt its disconnect
                self._task.cancel()
            await asyncio.wait([self._task])
            if not self._task.cancelled() and (error := self._task.exception()):
                log.error("the %s link has failed: %s", self.name, error)
            self._task = None
        self._set_off()


class _MqttLink(_Link):
    name = "MQTT"

    def start(self, removed: tuple[str, ...] = ()) -> None:
        config = self._pipeline.config
        if config.mqtt is None:
            return self._set_off()
        bridge = MqttBridge(config.mqtt, config.own_rooms, shard=config.shard)
        for room in removed:
            bridge.remove_room(room)
        self._task = asyncio.create_task(bridge.run(self._pipeline))

    def _set_off(self) -> None:
        self._pipeline.mqtt_status = "off"


class _BacnetLink(_Link):
    name = "BACnet"

    _link: BacnetLink | None = None

    def start(self, removed: tuple[str, ...] = ()) -> None:
        config = self._pipeline.config
        if config.bacnet is None:
            return self._set_off()
        self._link = BacnetLink(config.bacnet, config.own_rooms)
        self._task = asyncio.create_task(self._link.run(self._pipeline))

    def use_rooms(self) -> None:
        """Use the rooms of new settings; other devices stay subscribed to those that stay."""
        if self._link is not None:
            self._link.use_rooms(self._pipeline.config.own_rooms)

    def _set_off(self) -> None:
        self._link, self._pipeline.bacnet_status = None, "off"


class _Links(NamedTuple):
    mqtt: _MqttLink
    bacnet: _BacnetLink


async def _reload_on(reloading: asyncio.Event, pipeline: Pipeline, links: _Links) -> None:
    """Reload the settings on each signal, one reload at a time; signals during a reload cause one more."""
    while await reloading.wait():
        reloading.clear()
        try:
            await _reload(pipeline, links)
        except (InputError, StoreError) as error:
            log.error("the settings were not reloaded: %s", error)
        except Exception:  # the service continues
            log.exception("reloading the settings failed")


async def _reload(pipeline: Pipeline, links: _Links) -> None:
    """Reload the settings, and update rooms and the links.

    Invalid settings and an unavailable store change nothing: a link is restarted only after
    ``Pipeline.reload`` has succeeded.
    """
    before = pipeline.config
    config, changed = _keep_fixed(reread_config(before), before)
    if changed:
        log.warning("changes that need a restart: %s", ", ".join(changed))
    await pipeline.reload(config)
    _start_logging(config)
    if (config.mqtt, config.own_rooms) != (before.mqtt, before.own_rooms):
        await links.mqtt.stop()
        links.mqtt.start(tuple(set(before.own_rooms) - set(config.own_rooms)))
    if config.bacnet != before.bacnet:
        await links.bacnet.stop()
        links.bacnet.start()
    elif config.own_rooms != before.own_rooms:
        links.bacnet.use_rooms()
    log.info("settings reloaded, %s", plural(len(config.own_rooms), "room"))


def _keep_fixed(config: ServiceConfig, before: ServiceConfig) -> tuple[ServiceConfig, list[str]]:
    """Return new settings with the former values of those that need a restart, and which of these differ.

    Raises
    ------
    InputError
        If new and former values together would give access to everybody in the network.
    """
    former = {key: getattr(before, key) for key in _FIXED}
    limits = {key: getattr(before.limits, key) for key in _FIXED_LIMITS}
    changed = [key for key, value in former.items() if getattr(config, key) != value]
    changed += [key for key, value in limits.items() if getattr(config.limits, key) != value]
    kept = config.model_copy(update=former | {"limits": config.limits.model_copy(update=limits)})
    if is_unprotected(kept.host, kept.tokens, kept.ingress):
        raise InputError(f"[tokens] must not be removed while the service listens on {kept.host}: restart it")
    return kept, changed


async def _prune(pipeline: Pipeline) -> None:
    """Delete data past their retention time, periodically."""
    while True:
        try:
            n_deleted = await asyncio.to_thread(_delete_old_rows, pipeline.store, pipeline.config)
        except StoreError as error:
            log.warning("deleting old readings failed: %s", error)
        except Exception:  # the next attempt may succeed
            log.exception("deleting old readings failed")
        else:
            if n_deleted:
                log.info("deleted %d rows past their retention time", n_deleted)
        await asyncio.sleep(PRUNE_EVERY)


def _delete_old_rows(store: Store, config: ServiceConfig) -> int:
    """Delete data past their retention time, by the clock of the service, and return the number of rows."""
    if config.clock == "readings":
        return store.prune_to_newest_days(config.retention_days, shard=config.shard)
    oldest = utc_now() - dt.timedelta(days=config.retention_days)
    return store.prune(oldest, shard=config.shard)


async def _forever(work: Awaitable[None]) -> None:
    await work
    await asyncio.Event().wait()
