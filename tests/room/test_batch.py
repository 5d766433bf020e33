"""Rooms that cannot be evaluated as a batch."""

from types import SimpleNamespace

import pytest

from occupair.errors import InputError
from occupair.room.batch import RoomBatch


def model(**changes):
    """Return what a batch checks first of a model."""
    return SimpleNamespace(**{"interval": 1.0, "smoothing": 50.0, "lags": (0, 20)} | changes)


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([], "models must contain at least one trained room, got none"),
        ([model(), model(interval=5.0)], "models must all have the same interval and the same smoothing"),
        ([model(), model(smoothing=10.0)], "models must all have the same interval and the same smoothing"),
        ([model(), model(lags=(0,))], "models must all have the same lags: train them with the same version"),
    ],
)
def test_models_that_do_not_match_are_rejected(models, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        RoomBatch(models, 0.9)
