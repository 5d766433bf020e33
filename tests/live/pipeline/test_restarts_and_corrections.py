"""Restarts change no estimate, and corrections of intervals follow head counts."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pytest
from live.pipeline_helpers import do_nothing, readings_of, stored_estimates, with_pipeline

from occupair.live.messages import Label
from occupair.live.pipeline import Pipeline
from occupair.live.rooms.interval_correction import LEAST_DISTANCE
from occupair.live.store import Store, StoreError
from occupair.model_file import dump_model

UTC = dt.UTC


def test_restarts_do_not_change_estimates(setup, store, office):
    day = readings_of(office.iloc[3 * 288 + 80 : 3 * 288 + 200])
    for part in np.array_split(np.arange(len(day)), 7):
        with_pipeline(setup, store, lambda pipeline, part=part: pipeline.submit([day[k] for k in part]))
    restarted = stored_estimates(store)
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    with_pipeline(setup, other, lambda pipeline: pipeline.submit(day))
    whole = stored_estimates(other)
    other.close()
    assert [one.time for one in restarted] == [one.time for one in whole]
    for name in ("people", "low", "high", "people_refined", "co2_smoothed"):
        got, expected = ([getattr(one, name) for one in estimates] for estimates in (restarted, whole))
        np.testing.assert_allclose(
            np.array(got, dtype=float), np.array(expected, dtype=float), rtol=0, atol=1e-9, err_msg=name
        )


def test_restarts_do_not_change_the_drift_that_is_followed(setup, store, office):
    two_days = office.iloc[3 * 288 : 3 * 288 + 2 * 288]
    days = readings_of(two_days.assign(co2=two_days["co2"] + 90))
    for part in np.array_split(np.arange(len(days)), 5):
        with_pipeline(setup, store, lambda pipeline, part=part: pipeline.submit([days[k] for k in part]))
    restarted = stored_estimates(store)
    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    state = with_pipeline(setup, other, lambda pipeline: _submit_and_get_state(pipeline, days))
    whole = stored_estimates(other)
    other.close()
    assert state.baseline_shift > 60
    np.testing.assert_allclose(
        [one.people for one in restarted], [one.people for one in whole], rtol=0, atol=1e-9
    )


async def _submit_and_get_state(pipeline, readings):
    await pipeline.submit(readings)
    return pipeline.state("lab")


def test_interrupted_restore_is_completed_at_the_next_start(setup, store, office, other, monkeypatch):
    day = office.iloc[3 * 288 : 3 * 288 + 150]
    with_pipeline(setup, store, lambda pipeline: pipeline.submit(readings_of(day)))
    setup.rooms["lab"].model.write_bytes(dump_model(other))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(store, "write", interrupt)
        with pytest.raises(KeyboardInterrupt):
            Pipeline(setup, store)._restore([setup.rooms["lab"]])
    with_pipeline(setup, store, do_nothing)
    np.testing.assert_allclose(
        [one.people for one in stored_estimates(store)], other.estimate(day), atol=1e-6
    )


def test_head_counts_correct_the_next_intervals_and_restarts_keep_the_correction(setup, store, office):
    day = readings_of(office.iloc[3 * 288 + 100 : 3 * 288 + 200])

    async def count_twice(pipeline):
        await pipeline.submit(day[:40])
        before = pipeline.correction("lab")
        for k in (30, 39):
            store.add_label(Label("lab", day[k].time, 99, dt.datetime.now(UTC), "typed"))
            await pipeline.track_labels("lab")
        await pipeline.submit(day[40:60])
        return before, pipeline.correction("lab")

    before, after = with_pipeline(setup, store, count_twice)
    assert (before.labels, before.coverage) == (0, None)
    assert (after.labels, after.coverage) == (2, 0.0)
    restarted = with_pipeline(setup, store, lambda pipeline: _submit_and_read(pipeline, day[60:]))
    assert restarted == after

    other = Store(setup.store.replace("rooms.db", "other.db"))
    other.migrate()
    with_pipeline(setup, other, lambda pipeline: pipeline.submit(day))
    plain, corrected = stored_estimates(other), stored_estimates(store)
    other.close()
    below, above = after.factors[-1]
    assert above > 1.3
    for one, expected in zip(corrected, plain, strict=True):
        assert one.people == pytest.approx(expected.people, abs=1e-9)
        if one.time <= day[30].time:
            assert (one.low, one.high) == pytest.approx((expected.low, expected.high))
        elif one.time > day[39].time:
            upper = above * (expected.high - one.people) + (above - 1) * LEAST_DISTANCE
            assert one.high == pytest.approx(one.people + upper)
            assert one.low == pytest.approx(max(one.people - below * (one.people - expected.low), 0.0))


async def _submit_and_read(pipeline, readings):
    await pipeline.submit(readings)
    return pipeline.correction("lab")


def test_new_model_and_deleted_labels_reset_the_correction(setup, store, office, other):
    day = readings_of(office.iloc[3 * 288 + 100 : 3 * 288 + 150])
    label = Label("lab", day[-1].time, 99, dt.datetime.now(UTC) + dt.timedelta(minutes=1), "typed")

    async def work(pipeline):
        await pipeline.submit(day)
        found = []
        for change in (store.add_label, lambda one: store.remove_label(one.room, one.time), store.add_label):
            change(label)
            await pipeline.track_labels("lab")
            found.append(pipeline.correction("lab").labels)
        store.add_label(replace(label, entered=dt.datetime.now(UTC)))
        await pipeline.use_model("lab", dump_model(other), origin="upload")
        return [*found, pipeline.correction("lab").labels]

    assert with_pipeline(setup, store, work) == [1, 0, 1, 0]


def test_label_is_kept_if_the_correction_cannot_be_read(setup, store, monkeypatch):
    def fail(*_, **__):
        raise StoreError("store: gone")

    async def work(pipeline):
        monkeypatch.setattr(store, "labelled_intervals", fail)
        await pipeline.track_labels("lab")
        return pipeline.correction("lab").labels

    assert with_pipeline(setup, store, work) == 0
