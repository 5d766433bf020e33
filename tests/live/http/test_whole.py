"""HTTP interface with the real pipeline and the real store."""

import asyncio
import pickle

import httpx
import pytest
from live.fake_pipeline import error_detail

import occupair as oc
from occupair.live.config import RoomConfig, ServiceConfig
from occupair.live.http.app import make_app
from occupair.live.http.rfc3339 import format_time
from occupair.live.http.state_json import estimates_json
from occupair.live.pipeline import Pipeline
from occupair.live.store import Store
from occupair.model_file import dump_model

OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def office():
    return oc.simulate_office(days=4, seed=3).iloc[::5].tz_localize("UTC")


@pytest.fixture(scope="module")
def model(office):
    return dump_model(oc.OccupancyEstimator(n_hidden=15, random_state=0).fit(office.iloc[: 3 * 288]))


@pytest.fixture
def with_service(tmp_path):
    """Run some work with a client of a service that is started and stopped."""
    config = ServiceConfig(
        store=f"sqlite:///{tmp_path}/rooms.db", clock="readings", rooms={"lab": RoomConfig(id="lab")}
    )

    async def run(work):
        store = Store(config.store)
        store.migrate()
        pipeline = Pipeline(config, store)
        await pipeline.start()
        transport = httpx.ASGITransport(make_app(pipeline, config))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            await work(client, store)
        await pipeline.stop()
        store.close()

    return lambda work: asyncio.run(run(work))


def test_readings_to_estimates(with_service, office, model):
    day = office.iloc[3 * 288 :].iloc[:60]
    sent = [
        {"time": format_time(time), "co2": co2, "ventilation": flow}
        for time, co2, flow in zip(day.index, day["co2"], day["ventilation"], strict=True)
    ]

    async def work(client, store):
        uploaded = await client.post("/api/rooms/lab/models", content=model, headers=OCTETS)
        assert uploaded.status_code == 201, uploaded.text
        path = f"/api/rooms/lab/models/{uploaded.json()['version']}"
        assert (await client.get(path)).content == model
        answer = await client.post("/api/rooms/lab/readings", json=sent)
        assert {one["outcome"] for one in answer.json()["outcomes"]} == {"accepted"}
        assert [reading.co2 for reading in store.readings("lab", None, None)] == list(day["co2"])
        again = await client.post("/api/rooms/lab/readings", json={"readings": sent})
        assert {one["outcome"] for one in again.json()["outcomes"]} == {"duplicate"}

        kept = store.estimates("lab", None, None, limit=1000)
        assert len(kept) >= 60
        pages, after = [], {}
        while after is not None:
            page = (await client.get("/api/rooms/lab/history", params={"limit": 7, **after})).text
            pages.append(page.removeprefix('{"estimates":[').rpartition('],"next":')[0])
            following = page.rpartition('"next":')[2].strip('"}')
            after = None if following == "null" else {"after": following}
        assert f"[{','.join(filter(None, pages))}]" == estimates_json(kept)

        state = (await client.get("/api/rooms/lab")).json()["state"]
        assert state["co2"] == day["co2"].iloc[-1]
        metrics = (await client.get("/metrics")).text
        assert 'occupair_readings_total{outcome="accepted",source="http"} 60.0' in metrics

    with_service(work)


def test_model_file_is_never_executed(with_service, model, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "bomb"), "w"))

    header, content_of_model = model.split(b'"model":')

    async def work(client, store):
        for content in (
            pickle.dumps(Bomb()),
            b"",
            b"{}",
            model[:-20],
            header + b'"model":' + content_of_model.replace(b"1", b"2", 1),
            b"\x00" * 999,
        ):
            answer = await client.post("/api/rooms/lab/models", content=content, headers=OCTETS)
            assert answer.status_code == 409
            assert error_detail(answer).startswith("the file ")
        assert store.models("lab") == []
        assert not (tmp_path / "bomb").exists()

    with_service(work)


def test_extreme_readings_do_not_stop_the_service(with_service):
    times = ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59Z", "2026-03-02T08:00:00Z"]
    values = [0, -1, 1e308, -1e308, 5e-324, 10**30, 400]

    async def work(client, store):
        for time in times:
            for value in values:
                for body in ({"co2": value}, {"ventilation": value}):
                    answer = await client.post("/api/rooms/lab/readings", json={"time": time, **body})
                    assert answer.status_code == 200
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/api/rooms")).status_code == 200
        assert (await client.get("/metrics")).status_code == 200
        assert (await client.get("/api/rooms/lab/history")).status_code == 200

    with_service(work)
