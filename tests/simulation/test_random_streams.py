import pytest

from occupair.simulation.random_streams import generator


def test_same_stream_gives_same_numbers():
    assert generator(1, "noise", 2, 3).random() == generator(1, "noise", 2, 3).random()


@pytest.mark.parametrize(
    "other", [(2, "noise", 2, 3), (1, "passing", 2, 3), (1, "noise", 3, 3), (1, "noise", 2, 4)]
)
def test_other_stream_gives_other_numbers(other):
    assert generator(1, "noise", 2, 3).random() != generator(*other).random()
