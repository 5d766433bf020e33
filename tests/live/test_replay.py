"""Replay of recorded readings over HTTP, with a real service and with a server that fails on purpose."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest
from command import occupair
from live.ports import free_port
from live.service_process import ServiceProcess

import occupair as oc
from occupair.errors import InputError
from occupair.live.replay import MAX_TRIES, ServiceClient, replay
from occupair.web.tokens import hash_token, make_token

TOKEN = make_token()
TOKENS = f'[tokens.sensor]\nrole = "write"\nhash = "{hash_token(TOKEN)}"\n[tokens.grafana]\nrole = "read"\n'
VIEWER = make_token()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model and a held-out day, in a time zone with an offset."""
    folder = tmp_path_factory.mktemp("replay")
    office = oc.simulate_office(days=4, seed=5).iloc[::5]
    office.attrs = {}
    oc.OccupancyEstimator(n_hidden=40, random_state=0).fit(office.iloc[: 3 * 288]).save(
        folder / "lab.occupair"
    )
    oc.write_readings(office.iloc[3 * 288 :], folder / "day.csv")
    return folder


@pytest.fixture(scope="module")
def service(folder):
    rooms = (
        f'{TOKENS}hash = "{hash_token(VIEWER)}"\n'
        '[rooms.lab]\nmodel = "lab.occupair"\ntimezone = "Asia/Singapore"\n'
    )
    service = ServiceProcess(
        folder,
        store=f"sqlite:///{folder}/lab.db",
        broker=None,
        rooms=rooms,
        more='clock = "readings"',
    )
    service.start()
    yield service
    service.stop()


@pytest.fixture
def run(folder, service, monkeypatch):
    monkeypatch.setenv("OCCUPAIR_TOKEN", TOKEN)

    def run(*options, room="lab", url=f"http://127.0.0.1:{service.port}"):
        return occupair("replay", "day.csv", "--room", room, "--url", url, *options, cwd=folder)

    return run


def test_help_has_an_example():
    assert "Example: occupair replay today.csv --room lab" in occupair("replay", "--help").stdout


