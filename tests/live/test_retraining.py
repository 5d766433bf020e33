"""A room trained again from its labels: apart, on days of which some are never seen, and only if agreed."""

import asyncio
import datetime as dt
import os
import shutil
import signal
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import occupair as oc
from occupair.live import retraining
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.messages import Label, Reading, ReadingOutcome
from occupair.live.pipeline import Pipeline
from occupair.live.retraining import Trainer, kept_aside, read_labelled_room, train
from occupair.live.store import Store
from occupair.model_file import dump_model, parse_model

UTC = dt.UTC
DAYS, PER_DAY = 9, 288
PATIENCE = 120.0  # [s]


@pytest.fixture(scope="module")
def office():
    """Nine labelled days, and half of the tenth, which is today."""
    whole = oc.simulate_office(days=DAYS + 1, seed=5).iloc[::5].tz_localize("UTC")
    return whole.iloc[: DAYS * PER_DAY + PER_DAY // 2]


@pytest.fixture(scope="module")
def said(office):
    """What people said: ten times a day between eight and eight, at times of readings."""
    rng = np.random.default_rng(0)
    places = [day * PER_DAY + rng.choice(np.arange(96, 240), 10, replace=False) for day in range(DAYS)]
    return office["occupancy"].iloc[np.sort(np.concatenate(places))].astype(float)


@pytest.fixture(scope="module")
def another():
    """The model of another room."""
    other = oc.simulate_office(days=3, seed=77).iloc[::5]
    return oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(other.assign(co2=1.4 * other["co2"] - 100))


def readings_of(frame, room="lab"):
    return [
        Reading(room, when.to_pydatetime(), co2, flow, "http", dt.datetime.now(UTC))
        for when, co2, flow in zip(frame.index, frame["co2"], frame["ventilation"], strict=True)
    ]


def add_labels(store, people, room="lab"):
    for when, count in people.items():
        store.add_label(Label(room, when.to_pydatetime(), int(count), when.to_pydatetime()))


def setup_in(folder, another):
    path = folder / "lab.occupair"
    path.write_bytes(dump_model(another))
    rooms = {
        "lab": RoomConfig(id="lab", model=path),
        "hall": RoomConfig(id="hall"),
        "attic": RoomConfig(id="attic"),
    }
    return ServiceConfig(store=f"sqlite:///{folder}/rooms.db", clock="readings", rooms=rooms)


@pytest.fixture(scope="module")
def served(tmp_path_factory, office, said, another):
    """The store of a service that ran for days: a lab with a model, a hall without, an empty attic."""
    folder = tmp_path_factory.mktemp("served")
    setup = setup_in(folder, another)
    store = Store(setup.store)
    store.migrate()

    async def serve():
        pipeline = Pipeline(setup, store)
        await pipeline.start()
        for rows in np.array_split(np.arange(len(office)), 20):
            assert set(await pipeline.submit(readings_of(office.iloc[rows]))) == {ReadingOutcome.ACCEPTED}
        await pipeline.submit(readings_of(office.iloc[: DAYS * PER_DAY], "hall"))
        await pipeline.stop()

    asyncio.run(serve())
    add_labels(store, said)
    add_labels(store, said, "hall")
    store.close()
    return folder / "rooms.db"


@pytest.fixture
def service(tmp_path, served, another):
    """Run some work with a trainer, on a copy of that store."""
    setup = setup_in(tmp_path, another)
    shutil.copy(served, tmp_path / "rooms.db")
    store = Store(setup.store)

    def run(work):
        async def all_of_it():
            pipeline = Pipeline(setup, store)
            await pipeline.start()
            trainer = Trainer(pipeline)
            try:
                return await asyncio.wait_for(work(pipeline, trainer), PATIENCE)
            finally:
                await trainer.stop()
                await pipeline.stop()

        return asyncio.run(all_of_it())

    yield SimpleNamespace(run=run, store=store)
    store.close()


async def until(condition, every=0.01):
    while not condition():
        await asyncio.sleep(every)


async def ended(trainer, room):
    """Wait for the end of a training; all that it told on the way."""
    told = [await trainer.status(room)]
    while told[-1]["status"] == "running":
        await asyncio.sleep(0.01)
        told.append(await trainer.status(room))
    return told


def process_of(trainer, room):
    return trainer._jobs[room].process


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def days_aside(said):
    """Days whose ordinal is a multiple of four."""
    return said[[day.toordinal() % 4 == 0 for day in said.index.date]]


def written_error(model, office, people):
    """How far off a model is at labels, written out: what it says of the whole days they are of."""
    days = office[np.isin(office.index.date, np.unique(people.index.date))]
    return float(np.sqrt(np.mean((model.estimate(days)[people.index] - people) ** 2)))


def test_two_rooms_are_trained_one_after_the_other_and_a_person_takes_one(service, office, said, another):
    today = office.iloc[DAYS * PER_DAY :]
    delays = []

    async def work(pipeline, trainer):
        await trainer.start("lab")
        await trainer.start("hall")
        with pytest.raises(oc.InputError, match=r"^room hall is being trained already$"):
            await trainer.start("hall")
        lab, hall = (asyncio.create_task(ended(trainer, room)) for room in ("lab", "hall"))
        told_late = 0
        while not (lab.done() and hall.done()):
            jobs = trainer._jobs["lab"], trainer._jobs["hall"]
            working = [job.process for job in jobs if job.process is not None and job.process.is_alive()]
            assert len(working) <= 1
            if jobs[0].status == "running":
                status = await trainer.status("hall")
                told_late += (status["message"], status["progress"]) == (
                    "waits until another room is trained",
                    0.0,
                )
            attic = office.iloc[len(delays) : len(delays) + 1]
            before = time.monotonic()
            assert await pipeline.submit(readings_of(attic, "attic")) == [ReadingOutcome.ACCEPTED]
            delays.append(time.monotonic() - before)
            await asyncio.sleep(0.02)
        assert told_late > 2
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
    assert np.median(delays) < 0.5
    assert max(delays) < 5.0

    progress = [one["progress"] for one in lab]
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert len(set(progress)) >= 4
    assert lab[-1]["status"] == hall[-1]["status"] == "done"

    ((version,), data) = (
        [one for one in service.store.models("lab") if one.origin == "trained"],
        service.store.active_model("lab")[1],
    )
    assert version.active
    new, aside = parse_model(data), days_aside(said)
    assert lab[-1]["old"]["labels"] == lab[-1]["new"]["labels"] == len(aside) >= 20
    assert lab[-1]["old"]["rmse"] == pytest.approx(written_error(another, office, aside))
    assert lab[-1]["new"]["rmse"] == pytest.approx(written_error(new, office, aside))
    assert lab[-1]["new"]["rmse"] < 0.8 * lab[-1]["old"]["rmse"]
    assert version.note == f"{lab[-1]['new']['rmse']:.2f} people off on {len(aside)} labels kept aside"
    np.testing.assert_allclose(before, another.estimate(today), atol=1e-6)
    np.testing.assert_allclose(after, new.estimate(today), atol=1e-6)
    assert np.abs(np.subtract(after, before)).max() > 1

    assert hall[-1]["old"] is None  # it had no model
    assert service.store.active_model("hall") is None  # and was not given one


def test_days_kept_aside_never_reach_the_new_model(service, said, another):
    found = []
    for wrong in (0, 7):
        add_labels(service.store, days_aside(said) + wrong)
        found.append(train(read_labelled_room(service.store, "lab", "UTC", 5.0), another))
    assert found[0].model == found[1].model
    assert found[0].new.rmse < found[1].new.rmse
    add_labels(service.store, said.drop(days_aside(said).index) + 1)
    assert train(read_labelled_room(service.store, "lab", "UTC", 5.0), another).model != found[0].model


def test_training_starts_from_the_model_in_use_if_it_is_of_our_kind(service, another, office):
    labelled = read_labelled_room(service.store, "lab", "UTC", 5.0)
    paper = oc.OccupancyEstimator.paper(n_hidden=20, n_draws=1, random_state=0).fit(office.iloc[:600])
    alone, helped, from_paper = (train(labelled, old) for old in (None, another, paper))
    kept = labelled.readings[~np.isin(labelled.readings.index.date, np.unique(days_aside_of(labelled)))]
    transferred = oc.OccupancyEstimator.transfer([another], random_state=0, verbose=False).fit(kept)
    assert helped.model == dump_model(transferred)
    assert from_paper.model == alone.model != helped.model
    assert alone.old is None
    assert from_paper.old.labels == alone.new.labels


def days_aside_of(labelled):
    return days_aside(labelled.labels).index.date


def test_a_model_that_cannot_take_the_readings_has_no_score(service, office):
    labelled = read_labelled_room(service.store, "lab", "UTC", 5.0)
    slower = oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office.iloc[: 3 * PER_DAY : 2])
    assert train(labelled, slower).old is None


