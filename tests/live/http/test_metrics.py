"""Figures for Prometheus."""

import time
from importlib.metadata import version

import pytest
from live.fake_pipeline import START, Client, FakePipeline, make_config, make_state
from prometheus_client import REGISTRY
from prometheus_client.parser import text_string_to_metric_families

from occupair.live.http.app import make_app
from occupair.live.messages import Quality, ReadingOutcome
from occupair.live.rooms.interval_correction import IntervalCorrection


def scrape(pipeline):
    return read(Client(make_app(pipeline, pipeline.config)))


def read(ask):
    """Return all samples by name and labels, as parsed by the Prometheus client."""
    answer = ask("GET", "/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    found = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in found
            found[key] = sample.value
    return found


@pytest.fixture
def pipeline():
    return FakePipeline(make_config())


def test_room_metrics(pipeline):
    pipeline.publish(make_state("lab", 3, outdoor_air=56.0, damper=0.5))
    found = scrape(pipeline)
    lab = ("room", "lab")
    assert {key: value for key, value in found.items() if lab in key} == {
        ("occupair_room_people", lab): 3.0,
        ("occupair_room_people_low", lab): 1.5,
        ("occupair_room_people_high", lab): 4.5,
        ("occupair_room_occupied", lab): 1.0,
        ("occupair_room_co2_ppm", lab): 812.0,
        ("occupair_room_ventilation", lab): 0.5,
        ("occupair_room_outdoor_air_liters_per_second", lab): 56.0,
        ("occupair_room_damper", lab): 0.5,
        ("occupair_room_baseline_shift_ppm", lab): 42.5,
        ("occupair_room_time_seconds", lab): START.timestamp(),
        ("occupair_room_quality", ("quality", "ok"), lab): 1.0,
    }


def test_running_coverage_of_labelled_rooms(pipeline):
    pipeline.corrections["lab"] = IntervalCorrection((1,), ((1.0, 1.0), (0.75, 1.5)), covered=17, labels=20)
    found = scrape(pipeline)
    lab = ("room", "lab")
    assert {key: value for key, value in found.items() if "interval" in key[0]} == {
        ("occupair_room_interval_coverage", lab): 0.85,
        ("occupair_room_interval_labels", lab): 20.0,
        ("occupair_room_interval_factor", ("limit", "low"), lab): 0.75,
        ("occupair_room_interval_factor", ("limit", "high"), lab): 1.5,
    }


def test_unknown_value_has_no_series(pipeline):
    unknown = dict.fromkeys(("low", "high", "co2", "ventilation", "time", "baseline_shift"))
    pipeline.publish(make_state("lab", None, quality=Quality.STALE, reason="silent", **unknown))
    found = [key for key in scrape(pipeline) if ("room", "lab") in key]
    assert found == [("occupair_room_quality", ("quality", "stale"), ("room", "lab"))]


def test_service_metrics(pipeline):
    pipeline.counters["mqtt", ReadingOutcome.ACCEPTED] = 7
    pipeline.counters["http", ReadingOutcome.NONSENSE] = 2
    pipeline.estimates_total = 11
    pipeline.waiting = 5
    pipeline.publish(make_state("lab", None, quality=Quality.STALE))
    found = scrape(pipeline)
    assert found["occupair_readings_total", ("outcome", "accepted"), ("source", "mqtt")] == 7
    assert found["occupair_readings_total", ("outcome", "nonsense"), ("source", "http")] == 2
    assert found[("occupair_estimates_total",)] == 11
    assert found[("occupair_store_queue",)] == 5
    assert found[("occupair_up",)] == 1
    assert found[("occupair_event_streams",)] == 0
    assert found["occupair_build_info", ("version", version("occupair"))] == 1
    rooms = {quality: found["occupair_rooms", ("quality", quality.value)] for quality in Quality}
    assert rooms == dict.fromkeys(Quality, 0) | {Quality.STALE: 1, Quality.OK: 1}
    assert found[("process_resident_memory_bytes",)] > 1e6
    for parts in ({"store": "gone"}, {"mqtt": "connecting"}):
        pipeline.part_status = parts
        assert scrape(pipeline)[("occupair_up",)] == 0


def test_delays_are_counted_by_length(pipeline):
    ask = Client(make_app(pipeline, pipeline.config))
    buckets = {"0.05": 0, "0.1": 0, "0.25": 0, "0.5": 0, "1.0": 0, "2.0": 0, "5.0": 0, "10.0": 0}
    name = "occupair_estimate_delay_seconds"

    def counted():
        found = read(ask)
        return [found[f"{name}_bucket", ("le", le)] for le in [*buckets, "+Inf"]] + [found[(f"{name}_sum",)]]

    assert counted() == [0] * 9 + [0]
    pipeline.delays.add([0.03125, 0.375, 0.375])
    assert counted() == [1, 1, 1, 3, 3, 3, 3, 3, 3, 0.78125]
    assert counted() == [1, 1, 1, 3, 3, 3, 3, 3, 3, 0.78125]
    pipeline.delays.add([1.5, 100.0])
    assert counted() == [1, 1, 1, 3, 3, 4, 4, 4, 5, 102.28125]


def test_room_metrics_can_be_disabled():
    pipeline = FakePipeline(make_config(room_metrics=False))
    found = scrape(pipeline)
    assert not [key for key in found if key[0].startswith("occupair_room_")]
    assert found["occupair_rooms", ("quality", "ok")] == 2


def test_registry_is_not_global(pipeline):
    names = set(REGISTRY._names_to_collectors)
    other = FakePipeline(make_config("attic"))
    one, two = make_app(pipeline, pipeline.config), make_app(other, other.config)
    rooms = [
        {dict(key[1:])["room"] for key in read(Client(app)) if key[0] == "occupair_room_people"}
        for app in (one, two)
    ]
    assert rooms == [{"lab", "kitchen"}, {"attic"}]
    assert set(REGISTRY._names_to_collectors) == names


def test_metrics_of_2000_rooms(record_property):
    pipeline = FakePipeline(make_config(*(f"room-{place}" for place in range(2000))))
    ask = Client(make_app(pipeline, pipeline.config))
    ask("GET", "/metrics")
    began = time.process_time()
    answer = ask("GET", "/metrics")
    took = time.process_time() - began
    record_property("seconds", took)
    assert answer.text.count("occupair_room_people{") == 2000
    assert took < 1.0, f"a scrape took {took:.2f} s of a core"
