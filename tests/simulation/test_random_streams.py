import pytest

from occupair.simulation.random_streams import generator


def test_the_same_names_give_the_same_numbers():
    assert generator(1, "noise", 2, 3).random() == generator(1, "noise", 2, 3).random()


@pytest.mark.parametrize(
    "other", [(2, "noise", 2, 3), (1, "passing", 2, 3), (1, "noise", 3, 3), (1, "noise", 2, 4)]
)
def test_any_other_name_gives_other_numbers(other):
    assert generator(1, "noise", 2, 3).random() != generator(*other).random()