def test_discarding_stops_a_training(service):
    async def work(pipeline, trainer):
        await trainer.start("lab")
        await until(lambda: process_of(trainer, "lab") is not None and process_of(trainer, "lab").pid)
        await trainer.start("hall")
        pid = process_of(trainer, "lab").pid
        assert pid != os.getpid()
        await trainer.discard("hall")  # before it had its turn
        assert (await trainer.status("lab"))["status"] == "running"
        await trainer.discard("lab")
        assert is_gone(pid)
        assert (await trainer.status("lab"))["status"] == "idle"
        with pytest.raises(oc.InputError, match=r"^room lab is not being trained and has no new model$"):
            await trainer.discard("lab")
        await trainer.start("lab")
        await trainer.discard("lab")  # at once
        await trainer.start("lab")
        await until(lambda: process_of(trainer, "lab") is not None and process_of(trainer, "lab").pid)
        return process_of(trainer, "lab").pid

    assert is_gone(service.run(work))  # stopped with the service


def trained_lab(use_model):
    """A trainer of a pipeline that takes models so, whose lab has a new one."""
    trainer = Trainer(SimpleNamespace(use_model=use_model))
    score = retraining.Score(0.5, 30)
    job = retraining._Job(retraining.Order("sqlite://", "lab", "UTC"), status="done")
    job.trained = retraining.Trained(b"new", None, score)
    job.task = asyncio.create_task(asyncio.sleep(0))
    trainer._jobs["lab"] = job
    return trainer


