"""Output of the validate command, on simulated rooms."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import occupair as oc
from occupair.benchmark import validation
from occupair.benchmark.coverage import coverage
from occupair.benchmark.few_labelled_days import few_days
from occupair.benchmark.validation import measure, validate
from occupair.benchmark.validation_tables import Validation, as_json, as_markdown
from occupair.cli import app
from occupair.datasets import BENCHMARK_ROOMS, benchmark_rooms
from occupair.deprecations import OccupairDeprecationWarning
from occupair.progress import progress_to
from occupair.room import boosted_trees

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def office():
    """Four days of the office from 08:00 to 16:00, one reading every 10 min."""
    return oc.simulate_office(days=4, seed=7).iloc[::10].between_time("08:00", "15:50")


def small(room, others=()):
    """The default estimator with few neurons, started from other models if there are any."""
    if others:
        return oc.OccupancyEstimator.transfer(others, n_hidden=20, random_state=0)
    return oc.OccupancyEstimator(n_hidden=20, random_state=0)


@pytest.fixture(scope="module")
def small_models():
    """Let the validation train small models."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validation, "coverage", lambda rooms: coverage(rooms, make=small))
        patch.setattr(validation, "few_days", lambda rooms: few_days(rooms, make=small))
        patch.setattr(boosted_trees, "N_TREES", 10)
        yield


@pytest.fixture(scope="module")
def same_rooms(office, small_models):
    """The validation of two equal rooms, and the progress reported meanwhile."""
    progress = []
    with progress_to(lambda what, done, total: progress.append((what, done / total))):
        return measure({"robod-1": office, "robod-3": office}), progress


@pytest.fixture(scope="module")
def different_rooms(office, small_models):
    """The validation of a room with ventilation readings and one without."""
    return measure({"robod-1": office, "uci864": office.drop(columns="ventilation")})


@pytest.fixture
def constant(monkeypatch, office):
    """Replace every room by the office, and the default estimator by constant intervals."""
    monkeypatch.setattr(benchmark_rooms, "read_room", lambda name: office)
    monkeypatch.setattr(validation, "coverage", lambda rooms: coverage(rooms, make=lambda room: Constant()))
    monkeypatch.setattr(validation, "few_days", lambda rooms: few_days(rooms, make=lambda *_: Constant()))


def tables_of(text):
    """Parse every Markdown table into a list of rows, each a dict by column heading."""
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    rows = [[[c.strip() for c in line.strip("|\n").split("|")] for line in b.splitlines()] for b in blocks]
    return [[dict(zip(heads, row, strict=True)) for row in body] for heads, _, *body in rows]


def test_markdown_of_two_rooms(same_rooms):
    text = as_markdown(same_rooms[0])
    assert "Rooms: robod-1 (4 days) and robod-3 (4 days)." in text
    assert "At low confidence levels these intervals raise the coverage above nominal." in text
    assert "Blocks skipped because the room was empty on all of their days: " in text
    mean, rooms, mean_few, rooms_few = tables_of(text)
    assert [row["lag [min]"] for row in mean] == ["0", "10", "20"]
    assert [(row["room"], row["lag [min]"]) for row in rooms[:4]] == [
        *(("robod-1", lag) for lag in ("0", "10", "20")),
        ("robod-3", "0"),
    ]
    heads = {f"{what} {share} %" for what in ("coverage", "occupied") for share in (50, 80, 90, 95)}
    assert heads < set(mean[0])
    covered = [row["coverage 90 %"] for row in (mean[0], rooms[0], rooms[3])]
    assert len(set(covered)) == 1  # the same room twice
    assert [row["days"] for row in mean_few] == ["3", "all"]  # the folds have two or three training days
    assert {row["room"] for row in rooms_few} == {"robod-1", "robod-3"}


def test_json_has_the_same_numbers(different_rooms):
    document = json.loads(as_json(different_rooms))
    assert document["rooms"] == {"robod-1": {"days": 4}, "uci864": {"days": 4}}
    assert len(document["ranges"]["rooms"]) == 2 * 3 * 4
    assert document["few_days"]["not_mixed"] == {"robod-1": ["uci864"], "uci864": ["robod-1"]}
    assert document["few_days"]["rooms"][0]["with other rooms"] is None
    assert document["few_days"]["averages"] == []


def test_incompatible_rooms_are_named(different_rooms):
    text = as_markdown(different_rooms)
    assert "uci864 was not started from robod-1: models with and without ventilation do not combine." in text
    assert len(tables_of(text)) == 3  # no mean over rooms: no room has all three values


