"""Model files, also with a checksum that matches their changed content."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import math
from functools import cache
from random import Random
from typing import Any

import occupair
from occupair.model_file import dump_model, parse_model
from tools.fuzz.byte_mutations import mutate_bytes, random_bytes
from tools.fuzz.json_mutations import mutate_json
from tools.fuzz.trial import check

_START = dt.datetime(2024, 1, 8, 9, tzinfo=dt.UTC)
_NAMES = (
    "room", "layer", "coef", "scale", "parameters", "interval", "air", "sensors", "comparison", "closed",
    "kind", "n_hidden", "refinements", "lags", "timezone", "z_max",
)  # fmt: skip


@cache
def _models() -> tuple[bytes, ...]:
    """Return small models of all kinds."""
    readings = occupair.simulate_office(days=3, seed=3).iloc[::10].tz_localize("UTC")
    paper = occupair.OccupancyEstimator.paper(n_hidden=3, n_draws=1, random_state=0).fit(readings)
    elm = occupair.OccupancyEstimator.paper(n_hidden=3, n_draws=1, layer="elm", smoothing=0, random_state=0)
    room = occupair.OccupancyEstimator(n_hidden=3, n_draws=1, random_state=0).fit(readings)
    return tuple(dump_model(one) for one in (room, paper, elm.fit(readings)))


@cache
def _documents() -> tuple[Any, ...]:
    return tuple(json.loads(one) for one in _models())


def generate(random: Random) -> bytes:
    chance = random.random()
    if chance < 0.02:
        return random_bytes(random)
    place = random.choices(range(3), (2, 2, 1))[0]
    if chance < 0.1:
        return mutate_bytes(_models()[place], random)
    document = _documents()[place]
    if chance < 0.2:
        return _text(mutate_json(document, random, _NAMES), None)
    return _text(document, mutate_json(document["model"], random, _NAMES))


def _text(document: Any, model: Any) -> bytes:
    """Return the text of a document with another model, and its checksum as in `occupair.model_file`."""
    if model is None:
        return json.dumps(document, separators=(",", ":")).encode()
    text = json.dumps(model, sort_keys=True, separators=(",", ":"))
    checksum = "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    head = f'{{"format":"occupair model","version":{document["version"]},"checksum":"{checksum}"'
    return f'{head},"model":{text}}}\n'.encode()


def run(data: bytes) -> None:
    """Load a model, use it for three readings, and write it again."""
    estimator = parse_model(data)
    room = estimator.live()
    for step in range(3):
        time = _START + step * dt.timedelta(minutes=float(estimator.interval_))
        found = room.update(time, 600.0 + 50 * step, 0.5 if estimator.uses_ventilation_ else None)
        check(found is None or math.isfinite(found.people), "estimate must be finite")
    again = dump_model(estimator)
    check(dump_model(parse_model(again)) == again, "model must be the same after writing and reading")
