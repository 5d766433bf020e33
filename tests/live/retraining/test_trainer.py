"""The trainer: rooms are trained in turn in a child process, a new model is used once accepted."""

import asyncio
import os
import signal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from live.pipeline_helpers import readings_of
from live.retraining_helpers import DAYS, INTERVAL, PER_DAY, ended
from live.waiting import until

import occupair as oc
from occupair.live import retraining, training_process
from occupair.live.messages import ReadingOutcome
from occupair.live.retraining import Trainer
from occupair.live.training_process import read_labelled_room
from occupair.live.training_scores import Score, Scores
from occupair.model_file import parse_model


def process_of(trainer, room):
    return trainer._jobs[room].process


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


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
