"""The models of rooms: files that are no model, or a broken one, are rejected in one line."""

import hashlib
import json

import numpy as np
import pytest

import occupair as oc
from occupair.live.rooms import room_models
from occupair.live.rooms.room_models import RoomModels
from occupair.live.store import Store, StoreError, model_store, schema
from occupair.live_room import LiveRoom
from occupair.model_file import dump_model, parse_model


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=3, seed=5).iloc[::5]


@pytest.fixture(scope="module")
def paper(office):
    return dump_model(oc.OccupancyEstimator.paper(n_hidden=25, n_draws=1, random_state=0).fit(office))


@pytest.fixture(scope="module")
def ours(office):
    return dump_model(oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office))


@pytest.fixture
def store(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/rooms.db")
    store.migrate()
    yield store
    store.close()


@pytest.fixture
def models(store):
    return RoomModels(store, tolerance=1e-3)


def modified(content, **changes):
    """Return a modified model file with a correct checksum."""
    document = json.loads(content)
    document["model"].update(changes)
    text = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    document["checksum"] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return json.dumps(document, separators=(",", ":")).encode()


class Day:
    """A day of a model that may be broken; ``estimate`` maps the number of a reading to people."""

    started, prediction_interval, missing_sensors, stuck_sensors = True, None, (), ()

    def __init__(self, estimate):
        self._estimate, self._seen = estimate, 0

    def append(self, co2, ventilation, time, sensors=None):
        self._seen += 1

    def restore(self, co2, ventilation, times, sensors=None):
        self._seen = len(times)

    def continue_from(self, earlier):
        pass

    def __len__(self):
        return self._seen

    @property
    def people(self):
        return np.array([self._estimate(k) for k in range(self._seen)])


def replace_model(monkeypatch, estimate):
    room = LiveRoom(lambda: Day(estimate), interval=5.0, uses_ventilation=True)
    monkeypatch.setattr(room_models, "load_model", lambda content, *, tolerance: room)


def test_model_file_is_stored_and_activated_in_one_transaction(store, models, paper, tmp_path, monkeypatch):
    path = tmp_path / "lab.occupair"
    path.write_bytes(paper)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(model_store, "activate_model", interrupt)
        with pytest.raises(KeyboardInterrupt):
            models.from_file("lab", path)
    model = models.from_file("lab", path)
    assert model is not None
    assert model.version == store.active_model("lab")[0]
    assert models.from_file("lab", path) == model
    assert [(one.note, one.active) for one in store.models("lab")] == [("lab.occupair", True)]


def test_broken_file_leaves_the_previous_model_active(store, models, paper, tmp_path):
    path = tmp_path / "lab.occupair"
    path.write_bytes(paper)
    first = models.from_file("lab", path)
    path.write_bytes(b"not a model")
    with pytest.raises(oc.InputError, match=r"^is not an occupair model$"):
        models.from_file("lab", path)
    with pytest.raises(oc.InputError, match=r"nowhere: No such file or directory$"):
        models.from_file("lab", tmp_path / "nowhere")
    assert models.active("lab") == first
    assert models.active("hall") is None


def test_broken_model_in_the_store_is_reported(store, models, paper):
    other = store.add_model("lab", b"of another version", origin="upload", activate=True)
    damaged = store.add_model("hall", paper, origin="upload", activate=True)
    with store.engine.begin() as connection:
        changed = schema.models.update().where(schema.models.c.id == damaged)
        connection.execute(changed.values(data=paper + b" "))
    for load in (models.active, lambda room: models.from_file(room, None)):
        with pytest.raises(oc.InputError, match=rf"^model {other} in the store is not an occupair model$"):
            load("lab")
        with pytest.raises(oc.InputError, match=rf"model {damaged} of room 'hall' is damaged: its checksum"):
            load("hall")


def test_unavailable_store_is_a_store_error(tmp_path):
    models = RoomModels(Store(f"sqlite:///{tmp_path}/no/such/rooms.db"), tolerance=1e-3)
    with pytest.raises(StoreError, match="unable to open database file"):
        models.active("lab")


@pytest.mark.parametrize("interval", [1 / 60, 0.7, 5.0, 60.0])
def test_valid_interval_is_accepted(models, paper, interval):
    models.check(modified(paper, interval=interval))


@pytest.mark.parametrize(
    ("interval", "message"),
    [
        (1e-9, r"^is not a valid model: interval must be from 1/60 to 1440 min, got 1e-09$"),
        (1e-3, r"^is not a valid model: interval must be from 1/60 to 1440 min, got 0.001$"),
        (60.1, r"^has an interval of 60.1 min"),
        (1e300, r"^is not a valid model: interval must be from 1/60 to 1440 min, got 1e\+300$"),
    ],
)
def test_invalid_interval_is_rejected(models, paper, interval, message):
    with pytest.raises(oc.InputError, match=message):
        models.check(modified(paper, interval=interval))


@pytest.mark.parametrize("kind", ["paper", "ours"])
def test_testing_a_model_does_not_change_it(store, models, kind, office, request):
    content = request.getfixturevalue(kind)
    store.add_model("lab", content, origin="upload", activate=True)
    room = models.active("lab").room
    assert len(room) == 0
    day = office.iloc[:100]
    people = [
        room.update(time, co2, flow).people
        for time, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True)
    ]
    np.testing.assert_allclose(people, parse_model(content).estimate(day), atol=2e-3)


def test_model_with_huge_estimates_is_rejected(store, models, paper):
    coef = [1e9 for _ in json.loads(paper)["model"]["coef"]]
    huge = modified(paper, coef=coef, most_people=1e9)
    message = "is a model that does not work: estimates must be from 0 to 10000 people, got"
    with pytest.raises(oc.InputError, match=rf"^{message} 1e\+09 on test readings$"):
        models.check(huge)
    version = store.add_model("lab", huge, origin="upload", activate=True)
    with pytest.raises(
        oc.InputError, match=rf"^model {version} in the store {message} 1e\+09 on test readings$"
    ):
        models.active("lab")


@pytest.mark.parametrize(
    ("people", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-0.01, "-0.01"), (10_001.0, "10001")]
)
@pytest.mark.parametrize("place", [3, 89])
def test_one_invalid_estimate_is_rejected(models, monkeypatch, people, shown, place):
    replace_model(monkeypatch, lambda k: people if k == place else 2.0)
    with pytest.raises(oc.InputError, match=rf"0 to 10000 people, got {shown} on test readings$"):
        models.check(b"a model")


def test_estimates_up_to_the_maximum_are_accepted(models, monkeypatch):
    replace_model(monkeypatch, lambda k: 10_000.0 * (k % 2))
    models.check(b"a model")


@pytest.mark.parametrize(
    "error", [IndexError("list\nindex"), MemoryError("list index"), AttributeError("x" * 999)]
)
def test_any_error_of_a_model_is_reported_in_one_line(models, monkeypatch, error):
    def raises(k):
        raise error

    replace_model(monkeypatch, raises)
    with pytest.raises(
        oc.InputError, match=rf"^is a model that cannot be run: {type(error).__name__} (list index|x+)$"
    ) as caught:
        models.check(b"a model")
    assert len(str(caught.value)) < 250
