"""Everything that depends on the lags follows from ``occupair.room.lags``."""

import json
import subprocess
import sys

import pytest

from occupair.room import lags

ANOTHER_LAG = """
import inspect, json, sys, types
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

source = Path(find_spec("occupair.room.lags").origin).read_text(encoding="utf-8")
for old, new in json.loads(sys.argv[1]).items():
    assert old in source
    source = source.replace(old, new)
module = types.ModuleType("occupair.room.lags")
exec(compile(source, "lags.py", "exec"), vars(module))
sys.modules["occupair.room.lags"] = module

import occupair as oc
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.live.http.schemas import Estimate, State
from occupair.live.messages import RoomState
from occupair.live.mqtt.discovery import state_payload
from occupair.live.store.schema import estimates
from occupair.model_file import dump_model, parse_model

office = oc.simulate_office(days=3, seed=0).iloc[::10]
model = parse_model(dump_model(oc.OccupancyEstimator(n_hidden=5, random_state=0).fit(office)))
payload = state_payload(RoomState(**dict.fromkeys(field.name for field in fields(RoomState))))
print(json.dumps({
    "group_s": model.room_.refinements[0].layer.sizes[-1],
    "refinements": [one.lag for one in model.room_.refinements],
    "estimates": len(model.estimate(office, lag=30)),
    "benchmark": inspect.signature(run_benchmark).parameters["lags"].default,
    "store": [name for name in estimates.c.keys() if name.startswith("people_")],
    "http": [
        [name for name in schema.model_json_schema(mode="serialization")["properties"] if "people_" in name]
        for schema in (State, Estimate)
    ],
    "mqtt": [name for name in json.loads(payload) if "people_" in name],
}))
"""


def derived(**changes):
    command = [sys.executable, "-W", "ignore", "-c", ANOTHER_LAG, json.dumps(changes)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_published_lag_is_one_of_the_lags():
    assert lags.PUBLISHED_LAG in lags.LAGS
    assert lags.PUBLISHED_FIELD == "people_20"


def test_lags_increase():
    assert list(lags.LAGS) == sorted(set(lags.LAGS))


@pytest.mark.parametrize(
    ("lag", "interval", "readings"), [(20, 1, 20), (20, 15, 1), (10, 15, 0), (10, 0.1, 100)]
)
def test_lag_in_readings(lag, interval, readings):
    assert lags.lag_in_readings(lag, interval) == readings


def test_columns_models_benchmark_and_published_names_follow_from_lags():
    pytest.importorskip("fastapi")
    pytest.importorskip("sqlalchemy")
    found = derived(
        **{
            "REFINEMENT_LAGS = (10.0, 20.0)\n": "REFINEMENT_LAGS = (10.0, 20.0, 30.0)\n",
            "PUBLISHED_LAG = 20.0\n": "PUBLISHED_LAG = 30.0\n",
        }
    )
    assert found["group_s"] == 4
    assert found["refinements"] == [0, 1, 2, 3]
    assert found["estimates"] == 3 * 144
    assert found["benchmark"] == [0, 10, 20, 30]
    assert found["store"] == ["people_30"]
    assert found["http"] == [["people_exact", "people_30"], ["people_30"]]
    assert found["mqtt"] == ["people_exact", "people_30"]