def test_replayed_estimates_equal_those_of_the_file(run, folder, service):
    done = run("--speed", 0, "--head-counts", 60)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == "lab: 288 readings sent (288 accepted), 24 head counts."
    day = oc.read_readings(folder / "day.csv")
    expected = oc.OccupancyEstimator.load(folder / "lab.occupair").estimate(day)
    assert second.startswith(f"{round(expected.iloc[-1])} people (")
    client = ServiceClient(f"http://127.0.0.1:{service.port}", "lab", TOKEN)
    start, end = (f"{day.index[k].tz_localize('Asia/Singapore').isoformat()}" for k in (0, -1))
    query = f"history?from={start}&to={end}&limit=1000".replace("+", "%2B")
    stored = client._send(f"{client._room}/{query}")["estimates"]
    found = pd.Series({one["time"]: one["people"] for one in stored})
    times = pd.to_datetime(found.index).tz_convert("Asia/Singapore").tz_localize(None)
    known = found.notna().to_numpy()
    assert known.sum() > 280
    np.testing.assert_allclose(found[known], expected[times[known]], atol=1e-9)
    labels = client._send(f"{client._room}/labels")["labels"]
    assert [one["people"] for one in labels] == day["occupancy"][day.index.minute == 0].tolist()
    assert {one["source"] for one in labels} == {"typed"}
    again = run("--speed", 0)
    assert again.stdout.startswith("lab: 288 readings sent (288 duplicate).")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--token", ""), "an access token is required: set OCCUPAIR_TOKEN to one with the role write"),
        (("--token", VIEWER), "role write required, token 'grafana' has role read"),
        (("--speed", "-1"), "--speed must be 0 or more, got -1"),
        (("--head-counts", "0"), "--head-counts must be above 0 min, got 0"),
    ],
)
def test_wrong_option_is_refused(run, options, message):
    done = run(*options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_unknown_room_is_refused(run):
    assert "there is no room 'attic'" in run(room="attic").stderr


def test_missing_service_is_reported(run):
    done = run(url=f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 2
    assert "the service does not respond, [Errno" in done.stderr
    assert done.stderr.endswith("start it with 'occupair serve rooms.toml'\n")


@pytest.mark.parametrize("url", ["127.0.0.1:8099", "file:///etc/passwd", "http://", "http://[::1"])
def test_address_must_be_http(url):
    with pytest.raises(InputError, match=r"--url must be an address such as http://127.0.0.1:8099, got"):
        ServiceClient(url, "lab")


STATE = {"people": None, "low": None, "high": None, "time": None, "quality": "stale", "reason": "no CO2"}


class Server(HTTPServer):
    """Answers requests from a list of (status, headers, body); the last answer repeats."""

    def __init__(self, answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.received = list(answers), []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self._answer(200, {}, {"state": STATE})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.received.append(body)
        answers = self.server.answers
        self._answer(*(answers.pop(0) if len(answers) > 1 else answers[0]))

    def _answer(self, status, headers, body):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def serve():
    servers = []

    def serve(*answers):
        server = Server(answers)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return server

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def outcomes(number, outcome="accepted", **more):
    return (200, {}, {"outcomes": [{"time": None, "outcome": outcome, **more}] * number})


class FakeClock:
    """A clock that only sleeping advances."""

    def __init__(self):
        self.now, self.waits = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.waits.append(seconds)
        self.now += seconds


def table(times, **columns):
    return pd.DataFrame({"co2": 500.0, **columns}, index=pd.DatetimeIndex(times))


def test_readings_keep_their_pace_and_long_gaps_are_shortened(serve):
    server, clock = serve(outcomes(1)), FakeClock()
    readings = table(["2026-03-02 08:00", "2026-03-02 08:01", "2026-03-02 08:03", "2026-03-05 08:00"])
    replay(readings, ServiceClient(server.url, "lab"), speed=60, sleep=clock.sleep, clock=clock)
    assert clock.waits == [0, 1, 2, 60]  # the gap of three days counts as an hour
    assert [one["time"] for (one,) in server.received] == [time.isoformat() for time in readings.index]


def test_readings_that_are_due_together_are_one_request(serve):
    server, clock = serve(outcomes(3)), FakeClock()
    readings = table(pd.date_range("2026-03-02 08:00", periods=6, freq="min"))
    done = replay(readings, ServiceClient(server.url, "lab"), speed=600, sleep=clock.sleep, clock=clock)
    assert [len(body) for body in server.received] == [3, 3]  # 0, 0.1 and 0.2 s; 0.3, 0.4 and 0.5 s
    assert done.outcomes == {"accepted": 6}


def test_missing_values_of_sensors_are_not_sent(serve):
    server = serve(outcomes(2))
    readings = table(
        pd.date_range("2026-03-02 08:00", periods=2, freq="min", tz="UTC"), humidity=[np.nan, 40.0]
    )
    replay(readings, ServiceClient(server.url, "lab"), speed=0)
    ((first, second),) = server.received
    assert first == {"time": "2026-03-02T08:00:00+00:00", "co2": 500.0}
    assert second["humidity"] == 40.0


@pytest.mark.parametrize("status", [429, 503])
def test_request_is_repeated_when_the_service_asks_for_it(serve, status):
    clock = FakeClock()
    server = serve((status, {"Retry-After": "7"}, {"detail": "later"}), outcomes(1))
    client = ServiceClient(server.url, "lab", sleep=clock.sleep)
    done = replay(table(["2026-03-02 08:00"]), client, speed=0)
    assert (clock.waits, done.outcomes, len(server.received)) == ([7], {"accepted": 1}, 2)


def test_wait_before_a_repeated_request_is_limited(serve):
    clock = FakeClock()
    server = serve((503, {"Retry-After": "9" * 30}, {"detail": "later"}), outcomes(1))
    replay(table(["2026-03-02 08:00"]), ServiceClient(server.url, "lab", sleep=clock.sleep), speed=0)
    assert clock.waits == [60]


def test_token_must_fit_in_a_header():
    with pytest.raises(InputError, match="--token must be an access token as printed by 'occupair token'"):
        ServiceClient("http://127.0.0.1:8099", "lab", "abc\n")


def test_busy_service_is_given_up(serve):
    clock = FakeClock()
    server = serve((503, {"Retry-After": "1"}, {"detail": "the database is unavailable"}))
    client = ServiceClient(server.url, "lab", sleep=clock.sleep)
    with pytest.raises(InputError, match="the database is unavailable"):
        replay(table(["2026-03-02 08:00"]), client, speed=0)
    assert len(server.received) == MAX_TRIES


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, {}, b"<html>"), "is not the live service: its response is not a JSON object"),
        ((200, {}, []), "is not the live service: its response is not a JSON object"),
        ((200, {}, {"ok": True}), "is not the live service: its response has no outcomes"),
        ((301, {"Location": "https://x.test/"}, b""), "redirects to https://x.test/: use its address"),
        ((404, {}, b"<html>"), "the server responded 404 Not Found; is it the live service?"),
    ],
)
def test_other_server_is_reported(serve, answer, message):
    server = serve(answer)
    with pytest.raises(InputError, match=message):
        replay(table(["2026-03-02 08:00"]), ServiceClient(server.url, "lab"), speed=0)


