"""The models of rooms: what is no model, or one that does not work, is refused in one line."""

import hashlib
import json

import numpy as np
import pytest

import occupair as oc
from occupair.live.rooms import models as room_models
from occupair.live.rooms.models import RoomModels
from occupair.live.store import Store, StoreError, schema
from occupair.live.store import store as store_module
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


def forged(content, **changes):
    """Make a model file that somebody has changed, and whose checksum is right."""
    document = json.loads(content)
    document["model"].update(changes)
    text = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    document["checksum"] = f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return json.dumps(document, separators=(",", ":")).encode()


class Day:
    """A day of a model that may be broken."""

    started, range = True, None

    def __init__(self, says):
        self._says, self._seen = says, 0

    def append(self, co2, ventilation, time):
        self._seen += 1

    def resume(self, co2, ventilation, times):
        self._seen = len(times)

    def __len__(self):
        return self._seen

    @property
    def people(self):
        return np.array([self._says(k) for k in range(self._seen)])


def reading_gives(monkeypatch, says):
    room = LiveRoom(lambda: Day(says), interval=5.0, uses_ventilation=True)
    monkeypatch.setattr(room_models, "read_model", lambda content, *, tolerance: room)


def test_a_file_is_in_use_as_soon_as_it_is_kept(store, models, paper, tmp_path, monkeypatch):
    path = tmp_path / "lab.occupair"
    path.write_bytes(paper)

    def end(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr(store_module, "_activate", end)
        with pytest.raises(KeyboardInterrupt):
            models.begin("lab", path)
    model = models.begin("lab", path)
    assert model is not None
    assert model.version == store.active_model("lab")[0]
    assert models.begin("lab", path) == model
    assert [(one.note, one.active) for one in store.models("lab")] == [("lab.occupair", True)]


def test_a_file_that_does_not_work_leaves_the_model_before_it(store, models, paper, tmp_path):
    path = tmp_path / "lab.occupair"
    path.write_bytes(paper)
    first = models.begin("lab", path)
    path.write_bytes(b"not a model")
    with pytest.raises(oc.InputError, match=r"^is not an occupair model$"):
        models.begin("lab", path)
    with pytest.raises(oc.InputError, match=r"nowhere: No such file or directory$"):
        models.begin("lab", tmp_path / "nowhere")
    assert models.active("lab") == first
    assert models.active("hall") is None


def test_what_the_store_has_may_be_no_model(store, models, paper):
    other = store.add_model("lab", b"of another version", origin="upload", activate=True)
    damaged = store.add_model("hall", paper, origin="upload", activate=True)
    with store.engine.begin() as connection:
        changed = schema.models.update().where(schema.models.c.id == damaged)
        connection.execute(changed.values(data=paper + b" "))
    for ask in (models.active, lambda room: models.begin(room, None)):
        with pytest.raises(oc.InputError, match=rf"^model {other} in the store is not an occupair model$"):
            ask("lab")
        with pytest.raises(oc.InputError, match=rf"model {damaged} of room 'hall' is damaged, its sha256"):
            ask("hall")


def test_a_store_that_does_not_answer_is_no_fault_of_a_model(tmp_path):
    models = RoomModels(Store(f"sqlite:///{tmp_path}/no/such/rooms.db"), tolerance=1e-3)
    with pytest.raises(StoreError, match="unable to open database file"):
        models.active("lab")


@pytest.mark.parametrize("interval", [1 / 60, 0.7, 5.0, 60.0])
def test_models_of_all_intervals_work(models, paper, interval):
    models.check(forged(paper, interval=interval))


@pytest.mark.parametrize("interval", [1e-9, 1e-3, 60.1, 1e300])
def test_an_interval_that_is_none_is_refused(models, paper, interval):
    with pytest.raises(oc.InputError, match=r"^has readings every \S+ min"):
        models.check(forged(paper, interval=interval))


@pytest.mark.parametrize("kind", ["paper", "ours"])
def test_trying_a_model_leaves_no_trace(store, models, kind, office, request):
    content = request.getfixturevalue(kind)
    store.add_model("lab", content, origin="upload", activate=True)
    room = models.active("lab").room
    assert len(room) == 0
    day = office.iloc[:100]
    said = [
        room.update(time, co2, flow).people
        for time, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True)
    ]
    np.testing.assert_allclose(said, parse_model(content).estimate(day), atol=2e-3)


def test_a_model_that_says_too_much_is_refused_whoever_kept_it(store, models, paper):
    coef = [1e9 for _ in json.loads(paper)["model"]["coef"]]
    crazy = forged(paper, coef=coef, most_people=1e9)
    words = "is a model that does not work: it must say from 0 to 10000 people, on a try it said"
    with pytest.raises(oc.InputError, match=rf"^{words} 1e\+09$"):
        models.check(crazy)
    version = store.add_model("lab", crazy, origin="upload", activate=True)
    with pytest.raises(oc.InputError, match=rf"^model {version} in the store {words} 1e\+09$"):
        models.active("lab")


@pytest.mark.parametrize(
    ("people", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-0.01, "-0.01"), (10_001.0, "10001")]
)
@pytest.mark.parametrize("place", [3, 89])
def test_one_impossible_count_is_enough(models, monkeypatch, people, shown, place):
    reading_gives(monkeypatch, lambda k: people if k == place else 2.0)
    with pytest.raises(oc.InputError, match=rf"0 to 10000 people, on a try it said {shown}$"):
        models.check(b"a model")


def test_counts_up_to_the_most_are_fine(models, monkeypatch):
    reading_gives(monkeypatch, lambda k: 10_000.0 * (k % 2))
    models.check(b"a model")


@pytest.mark.parametrize(
    "error", [IndexError("list\nindex"), MemoryError("list index"), AttributeError("x" * 999)]
)
def test_whatever_a_model_raises_is_one_line(models, monkeypatch, error):
    def raises(k):
        raise error

    reading_gives(monkeypatch, raises)
    with pytest.raises(
        oc.InputError, match=rf"^is a model that cannot be run: {type(error).__name__} (list index|x+)$"
    ) as caught:
        models.check(b"a model")
    assert len(str(caught.value)) < 250
