"""Old readings are deleted while the service runs."""

import logging

import pandas as pd
import pytest
from live.service_in_process import run_here
from live.waiting import until

from occupair.live import service as live_service
from occupair.live.config import read_config
from occupair.live.messages import Reading
from occupair.live.store import Store, StoreError


@pytest.mark.parametrize(("clock", "kept"), [("readings", 2880), ("wall", 0)])
def test_retention_follows_the_clock_of_the_service(settings, monkeypatch, clock, kept):
    """Two days of 2018 in the store, replayed earlier; the service starts today."""
    path = settings("lab", more=f'clock = "{clock}"\nretention_days = 400', broker="")
    start = pd.Timestamp("2018-03-05", tz="UTC")
    times = [start + pd.Timedelta(minutes=minute) for minute in range(2880)]
    with live_service.open_store(read_config(path, {}).store) as store:
        store.write([Reading("lab", time, 500.0, None, "http", time) for time in times], [])
    pruned = []
    delete = live_service._delete_old_rows
    monkeypatch.setattr(live_service, "_delete_old_rows", lambda *given: pruned.append(delete(*given)) or 0)

    async def work(pipeline):
        await until(lambda: pruned)
        assert len(pipeline.store.readings("lab", None, None)) == kept

    run_here(path, work)
    assert (pruned[0] == 0) == (kept > 0)


def test_errors_of_pruning_do_not_stop_the_service(links, settings, monkeypatch, caplog):
    monkeypatch.setattr(live_service, "PRUNE_EVERY", 0.01)
    faults = [ZeroDivisionError("a bug"), StoreError("store x: unavailable"), None]

    def prune(store, before, *, shard):
        fault = faults.pop(0) if faults else None
        if fault is not None:
            raise fault
        return 7

    monkeypatch.setattr(Store, "prune", prune)

    async def work(pipeline):
        await until(lambda: "deleted 7 rows" in caplog.text)

    with caplog.at_level(logging.INFO, "occupair.live"):
        run_here(settings("lab"), work)
    assert "ZeroDivisionError: a bug" in caplog.text
    assert "deleting old readings failed: store x: unavailable" in caplog.text
