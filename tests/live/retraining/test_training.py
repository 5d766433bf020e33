"""What a training reads, starts from and sends: labels that count, held-out days, the child process."""

import datetime as dt
import json
import logging
import warnings
from copy import copy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from live.pipeline_helpers import readings_of
from live.retraining_helpers import HALL_DAYS, INTERVAL, PER_DAY, add_labels, ended

import occupair as oc
from occupair.live import training_process
from occupair.live.messages import Label
from occupair.live.training_process import read_labelled_room, train
from occupair.live.training_scores import ModelInUse, Scores
from occupair.model_file import dump_model, parse_model

UTC = dt.UTC


def use_of(model):
    return ModelInUse(model, dt.datetime(2000, 1, 1, tzinfo=UTC), trained_here=False)


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