def test_a_new_model_is_taken_once_however_often_it_is_accepted():
    taken = []

    async def use_model(room, data, *, origin, note):
        taken.append((room, data, origin, note))
        await asyncio.sleep(0.05)
        if len(taken) == 1:
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
    assert taken == [("lab", b"new", "trained", "0.50 people off on 30 labels kept aside")] * 2


def test_forgetting_drops_a_new_model_quietly_and_for_good():
    done = []

    async def use_model(room, data, *, origin, note):
        await asyncio.sleep(0.05)
        done.append("taken")
        raise oc.InputError("the disk is full")

    async def work():
        trainer = trained_lab(use_model)
        accepting = asyncio.create_task(trainer.accept("lab"))
        await asyncio.sleep(0.01)
        late = asyncio.create_task(trainer.accept("lab"))
        await asyncio.sleep(0)
        await trainer.forget("lab")
        done.append("forgotten")
        for accept, words in ((accepting, "the disk is full"), (late, "room lab has no new model")):
            with pytest.raises(oc.InputError, match=f"^{words}$"):
                await accept
        assert (await trainer.status("lab"))["status"] == "idle"
        await trainer.forget("lab")  # there is nothing to forget

    asyncio.run(work())
    assert done == ["taken", "forgotten"]


def test_forgetting_stops_a_training(service):
    async def work(pipeline, trainer):
        await trainer.start("lab")
        await until(lambda: process_of(trainer, "lab") is not None and process_of(trainer, "lab").pid)
        pid = process_of(trainer, "lab").pid
        await trainer.forget("lab")
        assert is_gone(pid)
        assert (await trainer.status("lab"))["status"] == "idle"

    service.run(work)


