"""Trained rooms for tests, trained once."""

import functools

from fleet.portfolio import room_readings

import occupair as oc
from occupair.fleet.fit_tasks import model_name
from occupair.fleet.storage import Storage
from occupair.model_file import dump_model, parse_model


@functools.cache
def model_of_room(seed, zone=None, random_state=0):
    """Return the model file of a room of the portfolio, trained without ventilation on times of a zone."""
    if zone is not None:
        estimator = parse_model(model_of_room(seed, None, random_state))
        estimator.timezone_ = zone
        return dump_model(estimator)
    readings = room_readings(seed, 4).drop(columns="ventilation")
    return dump_model(oc.OccupancyEstimator(random_state=random_state).fit(readings))


def write_model(folder, room, content):
    """Write a model as ``fleet fit`` does, and return its estimator."""
    Storage(str(folder)).write(model_name(room), content)
    return parse_model(content)
