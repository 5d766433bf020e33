"""Retraining on labels: in a child process, scored on held-out days, used once accepted."""

import asyncio
import datetime as dt
import json
import logging
import os
import shutil
import signal
import warnings
from copy import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.live import retraining, training_process
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Label, Reading, ReadingOutcome
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer
from occupair.live.store import Store
from occupair.live.training_process import read_labelled_room, train
from occupair.live.training_scores import ModelInUse, Score, Scores
from occupair.model_file import dump_model, parse_model

UTC = dt.UTC
DAYS, HALL_DAYS = 6, 4  # of the lab: one more than folds; of the hall: the fewest to train on
INTERVAL = 15  # [min]
PER_DAY = 1440 // INTERVAL
HANG_GUARD = 900.0  # [s]


@pytest.fixture(scope="module")
def office():
    """Six labelled days, and half of the seventh, which is today."""
    whole = oc.simulate_office(days=DAYS + 1, seed=5).iloc[::INTERVAL].tz_localize("UTC")
    return whole.iloc[: DAYS * PER_DAY + PER_DAY // 2]


@pytest.fixture(scope="module")
def head_counts(office):
    """Head counts: ten a day between 08:00 and 20:00, at times of readings."""
    rng = np.random.default_rng(0)
    hours = np.arange(PER_DAY * 8 // 24, PER_DAY * 20 // 24)
    places = [day * PER_DAY + rng.choice(hours, 10, replace=False) for day in range(DAYS)]
    return office["occupancy"].iloc[np.sort(np.concatenate(places))].astype(float)


@pytest.fixture(scope="module")
def other_model():
    """The model of another room."""
    other = oc.simulate_office(days=3, seed=77).iloc[::INTERVAL].tz_localize("UTC")
    return oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(other.assign(co2=1.4 * other["co2"] - 100))


def readings_of(frame, room="lab"):
    return [
        Reading(room, when.to_pydatetime(), co2, flow, "http", dt.datetime.now(UTC))
        for when, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


def add_labels(store, people, room="lab", source="typed"):
    for when, count in people.items():
        store.add_label(Label(room, when.to_pydatetime(), int(count), dt.datetime.now(UTC), source))


def setup_in(folder, other_model):
    path = folder / "lab.occupair"
    path.write_bytes(dump_model(other_model))
    rooms = {
        "lab": RoomConfig(id="lab", model=path),
        "hall": RoomConfig(id="hall"),
        "attic": RoomConfig(id="attic"),
    }
    return ServiceConfig(store=f"sqlite:///{folder}/rooms.db", clock="readings", rooms=rooms)


@pytest.fixture(scope="module")
def served(tmp_path_factory, office, head_counts, other_model):
    """The store of a service that ran for days: a lab with a model, a hall without one, an empty attic."""
    folder = tmp_path_factory.mktemp("served")
    setup = setup_in(folder, other_model)
    store = Store(setup.store)
    store.migrate()

    async def serve():
        pipeline = Pipeline(setup, store)
        await pipeline.start()
        for rows in np.array_split(np.arange(len(office)), 20):
            assert set(await pipeline.submit(readings_of(office.iloc[rows]))) == {ReadingOutcome.ACCEPTED}
        await pipeline.submit(readings_of(office.iloc[: HALL_DAYS * PER_DAY], "hall"))
        await pipeline.stop()

    asyncio.run(serve())
    add_labels(store, head_counts)
    add_labels(store, head_counts.iloc[: 10 * HALL_DAYS], "hall")
    store.close()
    return folder / "rooms.db"


@pytest.fixture
def service(tmp_path, served, other_model):
    """Run a coroutine with a trainer, on a copy of that store."""
    setup = setup_in(tmp_path, other_model)
    shutil.copy(served, tmp_path / "rooms.db")
    store = Store(setup.store)

    def run(work):
        async def run_all():
            pipeline = Pipeline(setup, store)
            await pipeline.start()
            trainer = Trainer(pipeline)
            try:
                return await asyncio.wait_for(work(pipeline, trainer), HANG_GUARD)
            finally:
                await trainer.stop()
                await pipeline.stop()

        return asyncio.run(run_all())

    yield SimpleNamespace(run=run, store=store)
    store.close()


async def until(condition, every=0.01):
    while not condition():
        await asyncio.sleep(every)


async def ended(trainer, room):
    """Wait for the end of a training and return its status."""
    while (status := await trainer.status(room))["status"] == "running":
        await asyncio.sleep(0.01)
    return status


def process_of(trainer, room):
    return trainer._jobs[room].process


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def use_of(model):
    return ModelInUse(model, dt.datetime(2000, 1, 1, tzinfo=UTC), trained_here=False)


def rmse(estimates, people):
    return float(np.sqrt(np.mean((estimates[people.index] - people) ** 2)))


def cross_validated(labelled, start):
    """Return the held-out estimates of all days: every fifth one by a model that is trained on the others."""
    days = pd.DatetimeIndex(labelled.readings.index).normalize()
    labelled_days = days.unique()[:DAYS]
    found = []
    for fold in range(5):
        is_held_out = np.isin(days, labelled_days[fold::5])
        model = oc.OccupancyEstimator.transfer([start], random_state=0, verbose=False)
        model.fit(labelled.readings[~is_held_out & np.isin(days, labelled_days)])
        found.append(model.estimate(labelled.readings[is_held_out].drop(columns="occupancy")))
    return pd.concat(found)


@pytest.mark.slow
def test_two_rooms_are_trained_in_turn_and_one_is_accepted(
    service, office, head_counts, other_model, monkeypatch, caplog
):
    caplog.set_level("INFO", "occupair.live")
    today = office.iloc[DAYS * PER_DAY :]
    progress, update = [], retraining._Job._update

    def record(job, message):
        update(job, message)
        if job.order.room == "lab":
            progress.append(job.progress)

    monkeypatch.setattr(retraining._Job, "_update", record)

    async def work(pipeline, trainer):
        await trainer.start("lab")
        await trainer.start("hall")
        with pytest.raises(oc.InputError, match=r"^room hall is already being trained$"):
            await trainer.start("hall")
        lab, hall = (asyncio.create_task(ended(trainer, room)) for room in ("lab", "hall"))
        n_waiting = n_estimated = 0
        while not (lab.done() and hall.done()):
            jobs = trainer._jobs["lab"], trainer._jobs["hall"]
            working = [job.process for job in jobs if job.process is not None and job.process.is_alive()]
            assert len(working) <= 1
            if jobs[0].status == "running":
                status = await trainer.status("hall")
                n_waiting += (status["message"], status["progress"]) == (
                    "waiting for the training of another room",
                    0.0,
                )
            if n_estimated < len(office):  # training may take longer
                attic = office.iloc[n_estimated : n_estimated + 1]
                assert await pipeline.submit(readings_of(attic, "attic")) == [ReadingOutcome.ACCEPTED]
                n_estimated += 1
            await asyncio.sleep(0.02)
        assert n_waiting > 0
        assert n_estimated > 1  # estimation went on during training
        before = [one.people for one in service.store.estimates("lab", today.index[0], None, limit=999)]
        with pytest.raises(oc.InputError, match=r"^room attic has no new model$"):
            await trainer.accept("attic")
        await trainer.accept("lab")
        assert (await trainer.status("lab"))["status"] == "idle"
        after = [one.people for one in service.store.estimates("lab", today.index[0], None, limit=999)]
        await trainer.discard("hall")
        assert (await trainer.status("hall"))["status"] == "idle"
        return await lab, await hall, before, after

    lab, hall, before, after = service.run(work)
    assert progress == sorted(progress)
    assert len(set(progress)) >= 4
    assert (lab["status"], lab["progress"]) == (hall["status"], hall["progress"]) == ("done", 1.0)

    ((version,), data) = (
        [one for one in service.store.models("lab") if one.origin == "trained"],
        service.store.active_model("lab")[1],
    )
    assert version.active
    new, labelled = parse_model(data), read_labelled_room(service.store, "lab", "UTC", INTERVAL)
    evidence = {"labels": 10 * DAYS, "days": DAYS, "occupied_days": DAYS}
    old_rmse = rmse(other_model.estimate(office), head_counts)
    new_rmse = rmse(cross_validated(labelled, other_model), head_counts)
    assert lab["new"] == evidence | dict.fromkeys(["rmse", "occupied_rmse"], pytest.approx(new_rmse)) | {
        "independent": True
    }
    from_file = dict.fromkeys(["rmse", "occupied_rmse"], pytest.approx(old_rmse)) | {"independent": False}
    assert lab["old"] == evidence | from_file
    assert (lab["new_on_same_days"], lab["better"]) == (lab["new"], "new")
    assert (
        version.note
        == lab["message"]
        == (
            f"RMSE {new_rmse:.2f} people, cross-validated on 6 days with 60 head counts; "
            f"the current model has {old_rmse:.2f} on these days, the new one {new_rmse:.2f}"
        )
    )
    assert f"room lab: training done: {version.note}" in caplog.messages
    for found, model in ((before, other_model), (after, new)):  # both have followed the sensor for days
        np.testing.assert_allclose(found, model.estimate(office)[today.index], atol=1e-6)
    assert np.abs(np.subtract(after, before)).max() > 1

    assert hall["old"] is hall["better"] is None  # it had no model
    assert service.store.active_model("hall") is None  # and was not given one


def test_held_out_days_do_not_affect_their_estimates(service, head_counts):
    """If the labels of one day are wrong by 50, its estimates are wrong by 50."""
    errors = []
    for wrong in (0, 50):
        day = head_counts[head_counts.index.date == head_counts.index[0].date()]
        add_labels(service.store, day + wrong, "hall")
        trained = train(read_labelled_room(service.store, "hall", "UTC", INTERVAL))
        errors.append(10 * HALL_DAYS * trained.scores.new.rmse**2)
    assert errors[1] - errors[0] > 0.8 * 10 * 50**2


def test_training_starts_from_a_model_of_the_default_kind(service, other_model, office, monkeypatch):
    monkeypatch.setattr(training_process, "score_models", lambda *_: None)
    labelled = read_labelled_room(service.store, "lab", "UTC", INTERVAL)
    paper = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, stride=INTERVAL, random_state=0)
    paper.fit(office.iloc[: 2 * PER_DAY])
    from_nothing, transferred, from_paper = (train(labelled, None, one) for one in (None, other_model, paper))
    expected = oc.OccupancyEstimator.transfer([other_model], random_state=0, verbose=False)
    assert transferred.model == dump_model(expected.fit(labelled.readings))
    assert from_paper.model == from_nothing.model != transferred.model


def test_training_uses_the_closed_hours_of_the_room(service, monkeypatch):
    monkeypatch.setattr(training_process, "score_models", lambda *_: None)
    labelled = read_labelled_room(service.store, "lab", "UTC", INTERVAL)
    trained = train(labelled, closed=("22:00-06:00",))
    given = oc.OccupancyEstimator(random_state=0, verbose=False, closed=("22:00-06:00",))
    assert trained.model == dump_model(given.fit(labelled.readings))
    assert parse_model(trained.model).closed == ("22:00-06:00",)


def test_training_does_not_start_from_a_model_that_knows_the_labels(service, other_model):
    """Its held-out days would reach the training through that model."""
    labelled = read_labelled_room(service.store, "hall", "UTC", INTERVAL)
    store = service.store
    assert dump_model(training_process._starting_point(store, "lab", labelled)) == dump_model(other_model)
    first = train(labelled, None, other_model)
    store.activate("lab", store.add_model("lab", first.model, origin="trained"))
    assert dump_model(training_process._starting_point(store, "lab", labelled)) == dump_model(other_model)
    in_use = training_process._model_in_use(store, "lab", "UTC")
    assert in_use.trained_here
    again = train(labelled, in_use, other_model)
    assert again.scores == Scores(first.scores.new)  # the model in use is trained on all labelled days
    assert training_process._starting_point(store, "hall", labelled) is None


def test_model_of_another_interval_has_no_score(service, office):
    labelled = read_labelled_room(service.store, "hall", "UTC", INTERVAL)
    slower = oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office.iloc[: 3 * PER_DAY : 2])
    assert train(labelled, use_of(slower)).scores.old is None


def test_discard_stops_a_training(service):
    async def work(pipeline, trainer):
        await trainer.start("lab")
        await until(lambda: process_of(trainer, "lab") is not None and process_of(trainer, "lab").pid)
        await trainer.start("hall")
        pid = process_of(trainer, "lab").pid
        assert pid != os.getpid()
        await trainer.discard("hall")  # before its turn
        assert (await trainer.status("lab"))["status"] == "running"
        await trainer.discard("lab")
        assert is_gone(pid)
        assert (await trainer.status("lab"))["status"] == "idle"
        with pytest.raises(oc.InputError, match=r"^room lab is not being trained and has no new model$"):
            await trainer.discard("lab")
        await trainer.start("lab")
        await trainer.discard("lab")  # immediately
        await trainer.start("lab")
        await until(lambda: process_of(trainer, "lab") is not None and process_of(trainer, "lab").pid)
        return process_of(trainer, "lab").pid

    assert is_gone(service.run(work))  # stopped with the service


def trained_lab(use_model):
    """Return a trainer with a new model of the lab, for a pipeline with this ``use_model``."""
    trainer = Trainer(SimpleNamespace(use_model=use_model))
    score = Score(0.5, 30, 6, 6)
    job = retraining._Job(training_process.TrainingOrder("sqlite://", "lab", "UTC"), status="done")
    job.trained = training_process.TrainedModel(b"new", Scores(score))
    job.task = asyncio.create_task(asyncio.sleep(0))
    trainer._jobs["lab"] = job
    return trainer


def test_new_model_is_accepted_only_once():
    used = []

    async def use_model(room, data, *, origin, note):
        used.append((room, data, origin, note))
        await asyncio.sleep(0)
        if len(used) == 1:
            raise oc.InputError("the disk is full")

    async def work():
        trainer = trained_lab(use_model)
        with pytest.raises(oc.InputError, match=r"^the disk is full$"):
            await trainer.accept("lab")
        assert (await trainer.status("lab"))["status"] == "done"  # it can be accepted again
        first, second = await asyncio.gather(
            trainer.accept("lab"), trainer.accept("lab"), return_exceptions=True
        )
        assert first is None
        assert str(second) == "room lab has no new model"
        assert (await trainer.status("lab"))["status"] == "idle"

    asyncio.run(work())
    assert (
        used
        == [("lab", b"new", "trained", "RMSE 0.50 people, cross-validated on 6 days with 30 head counts")] * 2
    )


def test_forget_waits_for_an_accept_and_removes_the_model():
    done = []
    started, release = asyncio.Event(), asyncio.Event()

    async def use_model(room, data, *, origin, note):
        started.set()
        await release.wait()
        done.append("used")
        raise oc.InputError("the disk is full")

    async def work():
        trainer = trained_lab(use_model)
        accepting = asyncio.create_task(trainer.accept("lab"))
        await started.wait()
        late = asyncio.create_task(trainer.accept("lab"))
        await asyncio.sleep(0)
        forgetting = asyncio.create_task(trainer.forget("lab"))
        await asyncio.sleep(0)
        assert not forgetting.done()
        release.set()
        await forgetting
        done.append("forgotten")
        for accept, message in ((accepting, "the disk is full"), (late, "room lab has no new model")):
            with pytest.raises(oc.InputError, match=f"^{message}$"):
                await accept
        assert (await trainer.status("lab"))["status"] == "idle"
        await trainer.forget("lab")  # there is nothing to forget

    asyncio.run(work())
    assert done == ["used", "forgotten"]


def test_forget_stops_a_training(service):
    async def work(pipeline, trainer):
        await trainer.start("lab")
        await until(lambda: process_of(trainer, "lab") is not None and process_of(trainer, "lab").pid)
        pid = process_of(trainer, "lab").pid
        await trainer.forget("lab")
        assert is_gone(pid)
        assert (await trainer.status("lab"))["status"] == "idle"

    service.run(work)


def test_killed_training_fails_and_the_service_continues(service, office):
    async def work(pipeline, trainer):
        await trainer.start("lab")
        await until(lambda: trainer._jobs["lab"].progress > 0)
        os.kill(process_of(trainer, "lab").pid, signal.SIGKILL)
        last = await ended(trainer, "lab")
        assert (last["status"], last["message"]) == ("failed", "the training process ended unexpectedly")
        with pytest.raises(oc.InputError, match=r"^room lab has no new model$"):
            await trainer.accept("lab")
        assert await pipeline.submit(readings_of(office.iloc[:1], "attic")) == [ReadingOutcome.ACCEPTED]
        await trainer.start("lab")
        assert (await trainer.status("lab"))["status"] == "running"

    service.run(work)


def test_labels_without_a_reading_nearby_do_not_count(service, office, head_counts):
    add_labels(service.store, head_counts, "attic")

    async def work(pipeline, trainer):
        await pipeline.submit(readings_of(office.iloc[:PER_DAY], "attic"))
        await trainer.start("attic")
        return await ended(trainer, "attic")

    last = service.run(work)
    message = "training needs 20 head counts on 4 days, with readings: got 10 on 1"
    assert (last["status"], last["message"]) == ("failed", message)


def test_stored_labels_of_impossible_years_are_ignored(service, head_counts, caplog):
    """A store of an earlier version may have them."""
    for year in (1, 1969, 9999):
        service.store.add_label(Label("attic", dt.datetime(year, 1, 1, tzinfo=UTC), 3, dt.datetime.now(UTC)))
    add_labels(service.store, head_counts.iloc[:19], "attic")

    async def work(pipeline, trainer):
        with pytest.raises(oc.InputError, match=r"^training needs 20 head counts on 4 days.*: got 19 on 2$"):
            await trainer.start("attic")

    service.run(work)
    assert "room attic: 3 head counts with an impossible time ignored in training" in caplog.messages
    for year in (1, 9999):
        service.store.add_label(Label("lab", dt.datetime(year, 1, 1, tzinfo=UTC), 3, dt.datetime.now(UTC)))
    assert len(read_labelled_room(service.store, "lab", "UTC").labels) == len(head_counts)


def test_confirmed_estimates_do_not_count(service, head_counts):
    add_labels(service.store, head_counts, "attic", "confirmed")
    add_labels(service.store, head_counts.iloc[:10], "attic", "typed")
    add_labels(service.store, head_counts.iloc[10:15], "attic", "unknown")

    async def work(pipeline, trainer):
        with pytest.raises(oc.InputError, match=r"^training needs 20 head counts on 4 days.*: got 15 on 2$"):
            await trainer.start("attic")

    service.run(work)
    add_labels(service.store, head_counts.iloc[::2], "lab", "confirmed")
    labelled = read_labelled_room(service.store, "lab", "UTC")
    assert len(labelled.labels) == len(head_counts) // 2


@pytest.mark.parametrize(("labels", "days"), [(0, 0), (19, 2), (30, 3)])
def test_too_few_labels_are_rejected(service, head_counts, labels, days):
    add_labels(service.store, head_counts.iloc[:labels], "attic")

    async def work(pipeline, trainer):
        message = rf"^training needs 20 head counts on 4 days, with readings: got {labels} on {days}$"
        with pytest.raises(oc.InputError, match=message):
            await trainer.start("attic")
        return await trainer.status("attic")

    assert service.run(work)["status"] == "idle"


def test_label_applies_to_readings_around_it(service, head_counts):
    readings, labels, entered = read_labelled_room(service.store, "lab", "UTC")
    assert entered.index.equals(labels.index)
    pd.testing.assert_series_equal(
        labels, head_counts, check_names=False, check_freq=False, check_index_type=False
    )
    for when, people in head_counts.iloc[:10].items():
        assert readings["occupancy"][when] == people
    slow = read_labelled_room(service.store, "lab", "UTC", 30.0)
    assert len(slow.labels) == len(head_counts)
    assert slow.readings["occupancy"].notna().sum() > 60


def test_training_process_reads_the_store_at_low_priority(service, monkeypatch):
    """The function of the child process, run here: it sends its progress, then the result."""
    sent, nice, logs = [], [], []
    monkeypatch.setattr(training_process.os, "nice", nice.append)
    monkeypatch.setattr(training_process, "start_logging", lambda *about, secrets: logs.append(about))
    url = service.store.url.render_as_string(hide_password=False)
    sending = SimpleNamespace(send=sent.append)
    training_process.run_training(sending, training_process.TrainingOrder(url, "hall", "UTC"))
    assert (nice, logs) == ([10], [("text", "info")])
    assert sent[:-1] == sorted(sent[:-1])
    assert isinstance(sent[-1], training_process.TrainedModel)
    again = train(read_labelled_room(service.store, "hall", "UTC"))
    assert sent[-1] == again
    training_process.run_training(sending, training_process.TrainingOrder(url, "nowhere", "UTC"))
    assert sent[-1] == "room 'nowhere' in the store: has no CO2 reading"
    missing = url.replace("rooms.db", "no/such/rooms.db")
    training_process.run_training(sending, training_process.TrainingOrder(missing, "lab", "UTC"))
    assert sent[-1].endswith("unable to open database file")


def test_model_trained_on_local_times_is_compared_in_the_zone_of_the_room(service, other_model, monkeypatch):
    local, sent = copy(other_model), []
    local.timezone_ = None
    service.store.add_model("lab", dump_model(local), origin="file", activate=True)
    monkeypatch.setattr(training_process.os, "nice", lambda _: None)
    monkeypatch.setattr(training_process, "start_logging", lambda *about, secrets: None)
    monkeypatch.setattr(
        training_process, "train", lambda labelled, in_use, *_: in_use.estimator.estimate(labelled.readings)
    )
    order = training_process.TrainingOrder(str(service.store.url), "lab", "UTC")
    training_process.run_training(SimpleNamespace(send=sent.append), order)
    expected = other_model.estimate(read_labelled_room(service.store, "lab", "UTC", INTERVAL).readings)
    np.testing.assert_allclose(sent[-1], expected, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("default")
def test_warnings_and_bugs_in_the_training_process_are_logged(monkeypatch, capfd):
    def divide_by_zero(order):
        np.array([1.0]) / np.array([0.0])
        warnings.warn("CO2 adds nothing", UserWarning, stacklevel=1)  # shows in the score
        raise KeyError("a bug")

    sent, root = [], logging.getLogger()
    handlers, level = list(root.handlers), root.level
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(training_process.os, "nice", lambda more: None)
    monkeypatch.setattr(training_process, "_train_from_store", divide_by_zero)
    order = training_process.TrainingOrder("sqlite:///rooms.db", "lab", "UTC", "json")
    try:
        training_process.run_training(SimpleNamespace(send=sent.append), order)
    finally:
        root.handlers[:], root.level = handlers, level
    assert sent[-1] == "training failed, see the log"
    warning, bug = map(json.loads, capfd.readouterr().err.splitlines())
    assert (warning["level"], warning["logger"]) == ("warning", "py.warnings")
    assert warning["message"] == "RuntimeWarning: divide by zero encountered in divide"
    assert bug["message"] == "room lab: training failed unexpectedly"
    assert "KeyError: 'a bug'" in bug["error"]
