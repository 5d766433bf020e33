"""Inputs that once failed still meet the contract, and every target still runs."""

from pathlib import Path

import pytest

from tools.fuzz.target import load_target, target_names
from tools.fuzz.targets.http import close_service
from tools.fuzz.trial import attempt

SEEDS = Path(__file__).parent / "seeds"
FILES = sorted(path for path in SEEDS.rglob("*") if path.is_file())
SLOW = {"backup": 3, "model": 5, "http": 20}  # fresh inputs of targets that are slow to start or to run
FRESH = 25


@pytest.fixture(scope="module", autouse=True)
def _stopped_service():
    yield
    close_service()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_kept_input_meets_the_contract(path):
    outcome = attempt(load_target(path.parent.name), path.read_bytes())
    assert outcome.kind in ("accepted", "rejected"), outcome.message


@pytest.mark.parametrize("name", target_names())
def test_fresh_inputs_meet_the_contract(name):
    target = load_target(name)
    for number in range(SLOW.get(name, FRESH)):
        outcome = attempt(target, target.input(1, number))
        assert outcome.kind in ("accepted", "rejected"), (number, outcome.message)


def test_every_kept_input_has_a_target():
    assert len(FILES) > 20
    assert {path.parent.name for path in FILES} <= set(target_names())
