"""Reloading the settings of a running service."""

import asyncio
import logging

from live.postgres import empty_database, need_postgres
from live.service_in_process import run_here, send_sighup
from live.waiting import until

from occupair.live.pipeline import Pipeline
from occupair.live.store import StoreError


@need_postgres
def test_reload_does_not_change_the_shard(links, tmp_path, caplog):
    path = tmp_path / "rooms.toml"
    text = f'[service]\nstore = "{empty_database("postgresql", tmp_path)}"\nshard = "1/2"\n'
    path.write_text(f"{text}[rooms.lab]\n[rooms.hall]\n")
    caplog.set_level(logging.INFO, "occupair.live")

    async def work(pipeline):
        assert list(pipeline.states()) == ["lab"]
        path.write_text(f"{text.replace('1/2', '2/2')}[rooms.lab]\n[rooms.hall]\n[rooms.kitchen]\n")
        send_sighup()
        await until(lambda: "settings reloaded, 2 rooms" in caplog.text)
        assert (str(pipeline.config.shard), sorted(pipeline.states())) == ("1/2", ["kitchen", "lab"])

    run_here(path, work)
    assert "changes that need a restart: shard\n" in caplog.text


def test_reload_keeps_settings_that_need_a_restart(links, settings, caplog):
    async def work(pipeline):
        before = pipeline.config
        changed = 'room_metrics = false\nclock = "readings"\ntolerance = 0.01\nretention_days = 7\n'
        settings("lab", more=f"{changed}[limits]\nrequests_per_minute = 60\nbody_bytes = 2000")
        for reloads in (1, 2):
            send_sighup()
            await until(lambda reloads=reloads: caplog.text.count("settings reloaded") == reloads)
            after = pipeline.config
            for key in ("room_metrics", "clock", "tolerance"):
                assert getattr(after, key) == getattr(before, key)
            assert after.limits.requests_per_minute == before.limits.requests_per_minute
            assert (after.retention_days, after.limits.body_bytes) == (7, 2000)

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    message = "changes that need a restart: room_metrics, clock, tolerance, requests_per_minute\n"
    assert caplog.text.count(message) == 2


def test_reload_does_not_remove_tokens_of_an_address_in_the_network(links, settings, caplog):
    """The new address would need no token, but the service listens on the former one until a restart."""
    token = f'[tokens.desk]\nhash = "sha256:{64 * "0"}"\nrole = "read"\n'

    async def work(pipeline):
        settings("lab", more='host = "127.0.0.1"')
        send_sighup()
        await until(lambda: "the settings were not reloaded" in caplog.text)
        assert [one.name for one in pipeline.config.tokens] == ["desk"]

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab", more=f'host = "0.0.0.0"\n{token}'), work)
    rule = "[tokens] must not be removed while the service listens on 0.0.0.0: restart it"
    assert rule in caplog.text


def test_failed_reload_changes_nothing(links, settings, monkeypatch, caplog):
    real, faults = Pipeline.reload, [StoreError("store x: unavailable"), RuntimeError("a bug")]

    async def reload(pipeline, config):
        if faults:
            raise faults.pop(0)
        await real(pipeline, config)

    monkeypatch.setattr(Pipeline, "reload", reload)

    async def work(pipeline):
        await until(lambda: links.n_alive)
        settings("hall")
        for message in (
            "the settings were not reloaded: store x: unavailable",
            "reloading the settings failed",
        ):
            send_sighup()
            await until(lambda message=message: message in caplog.text)
            assert (links.n_alive, links.n_started, pipeline.mqtt_status) == (1, 1, "connected")
            assert list(pipeline.config.rooms) == ["lab"]
        send_sighup()
        await until(lambda: "settings reloaded, 1 room" in caplog.text)
        await until(lambda: links.n_alive)
        assert (links.n_started, links.removed, list(pipeline.config.rooms)) == (2, ["lab"], ["hall"])

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    assert links.n_alive == 0


def test_unrelated_settings_do_not_restart_the_mqtt_link(links, settings, caplog):
    async def work(pipeline):
        await until(lambda: links.n_alive)
        settings("lab", more="retention_days = 7")
        send_sighup()
        await until(lambda: caplog.text.count("settings reloaded") == 1)
        assert pipeline.config.retention_days == 7
        assert (links.n_started, links.n_alive) == (1, 1)
        settings("lab", broker="")
        send_sighup()
        await until(lambda: caplog.text.count("settings reloaded") == 2)
        assert (links.n_alive, pipeline.mqtt_status) == (0, "off")

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)


def test_signals_during_a_reload_cause_one_more(links, settings, monkeypatch):
    real, calls = Pipeline.reload, []
    started, release = asyncio.Event(), asyncio.Event()

    async def reload(pipeline, config):
        calls.append(("start", calls.count("end")))
        started.set()
        await release.wait()
        await real(pipeline, config)
        calls.append("end")

    monkeypatch.setattr(Pipeline, "reload", reload)

    async def work(pipeline):
        await until(lambda: links.n_alive)
        settings("lab", "hall")
        send_sighup()
        await started.wait()
        for room in ("attic", "cellar"):
            settings("lab", room)
            send_sighup()
            await asyncio.sleep(0)
        release.set()
        await until(lambda: list(pipeline.config.rooms) == ["lab", "cellar"])
        await until(lambda: (links.n_started, links.n_alive) == (3, 1))
        assert links.max_alive == 1

    run_here(settings("lab"), work)
    assert calls == [("start", 0), "end", ("start", 1), "end"]