def test_a_training_that_is_killed_has_failed_and_the_service_goes_on(service, office):
    async def work(pipeline, trainer):
        await trainer.start("lab")
        await until(lambda: trainer._jobs["lab"].progress > 0)
        os.kill(process_of(trainer, "lab").pid, signal.SIGKILL)
        last = (await ended(trainer, "lab"))[-1]
        assert (last["status"], last["message"]) == ("failed", "training ended before it was done")
        with pytest.raises(oc.InputError, match=r"^room lab has no new model$"):
            await trainer.accept("lab")
        assert await pipeline.submit(readings_of(office.iloc[:1], "attic")) == [ReadingOutcome.ACCEPTED]
        await trainer.start("lab")
        assert (await trainer.status("lab"))["status"] == "running"

    service.run(work)


def test_labels_that_no_reading_is_near_do_not_count(service, office, said):
    add_labels(service.store, said, "attic")

    async def work(pipeline, trainer):
        await pipeline.submit(readings_of(office.iloc[:PER_DAY], "attic"))
        await trainer.start("attic")
        return (await ended(trainer, "attic"))[-1]

    last = service.run(work)
    words = "training takes 20 head counts on 4 days, with readings: there are 10 on 1"
    assert (last["status"], last["message"]) == ("failed", words)


@pytest.mark.parametrize(("labels", "days"), [(0, 0), (19, 2), (30, 3)])
def test_too_few_labels_are_counted(service, said, labels, days):
    add_labels(service.store, said.iloc[:labels], "attic")

    async def work(pipeline, trainer):
        words = rf"^training takes 20 head counts on 4 days, with readings: there are {labels} on {days}$"
        with pytest.raises(oc.InputError, match=words):
            await trainer.start("attic")
        return await trainer.status("attic")

    assert service.run(work)["status"] == "idle"


def test_a_label_counts_for_the_readings_around_it(service, said):
    readings, labels = read_labelled_room(service.store, "lab", "UTC")
    pd.testing.assert_series_equal(labels, said, check_names=False, check_freq=False, check_index_type=False)
    for when, people in said.iloc[:10].items():
        assert readings["occupancy"][when] == people
    slow = read_labelled_room(service.store, "lab", "UTC", 30.0)
    assert len(slow.labels) == len(said)
    assert slow.readings["occupancy"].notna().sum() > 60


def days(*numbers):
    return [dt.date(2024, 1, number) for number in numbers]


def test_days_are_kept_aside_whatever_others_there_are():
    # 2024-01-03 is day 738888 of our calendar, a multiple of four.
    assert dt.date(2024, 1, 3).toordinal() % 4 == 0
    every = kept_aside(days(*range(1, 31)))
    assert every == days(3, 7, 11, 15, 19, 23, 27)
    assert kept_aside(days(2, 3, 4, 5)) == days(3)
    assert kept_aside(days(4, 5, 6)) == days(6)  # none of them: the newest
    assert kept_aside(days(3, 7, 11, 15)) == days(3, 7)  # no more than half


def test_a_worker_reads_the_store_and_is_nice(service, monkeypatch):
    """What the process does, run here: it tells how far it is, and then what came of it."""
    told, nice = [], []
    monkeypatch.setattr(retraining.os, "nice", nice.append)
    url = service.store.url.render_as_string(hide_password=False)
    sending = SimpleNamespace(send=told.append)
    retraining.train_apart(sending, retraining.Order(url, "hall", "UTC"))
    assert nice == [10]
    assert told[:-1] == sorted(told[:-1])
    assert isinstance(told[-1], retraining.Trained)
    again = train(read_labelled_room(service.store, "hall", "UTC"), None)
    assert told[-1] == again
    retraining.train_apart(sending, retraining.Order(url, "nowhere", "UTC"))
    assert told[-1] == "room 'nowhere' in the store: has no CO2 reading"
    gone = url.replace("rooms.db", "no/such/rooms.db")
    retraining.train_apart(sending, retraining.Order(gone, "lab", "UTC"))
    assert told[-1].endswith("unable to open database file")
