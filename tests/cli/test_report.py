"""The command report on a store, on files with estimates and on a model with readings."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest
from command import occupair

import occupair as oc
from occupair.live.messages import EstimateRecord, Quality, Reading
from occupair.live.store import Store
from occupair.readings.files import write_readings
from occupair.utilisation.opening_hours import OpeningHours
from occupair.utilisation.room_usage import RoomInfo, room_usage

ZONE = "Europe/Copenhagen"
CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:1
DTSTAMP:20240101T000000Z
DTSTART;TZID=Europe/Copenhagen:20240108T090000
DTEND;TZID=Europe/Copenhagen:20240108T100000
RRULE:FREQ=DAILY;COUNT=2
SUMMARY:Planning
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTAMP:20240101T000000Z
DTSTART;TZID=Europe/Copenhagen:20240108T140000
DTEND;TZID=Europe/Copenhagen:20240108T150000
LOCATION:Kitchen
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture(scope="module")
def trained():
    """An office every 15 min: a model of three days, and three other days."""
    readings = oc.simulate_office(days=6, seed=1, seats=12).iloc[::15]
    days = readings.index.normalize()
    training, others = readings[days < days.unique()[3]], readings[days >= days.unique()[3]]
    return oc.OccupancyEstimator(random_state=0).fit(training), others


def write_estimates(path, *, people=4.0):
    """Write two days of estimates every 10 min with people from 09:00 to 12:00 on the first day."""
    times = pd.date_range("2024-01-08", periods=288, freq="10min", tz=ZONE)
    inside = (times.day == 8) & (times.hour >= 9) & (times.hour < 12)
    count = np.where(inside, people, 0.0)
    table = pd.DataFrame({"people": count, "people_whole": count, "low": 0.5 * count, "high": 1.5 * count})
    table.insert(0, "time", times)
    if path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)


def rooms_of(page):
    return pd.read_csv(page.with_name(f"{page.stem}-rooms.csv")).set_index("room")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_report_of_estimates(tmp_path, suffix):
    """Four people for 3 of 10 hours on one of two days, in a room with 8 seats."""
    write_estimates(tmp_path / f"lab{suffix}")
    page = tmp_path / "report.html"
    done = occupair("report", tmp_path / f"lab{suffix}", "--capacity", 8, "--out", page, "--timezone", ZONE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The room was in use for 1.5 hours per open day, with 4.0 people when in use." in done.stdout
    lab = rooms_of(page).loc["lab"]
    assert (lab["people_mean"], lab["people_mean_low"], lab["people_mean_high"]) == (0.6, 0.3, 0.9)
    assert (lab["capacity_used"], lab["peak"], lab["seats_never_used"]) == (0.075, 4, 2)
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_report_of_a_folder_with_names_and_a_calendar(tmp_path):
    for room in ("hall", "lab-7"):
        (tmp_path / f"people/room={room}").mkdir(parents=True)
    write_estimates(tmp_path / "people/room=lab-7/part.csv")
    write_estimates(tmp_path / "people/room=hall/estimates.parquet", people=0.0)
    (tmp_path / "rooms.toml").write_text(
        '[rooms.lab-7]\nname = "Lab 7"\ncapacity = 8\nco2 = "a"\n[rooms.hall]\n'
    )
    (tmp_path / "calendars").mkdir()
    (tmp_path / "calendars/Lab 7.ics").write_text(CALENDAR)
    page = tmp_path / "report.html"
    options = ("--rooms", "rooms.toml", "--calendar", "calendars", "--timezone", ZONE, "--workers", 1)
    done = occupair("report", "people", *options, "--out", page, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Nobody came to 2 of 3 meetings (67 %)." in done.stdout
    table = rooms_of(page)
    assert table.loc["lab-7", "name"] == "Lab 7"
    assert table.loc["lab-7", ["meetings", "meetings_without_people"]].tolist() == [3, 2]
    assert table.loc["hall", "meetings"] == 0
    meetings = pd.read_csv(tmp_path / "report-meetings.csv")
    assert "Planning" not in meetings.to_string() + page.read_text()
    done = occupair("report", "people", *options, "--titles", "--out", page, cwd=tmp_path)
    assert "Planning" in page.read_text()


def test_meetings_of_other_rooms_are_counted(tmp_path):
    write_estimates(tmp_path / "lab.csv")
    write_estimates(tmp_path / "hall.csv")
    (tmp_path / "all.ics").write_text(CALENDAR)
    options = ("--calendar", "all.ics", "--timezone", ZONE, "--workers", 1, "--no-csv")
    done = occupair("report", "lab.csv", "hall.csv", *options, cwd=tmp_path)
    assert "all.ics: 3 meetings of no room of this report" in done.stderr
    assert "all.ics: has no meeting of these rooms in this period" in done.stderr
    assert [path.name for path in tmp_path.glob("utilisation*")] == ["utilisation.html"]


def test_report_of_a_model_and_readings(tmp_path, trained):
    """The figures are those of the hindsight estimates."""
    estimator, readings = trained
    estimator.save(tmp_path / "office.occupair")
    write_readings(readings.drop(columns="occupancy"), tmp_path / "readings.csv")
    page = tmp_path / "report.html"
    done = occupair("report", "office.occupair", "readings.csv", "--out", page, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    counts = estimator.estimate(readings, mode="hindsight", interval=0.9)
    expected = room_usage(RoomInfo("office"), counts, OpeningHours())
    office = rooms_of(page).loc["office"]
    assert office["people_mean"] == pytest.approx(expected.mean(), rel=1e-3)
    assert office["peak_high"] == pytest.approx(expected.peak("peak_high"), rel=1e-3)


def test_report_maps_columns_as_fit_does(tmp_path, trained):
    estimator, readings = trained
    estimator.save(tmp_path / "office.occupair")
    write_readings(readings.drop(columns="occupancy"), tmp_path / "readings.csv")
    header, _, rows = (tmp_path / "readings.csv").read_text().partition("\n")
    assert ",co2," in header
    renamed = header.replace(",co2,", ",Raum 7,")
    (tmp_path / "readings.csv").write_text(f"{renamed}\n{rows}")
    done = occupair("report", "office.occupair", "readings.csv", "--column", "co2=Raum 7", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    counts = estimator.estimate(readings, mode="hindsight", interval=0.9)
    expected = room_usage(RoomInfo("office"), counts, OpeningHours())
    office = rooms_of(tmp_path / "utilisation.html").loc["office"]
    assert office["people_mean"] == pytest.approx(expected.mean(), rel=1e-3)


@pytest.fixture
def stored(tmp_path, trained):
    """A store: a room with readings and a model, one with estimates only, and one with readings only."""
    estimator, readings = trained
    store = Store(f"sqlite:///{tmp_path / 'rooms.db'}")
    store.migrate()
    store.set_zones({"office": ZONE, "hall": ZONE, "attic": ZONE})
    estimator.save(tmp_path / "office.occupair")
    store.add_model(
        "office", (tmp_path / "office.occupair").read_bytes(), origin="file", note="", activate=True
    )
    times = [time.to_pydatetime() for time in readings.index.tz_localize(ZONE).tz_convert("UTC")]
    rows = zip(times, readings["co2"], readings["ventilation"], strict=True)
    sent = [Reading("office", time, co2, fan, "http", time) for time, co2, fan in rows]
    sent += [Reading(room, times[0], 500.0, None, "http", times[0]) for room in ("hall", "attic")]
    store.write(sent, list(hall_estimates(times[0].date())))
    store.close()
    return tmp_path


def hall_estimates(day):
    """Estimates every 15 min: 3 people from 09:00 to 11:00, flagged from 12:00 to 13:00."""
    for k in range(96):
        local = pd.Timestamp(day).tz_localize(ZONE) + pd.Timedelta(days=1, minutes=15 * k)
        people = 3.0 if 9 <= local.hour < 11 else 0.0
        quality = Quality.SUSPECT if local.hour == 12 else Quality.OK
        time = local.tz_convert("UTC").to_pydatetime()
        live = None if quality is Quality.SUSPECT else people + 1.0
        refined = None if quality is Quality.SUSPECT else people
        yield EstimateRecord("hall", time, live, live, live, (refined,), 500.0, 500.0, None, quality)


def test_report_of_a_store(stored, trained):
    """The figures are those of hindsight estimates of the stored readings; days are local."""
    estimator, readings = trained
    page = stored / "report.html"
    done = occupair("report", "rooms.db", "--out", page, "--workers", 1, "--capacity", 20, cwd=stored)
    assert done.returncode == 0
    assert "attic: the room has no model: calibrate it, or train it with head counts" in done.stderr
    table = rooms_of(page)
    counts = estimator.estimate(readings, mode="hindsight", interval=0.9)
    expected = room_usage(RoomInfo("office", capacity=20), counts, OpeningHours())
    assert table.loc["office", "people_mean"] == pytest.approx(expected.mean(), rel=1e-3)
    assert table.loc["office", "in_use_hours_per_open_day"] == pytest.approx(expected.hours_per_day, rel=1e-3)
    assert table.loc["office", "seats_never_used"] == expected.seats.least
    assert table.loc["hall", "people_mean_in_use"] == 3  # stored estimates, as there is no model
    assert "No model can be used now" in page.read_text()


def test_quick_report_uses_stored_estimates(stored):
    page = stored / "report.html"
    done = occupair("report", "rooms.db", "--quick", "--room", "hall", "--out", page, cwd=stored)
    assert (done.returncode, done.stderr) == (0, "")
    hall = rooms_of(page).loc["hall"]
    assert (hall["people_mean_in_use"], hall["peak"], hall["peak_high"]) == (3, 3, 4)
    assert hall["in_use_hours_per_open_day"] == 2
    assert hall["people_mean"] == pytest.approx(6 / 9, rel=1e-3)  # 9 of 10 hours are known


def test_report_by_the_settings_of_the_service(stored):
    rooms = "".join(
        f'[rooms.{room}]\nname = "The {room}"\nfloor = "2"\ncapacity = 9\n' for room in ("hall", "office")
    )
    (stored / "rooms.toml").write_text(
        f'[service]\nstore = "sqlite:///rooms.db"\ntimezone = "{ZONE}"\n{rooms}'
    )
    done = occupair("report", "rooms.toml", "--quick", "--workers", 1, cwd=stored)
    assert done.returncode == 0
    table = rooms_of(stored / "utilisation.html")
    assert table.loc["hall", ["name", "seats"]].tolist() == ["The hall", 9]
    assert "attic" not in table.index


def test_today_is_not_reported(tmp_path):
    store = Store(f"sqlite:///{tmp_path / 'rooms.db'}")
    store.migrate()
    now = dt.datetime.now(dt.UTC)
    times = [now - dt.timedelta(minutes=15 * k) for k in range(2 * 96)]
    estimates = [
        EstimateRecord("hall", time, 1.0, None, None, (1.0,), 500.0, 500.0, None, Quality.OK)
        for time in times
    ]
    store.write([Reading("hall", now, 500.0, None, "http", now)], estimates)
    store.close()
    occupair("report", "rooms.db", "--quick", cwd=tmp_path)
    days = pd.read_csv(tmp_path / "utilisation-days.csv")["day"]
    assert days.iloc[-1] == str(now.date() - dt.timedelta(days=1))


def test_room_with_a_faulty_sensor(stored):
    """A sensor that sends 0 ppm for a day: the day is left out."""
    store = Store(f"sqlite:///{stored / 'rooms.db'}")
    newest = store.newest_reading("office").time
    times = [newest + dt.timedelta(minutes=15 * k) for k in range(1, 97)]
    store.write([Reading("office", time, 0.0, 1.0, "http", time) for time in times], [])
    store.close()
    occupair("report", "rooms.db", "--room", "office", cwd=stored)
    days = pd.read_csv(stored / "utilisation-days.csv").set_index("day")
    assert days["left_out_because"].iloc[-1] == "implausible readings"
    assert rooms_of(stored / "utilisation.html").loc["office", "good_days"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no.csv"], "no.csv: no such file or folder"),
        (["no.db"], "file not found"),
        (["sqlite:///no.db"], "file not found"),
        (["lab.csv", "--from", "1 May"], "--from must be a date such as 2026-09-01, got '1 May'"),
        (["lab.csv", "--from", "2024-01-09", "--to", "2024-01-08"], "--to must not be before --from"),
        (["lab.csv", "--hours", "9 to 5"], "hours must be a period of the day"),
        (["lab.csv", "--weekdays", "weekdays"], "weekdays must be such as mon-fri"),
        (["lab.csv", "--room", "hall"], "--room hall: no such room; there are lab"),
        (["lab.csv", "lab.csv"], "room 'lab' has two files"),
        (["lab.csv", "no.db"], "give one database or settings file and nothing else, got 2 sources"),
        (["lab.csv", "--quick"], "--quick is for a database of the live service"),
        (["lab.csv", "--column", "co2=CO2"], "--column and --dayfirst are for a model with readings"),
        (["no.db", "--dayfirst"], "--column and --dayfirst are for a model with readings"),
        (["a.occupair"], "a.occupair: give the readings of its room after it"),
        (["a.occupair", "a.occupair"], "give the readings of its room after it, got another model"),
        (["a.occupair", "."], "give one file with the readings of its room after it, got a folder"),
        (["empty"], "empty: has no files with estimates"),
        (
            ["lab.csv", "--rooms", "seats.csv"],
            "capacity of room 'lab' must be from 1 to 1,000,000, got 'many'",
        ),
        (["lab.csv", "--rooms", "no.csv"], "no.csv: cannot be read"),
        (["lab.csv", "--calendar", "no.ics"], "no.ics: no such file or folder"),
        (["lab.csv", "--out", "report.pdf"], "report.pdf: must end in .html"),
    ],
)
def test_mistakes_are_named(tmp_path, arguments, message):
    write_estimates(tmp_path / "lab.csv")
    (tmp_path / "a.occupair").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "seats.csv").write_text("room,capacity\nlab,many\n")
    done = occupair("report", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time,count\n2024-01-08 00:00,1\n2024-01-08 00:05,1\n", "has no column 'people'"),
        ("time,people\n2024-01-08 00:00,1\n2024-01-08 00:05,many\n", "must be a number, got 'many'"),
        ("time,people\n2024-01-08 00:00,\n2024-01-08 00:05,\n", "no counts in this period"),
        (
            "time,people\n2024-03-31 01:00+01:00,1\n2024-03-31 03:00+02:00,1\n",
            "give the time zone of the room",
        ),
    ],
)
def test_room_with_an_unusable_file_says_why(tmp_path, content, message):
    (tmp_path / "lab.csv").write_text(content)
    done = occupair("report", "lab.csv", cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert "No room has figures for this period." in (tmp_path / "utilisation.html").read_text()


def test_workers_give_the_same_figures(tmp_path):
    for name in ("lab", "hall"):
        write_estimates(tmp_path / f"{name}.csv", people=float(len(name)))
    pages = {}
    for workers in (1, 2):
        occupair(
            "report", ".", "--workers", workers, "--timezone", ZONE, "--out", "report.html", cwd=tmp_path
        )
        pages[workers] = rooms_of(tmp_path / "report.html")
        for path in tmp_path.glob("report*"):
            path.unlink()
    pd.testing.assert_frame_equal(pages[1], pages[2])
    assert not math.isnan(pages[1].loc["lab", "people_mean"])
