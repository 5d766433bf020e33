"""The contract is checked: whatever breaks it is a finding."""

import time
import warnings

import pytest

from occupair.errors import InputError
from tools.fuzz import trial
from tools.fuzz.shrinking import shrink
from tools.fuzz.target import Target, load_target, target_names
from tools.fuzz.trial import attempt, broken_rule, check


def target(run, **options):
    return Target("example", lambda random: b"", run, **options)


def refuse(message):
    def run(data):
        error = InputError("x")
        error.args = (message,)  # as it is, without the escapes of InputError
        raise error

    return run


def test_accepted_and_rejected_inputs_are_no_findings():
    assert attempt(target(lambda data: None), b"").kind == "accepted"
    assert attempt(target(refuse("room.csv: is empty")), b"").kind == "rejected"


@pytest.mark.parametrize(
    "error", [KeyError("a"), RecursionError(), MemoryError(), SystemExit(1), AssertionError()]
)
def test_other_exception_is_a_finding(error):
    def run(data):
        raise error

    outcome = attempt(target(run), b"")
    assert (outcome.kind, outcome.cause.split(",")[0]) == ("finding", type(error).__name__)
    assert "Traceback" in outcome.message


def test_warning_is_a_finding():
    outcome = attempt(target(lambda data: warnings.warn("overflow", RuntimeWarning, stacklevel=1)), b"")
    assert outcome.cause.startswith("RuntimeWarning")


def test_broken_rule_of_an_accepted_input_is_a_finding():
    assert attempt(target(lambda data: check(False, "value must be finite")), b"").cause.startswith(
        "ContractError"
    )


@pytest.mark.parametrize(
    ("message", "rule"),
    [
        ("", "is empty"),
        ("a\nb", "has control characters or several lines"),
        ("a \x1b[31m", "has control characters or several lines"),
        ("a \ud800", "has control characters or several lines"),
        ("x" * 2001, "is longer than 2000 characters"),
        ("<function run at 0x7f45b0bfd6c0>", "has a memory address"),
        ("Traceback (most recent call last):", "has a traceback"),
    ],
)
def test_message_that_is_no_plain_line_is_a_finding(message, rule):
    assert broken_rule(message) == rule
    assert attempt(target(refuse(message)), b"").cause.startswith(f"message {rule}")


def test_several_messages_are_allowed_where_each_is_a_line():
    assert attempt(target(refuse("a\nb"), one_line=False), b"").kind == "rejected"


def test_hang_is_a_finding(monkeypatch):
    monkeypatch.setattr(trial, "HANG", 0.05)

    def run(data):
        while True:
            try:
                time.process_time()
            except Exception:  # noqa: BLE001
                continue

    assert attempt(target(run), b"").cause == "HangError"


def test_shrunk_input_has_the_same_finding():
    def run(data):
        if b"x" in data and b"y" in data:
            raise KeyError

    assert sorted(shrink(target(run), b"aaaa x bbbbbb y cccc")) == sorted(b"xy")


@pytest.mark.parametrize("name", target_names())
def test_input_depends_on_seed_and_number_only(name):
    one = load_target(name)
    assert one.input(0, 3) == one.input(0, 3)
    assert len({one.input(seed, number) for seed in (0, 1) for number in range(3)}) > 3