def test_other_server_is_reported_before_readings_are_sent(serve, monkeypatch):
    server = serve(outcomes(1))
    monkeypatch.setattr(Handler, "do_GET", lambda self: self._answer(200, {}, {"rooms": []}))
    with pytest.raises(InputError, match="is not the live service: its response has no state"):
        replay(table(["2026-03-02 08:00"]), ServiceClient(server.url, "lab"), speed=0)
    assert server.received == []


def test_rejected_readings_and_a_wrong_clock_are_reported(serve, tmp_path):
    server = serve(outcomes(2, "future", detail="the time is in the future"))
    (tmp_path / "day.csv").write_text("time,co2\n2026-03-02 08:00,500\n2026-03-02 08:01,501\n")
    done = occupair("replay", "day.csv", "--room", "lab", "--url", server.url, "--speed", 0, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == "lab: 2 readings sent (2 future).\nCount unknown: no CO2.\n"
    assert 'set clock = "readings" in [service]' in done.stderr
    assert "occupair: 2 readings rejected: the time is in the future" in done.stderr


def test_ventilation_is_on_the_scale_of_the_model(serve, tmp_path):
    """A day that reaches a quarter of the full flow is not taken for full ventilation."""
    office = oc.simulate_office(days=2, seed=1).iloc[::10]
    office.attrs = {}
    flow = office.assign(**{"Supply air [m3/h]": 4000 * office.pop("ventilation")}).rename_axis("time")
    flow.to_csv(tmp_path / "train.csv")
    times = pd.date_range("2026-03-02 08:00", periods=3, freq="10min", name="time")
    pd.DataFrame({"co2": 500.0, "Supply air [m3/h]": [0, 500, 1000]}, times).to_csv(tmp_path / "day.csv")
    model = oc.OccupancyEstimator(n_hidden=20, random_state=0).fit(oc.read_readings(tmp_path / "train.csv"))
    model.save(tmp_path / "lab.occupair")
    server = serve(outcomes(3))
    options = ("--room", "lab", "--url", server.url, "--speed", 0, "--model", "lab.occupair")
    assert occupair("replay", "day.csv", *options, cwd=tmp_path).returncode == 0
    sent = [one["ventilation"] for one in server.received[0]]
    assert sent == pytest.approx([500 * k / model.ventilation_full_ for k in range(3)])
    assert sent[-1] < 0.5
