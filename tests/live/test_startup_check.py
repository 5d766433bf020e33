"""``serve --check``: room summaries, warnings, and files that cannot be read."""

import pytest

import occupair as oc
from occupair.errors import InputError
from occupair.live.config import read_config
from occupair.live.startup_check import check_config, check_files

HASH = "sha256:" + "0123456789abcdef" * 4


@pytest.fixture
def model(tmp_path, trained_room):
    trained_room.save(tmp_path / "one.occupair")
    return trained_room


def test_summary_of_each_room(read, model):
    report = check_config(
        read(
            '[mqtt]\nhost = "localhost"\n[service]\ntimezone = "Asia/Singapore"\n'
            '[rooms.a]\nname = "Room A"\nmodel = "one.occupair"\nco2 = "z/a"\n'
            'ventilation = {topic = "v", full = 100}\n'
            '[rooms.b]\nco2 = {topic = "b", path = "x.y"}\n'
            '[rooms.c]\nco2 = "c"\narea = 60\nheight = 3\ncapacity = 24\n'
        )
    )
    assert report.rooms == [
        "a: Room A; one.occupair, a reading every 5 min, with ventilation; co2 from z/a, ventilation from "
        "v, full at 100; Asia/Singapore",
        "b: b; no model; co2 from b (json x.y); Asia/Singapore",
        "c: c; no model, starts from its size and seats; co2 from c; Asia/Singapore",
    ]
    assert report.warnings == [
        "b: has no model: occupancy is unknown until it is trained, or set volume and capacity"
    ]
    assert report.mistakes == ""


def test_warnings_about_passwords_and_readings(read, write, model, slow_office):
    path = write(
        '[mqtt]\nhost = "broker"\npassword = "hush"\n[rooms.a]\nmodel = "one.occupair"\nstale_after = 6\n'
    )
    path.chmod(0o644)
    report = check_config(read_config(path, {"OCCUPAIR_PROT": "80", "OCCUPAIR_DATA": "/data"}))
    assert report.warnings == [
        "the MQTT password is sent to broker unencrypted: set mqtt.tls = true",
        f"{path} contains a password and is world-readable: chmod 640",
        "OCCUPAIR_PROT is set but is not a setting of the service",
        "a: has no source of co2: readings arrive over HTTP only",
        "a: model was trained on local times but the room is in UTC: set the timezone of the room",
        "a: stale_after is 6 min with a reading every 5 min",
    ]
    assert "hush" not in "".join(report.warnings)
    path.chmod(0o640)
    assert not [text for text in check_config(read_config(path, {})).warnings if "world-readable" in text]


def test_warnings_about_outdoor_air(read, tmp_path, slow_office):
    paper = oc.OccupancyEstimator.paper(n_hidden=15, n_draws=1, random_state=0)
    paper.fit(slow_office.tz_localize("Europe/Oslo")).save(tmp_path / "paper.occupair")
    text = (
        '[service]\ntimezone = "Europe/Oslo"\n[rooms.a]\nmodel = "paper.occupair"\nventilation = "v"\n'
        'co2 = "c"\ncapacity = 20\narea = 50\noutdoor_air = {standard = "EN 16798-1", maximum = 120}\n'
    )
    assert check_config(read(f'[mqtt]\nhost = "localhost"\n{text}')).warnings == [
        "a: outdoor_air.maximum is 120 L/s, but EN 16798-1 requires 175 L/s for 20 people",
        "a: model has no prediction intervals: outdoor_air is always the design flow",
    ]


def test_warnings_about_sensors_that_send_rarely(read, model, tmp_path, office):
    minutes = office.iloc[: 2 * 1440].drop(columns="ventilation").tz_localize("Europe/Oslo")
    type(model)(n_hidden=15, random_state=0).fit(minutes).save(tmp_path / "minutes.occupair")
    head = '[mqtt]\nhost = "localhost"\n[service]\ntimezone = "Europe/Oslo"\n[rooms.a]\nmodel = '
    lorawan = f'{head}"minutes.occupair"\nco2 = {{topic = "v3/a@ttn/devices/b/up", shape = "ttn"}}\n'
    rule = "a: readings more than 10 min apart give no estimates: set interval if the LoRaWAN sensor sends"
    assert check_config(read(lorawan)).warnings == [f"{rule} less often"]
    held = (
        "a: model was trained on a reading every 1 min, the sensor sends every 15 min: values are held in "
        "between, estimates are less accurate"
    )
    assert check_config(read(f"{lorawan}interval = 15\n")).warnings == [held]
    rare = "a: stale_after is 20 min with a reading every 15 min"
    assert check_config(read(f"{lorawan}interval = 15\nstale_after = 20\n")).warnings == [held, rare]
    assert check_config(read(f"{lorawan}interval = 1\n")).warnings == []