class Constant:
    """A model with a constant interval from 0 to ``high`` people."""

    def __init__(self, high=1000.0):
        self.high = high

    def fit(self, readings):
        return self

    def estimate(self, readings, *, lag, interval=None):
        table = readings.assign(people=0.0, low=0.0, high=self.high)
        return table["people"] if interval is None else table[["people", "low", "high"]]


def test_coverage_is_compared_with_the_target(office):
    few = few_days({"office": office}, make=lambda room, others: Constant())
    missed = as_markdown(
        Validation({"office": 4}, coverage({"office": office}, make=lambda room: Constant()), few)
    )
    assert "within 2 percentage points of nominal. Missed: 100.0, 100.0 and 100.0 % at lag 0, 10" in missed
    assert "within 3 percentage points of nominal. Missed: 100.0, 100.0 and 100.0 % at lag 0, 10" in missed
    for what in ("all", "occupied"):
        assert f"of {what} readings at least 82 % in every room. Met: from 100.0 % (office, lag 0" in missed
    assert "are [0, 0]" not in missed
    nine_of_ten = office.assign(occupancy=[9999.0 if k % 10 == 0 else 0.0 for k in range(len(office))])
    covered = coverage({"office": nine_of_ten}, make=lambda room: Constant(0.0))
    met = as_markdown(Validation({"office": 4}, covered, few))
    assert re.search(r"of nominal\. Met: (90\.\d|89\.\d), ", met)
    assert re.search(r"100\.0 % of the intervals are \[0, 0\], and (90|89)\.\d % of these are correct\.", met)
    assert "mean coverage of occupied readings within 3 percentage points of nominal. Missed: 0.0" in met
    assert "occupied readings at least 82 % in every room. Missed: from 0.0 % (office, lag 0 min)" in met


def test_default_is_all_benchmark_rooms(monkeypatch, office):
    def stop(rooms):
        raise oc.InputError(" ".join(rooms))

    monkeypatch.setattr(benchmark_rooms, "read_room", lambda name: office)
    monkeypatch.setattr(validation, "measure", stop)
    with pytest.raises(oc.InputError, match=" ".join(BENCHMARK_ROOMS)):
        validate()


def test_progress_runs_from_0_to_1(same_rooms):
    _, progress = same_rooms
    assert list(dict.fromkeys(what for what, _ in progress)) == ["interval coverage", "few labelled days"]
    shares = [share for _, share in progress]
    assert shares == pytest.approx(sorted(shares))
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_validate_command(constant):
    done = CliRunner().invoke(app, ["validate", "robod-1", "--json"])
    assert done.exit_code == 0
    assert list(json.loads(done.output)) == ["rooms", "ranges", "few_days"]  # and nothing on standard error


def test_deprecated_name_runs_the_same_command(constant):
    with pytest.warns(OccupairDeprecationWarning, match="use 'occupair validate'"):
        done = CliRunner().invoke(app, ["prove", "robod-1", "--json"])
    assert done.stdout == CliRunner().invoke(app, ["validate", "robod-1", "--json"]).stdout


def test_deprecated_name_is_hidden():
    listed = CliRunner().invoke(app, ["--help"]).stdout
    assert "validate" in listed
    assert "prove" not in listed.replace("improve", "")


def test_unknown_room_is_refused():
    with pytest.raises(oc.InputError, match="unknown room 'attic', choose from sdu2018-1, "):
        validate(["attic"])


def test_page_has_the_format_of_the_command():
    """The page has the default rooms, the same tables and consistent means; the values need the rooms."""
    text = (ROOT / "docs/validation.md").read_text()
    mean, rooms, mean_few, rooms_few = tables_of(text)
    assert list(dict.fromkeys(row["room"] for row in rooms)) == list(BENCHMARK_ROOMS)
    assert [row["days"] for row in mean_few] == ["3", "5", "10", "all"]
    for table, average, columns in ((rooms, mean, ("lag [min]",)), (rooms_few, mean_few, ("days",))):
        for row in average:
            alike = [other for other in table if all(other[name] == row[name] for name in columns)]
            for head in set(row) & set(alike[0]) - {*columns, "rooms"}:
                # rounding of seven cells and of their mean, half a digit each
                digit = 10.0 ** -len(row[head].partition(".")[2])
                assert float(row[head]) == pytest.approx(
                    sum(float(other[head]) for other in alike) / len(alike), abs=1.01 * digit
                )