def test_warnings_about_topics_time_zones_and_listening(read, write, tmp_path, slow_office, trained_room):
    zoned = slow_office.tz_localize("Asia/Singapore").drop(columns="ventilation")
    type(trained_room)(n_hidden=20, random_state=0).fit(zoned).save(tmp_path / "zoned.occupair")
    text = '[rooms.a]\nmodel = "zoned.occupair"\nco2 = "a"\nventilation = "b"\n'
    assert check_config(read(text)).warnings == [
        "a: has topics but there is no [mqtt]: readings arrive over HTTP only",
        "a: model was trained without ventilation: values of ventilation are stored but not used",
        "a: model was trained in Asia/Singapore but the room is in UTC: days start at midnight in "
        "Asia/Singapore",
    ]
    write("hush", "secret").chmod(0o644)
    tokens = f'[service]\nhost = "0.0.0.0"\n[tokens.a]\nrole = "read"\nhash = "{HASH}"\n'
    report = check_config(
        read(f'{tokens}[mqtt]\nhost = "localhost"\npassword_file = "secret"\n[rooms.a]\nco2 = "a"')
    )
    assert report.warnings[:2] == [
        "listens on 0.0.0.0 without TLS: put a reverse proxy with TLS in front",
        f"{tmp_path / 'secret'} contains a password and is world-readable: chmod 600",
    ]


def test_unreadable_models_and_certificates(read, write, tmp_path):
    write('{"format":"occupair model"', "broken.occupair")
    config = read(
        '[mqtt]\nhost = "b"\ntls = true\nca_file = "ca.pem"\n'
        '[rooms.a]\nmodel = "none.occupair"\n[rooms.b]\nmodel = "broken.occupair"\n[rooms.c]\nmodel = "."\n'
    )
    toml = tmp_path / "rooms.toml"
    model = "must be a model file written by 'occupair fit'"
    mistakes = check_config(config).mistakes.splitlines()
    assert mistakes[0] == f"{toml}, line 4, mqtt.ca_file: must be an existing file, got '{tmp_path}/ca.pem'"
    assert mistakes[1] == (
        f"{toml}, line 6, rooms.a.model: {model}: {tmp_path}/none.occupair: No such file or directory"
    )
    assert mistakes[2].startswith(f"{toml}, line 8, rooms.b.model: {model}: {tmp_path}/broken.occupair: ")
    assert mistakes[3].startswith(f"{toml}, line 10, rooms.c.model: {model}: ")
    with pytest.raises(InputError) as caught:
        check_files(config)
    assert [line.partition(": ")[0] for line in str(caught.value).splitlines()] == [
        f"{toml}, line 4, mqtt.ca_file",
        f"{toml}, line 6, rooms.a.model",
        f"{toml}, line 10, rooms.c.model",
    ]


def test_existing_files_pass_the_check(read, model):
    assert check_files(read('[rooms.a]\nmodel = "one.occupair"\n')) is None


def test_file_without_read_permission_is_refused(read, model, monkeypatch):
    config = read('[rooms.a]\nmodel = "one.occupair"\n')
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root can read every file
    with pytest.raises(InputError, match=r"line 2, rooms.a.model: must be readable by this user, got"):
        check_files(config)


def test_store_is_tried_and_not_created(read, tmp_path):
    assert check_config(read("[rooms.a]\n")).store == (
        f"store sqlite:///{tmp_path}/occupair.db: no tables yet, created at start"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["rooms.toml"]


def test_unusable_store_is_a_mistake_with_its_place(read, tmp_path):
    rule = "must be a database that the service can use"
    report = check_config(read('[service]\nstore = "sqlite:///none/rooms.db"\n[rooms.a]\n'))
    assert report.store == ""
    assert report.mistakes == (
        f"{tmp_path}/rooms.toml, line 2, service.store: {rule}: store sqlite:///{tmp_path}/none/rooms.db: "
        f"the folder {tmp_path}/none does not exist"
    )
    environ = {"OCCUPAIR_STORE": "postgresql://me:hush@127.0.0.1:1/rooms"}
    (mistake,) = check_config(read("[rooms.a]\n", environ)).mistakes.splitlines()
    assert mistake.startswith(f"OCCUPAIR_STORE: {rule}: store postgresql://me@127.0.0.1:1/rooms: ")
    assert "hush" not in mistake
