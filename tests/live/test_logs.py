"""Log formats, and redaction of secrets in every part of a record."""

import datetime as dt
import io
import json
import logging
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from occupair.errors import SlowFallbackWarning
from occupair.live.config import MqttConfig, ServiceConfig
from occupair.live.logs import HIDDEN, JsonLines, Redactor, TextLines, find_secrets, start_logging
from occupair.web.log_throttle import LogThrottle
from occupair.web.tokens import make_token

PASSWORD = 'pa"ss wörd\\1'


@pytest.fixture
def logged():
    """Return a function that starts logging and returns the stream it writes to."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level

    def start(*arguments, **options):
        stream = io.StringIO()
        start_logging(*arguments, stream=stream, **options)
        return stream

    yield start
    root.handlers[:], root.level = before, level
    root.setLevel(level)


def test_json_lines(logged):
    stream, before = logged("json"), dt.datetime.now(dt.UTC)
    logging.getLogger("occupair.live.mqtt.bridge").warning(
        "room %s is stale", "lab", extra={"room": "lab", "min": 15.5}
    )
    line = json.loads(stream.getvalue())
    time = dt.datetime.fromisoformat(line.pop("time"))
    assert before - dt.timedelta(milliseconds=1) <= time <= dt.datetime.now(dt.UTC)
    assert line == {
        "level": "warning",
        "logger": "occupair.live.mqtt.bridge",
        "message": "room lab is stale",
        "room": "lab",
        "min": 15.5,
    }


@pytest.mark.parametrize(("log", "text"), [("json", '"shard": "2/8"'), ("text", "x shard=2/8")])
def test_fields_are_in_every_line(logged, log, text):
    stream = logged(log, fields={"shard": "2/8"})
    logging.getLogger("a").info("x")
    assert text in stream.getvalue()


def test_extras_do_not_overwrite_record_fields(logged):
    stream = logged("json")
    logging.getLogger("a").info("x", extra={"level": "none", "time": 3, "error": "e"})
    line = json.loads(stream.getvalue())
    assert (line["level"], line["error"]) == ("info", "e")
    assert line["time"].endswith("Z")


def test_text_lines(logged):
    stream = logged("text")
    logging.getLogger("a").info("room is stale", extra={"room": "lab"})
    time, level, rest = stream.getvalue().split(maxsplit=2)
    assert dt.datetime.fromisoformat(time).tzinfo is not None
    assert (level, rest) == ("info", "room is stale room=lab\n")


@pytest.mark.parametrize("log", ["json", "text"])
def test_control_characters_are_escaped(logged, log):
    stream = logged(log)
    logging.getLogger("a").info(
        "payload %s", "x\n2030-01-01 info all is well\x1b[2J\u2028", extra={"k": "a\nb"}
    )
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b" not in stream.getvalue()


def test_levels(logged):
    stream = logged("text", "warning")
    logging.getLogger("a").info("no")
    logging.getLogger("a").error("yes")
    assert "yes" in stream.getvalue()
    assert "no" not in stream.getvalue()


def test_second_start_replaces_the_first_handler(logged):
    first, second = logged("text"), logged("json")
    logging.getLogger("a").info("x")
    assert first.getvalue() == ""
    assert json.loads(second.getvalue())["message"] == "x"


def test_traceback_is_logged(logged):
    stream = logged("json")
    try:
        raise ValueError("no such thing")
    except ValueError:
        logging.getLogger("a").exception("failed")
    line = json.loads(stream.getvalue())
    assert line["error"].startswith("Traceback")
    assert line["error"].endswith("ValueError: no such thing")


def test_mismatched_format_arguments_are_logged():
    record = logging.makeLogRecord({"msg": "%d rooms", "args": ("token=hush",)})
    assert Redactor().filter(record)
    assert record.getMessage() == "%d rooms ('token=***',)"


@pytest.mark.parametrize("log", ["json", "text"])
def test_secrets_are_redacted_in_every_part_of_a_record(logged, log):
    token = make_token()
    stream = logged(log, secrets=[PASSWORD])
    logger = logging.getLogger("a")
    for secret in (PASSWORD, token):
        logger.info(f"message {secret}")
        logger.info("argument %s", secret)
        logger.info("table %s", {"a": [secret]})
        logger.info("repr %r", secret)
        logger.info("extra", extra={"a": secret, "b": {"c": [secret], secret: 1}, "d": ValueError(secret)})
        logger.info("stack", stack_info=True, extra={"e": (secret, {secret})})
        try:
            raise ValueError(secret)
        except ValueError:
            logger.exception("failed")
    output = stream.getvalue()
    assert output.count("failed") == 2
    assert HIDDEN in output
    for form in (PASSWORD, token, json.dumps(PASSWORD)[1:-1], repr(PASSWORD)[1:-1], "wörd", token[9:]):
        assert form not in output


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("postgresql+psycopg://me:hush@db:5432/x", "postgresql+psycopg://me:***@db:5432/x"),
        ("postgresql://me:hu%40sh@db/x?sslmode=on", "postgresql://me:***@db/x?sslmode=on"),
        ("mqtt://me:hu@sh@b and mqtt://c", "mqtt://me:***@b and mqtt://c"),
        ("redis://:hush@b", "redis://:***@b"),
        ("Authorization: Bearer abcdef123", "Authorization: Bearer ***"),
        ("authorization: basic dXNlcjpwYXNz", "authorization: basic ***"),
        ("{'Authorization': 'Bearer abcdef123'}", "{'Authorization': 'Bearer ***'}"),
        ("GET /api/events?token=hush&room=lab", "GET /api/events?token=***&room=lab"),
        ("password='hush' user='me'", "password='***' user='me'"),
        ('{"mqtt_password": "hush", "port": 1}', '{"mqtt_password": "***", "port": 1}'),
        ("MqttConfig(password=hush)", "MqttConfig(password=***)"),
        ("x-api-key: hush", "x-api-key: ***"),
        ("Set-Cookie: session", "Set-Cookie: ***"),
        ("http://host:8099/page at 10:30 of a@b", "http://host:8099/page at 10:30 of a@b"),
        ("the password is wrong, the bearer came", "the password is wrong, the bearer came"),
    ],
)
def test_secret_patterns_are_redacted(text, redacted):
    assert Redactor().clean(text) == redacted


def test_values_of_secret_names_are_redacted():
    cleaned = Redactor().clean(
        {"password": "a", "x-token": b"b", "tokens": 3, "user": "c", "n": None, "t": True}
    )
    assert cleaned == {"password": HIDDEN, "x-token": HIDDEN, "tokens": 3, "user": "c", "n": None, "t": True}


def test_secret_that_contains_another_is_fully_redacted():
    assert Redactor(["ab", "abcd", ""]).clean("abcd ab") == "*** ***"


def test_find_secrets():
    mqtt = MqttConfig(host="b", password=SecretStr("one"))
    config = ServiceConfig(store="postgresql://me:tw%6F@db/x", mqtt=mqtt)
    assert find_secrets(config) == ["one", "tw%6F", "two"]
    assert find_secrets(ServiceConfig(store="sqlite:////a.db")) == []


@given(st.text(), st.text(min_size=4))
def test_any_record_is_one_redacted_line(text, secret):
    for formatter in (JsonLines(), TextLines()):
        record = logging.makeLogRecord({"msg": f"{text}{secret}{text}", "levelname": "INFO", "a": secret})
        assert Redactor([secret]).filter(record)
        line = formatter.format(record)
        assert "\n" not in line
        assert secret not in record.getMessage().replace(HIDDEN, "") or secret in text * 2


@pytest.mark.filterwarnings("default")
def test_warning_of_a_slow_fallback_is_logged_without_its_place_in_the_code(logged):
    stream = logged("json")
    warnings.warn("numba cannot be imported", SlowFallbackWarning, stacklevel=1)
    line = json.loads(stream.getvalue())
    assert {name: line[name] for name in line.keys() - {"time"}} == {
        "level": "warning",
        "logger": "py.warnings",
        "message": "numba cannot be imported",
    }


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("log", ["json", "text"])
def test_numpy_warning_is_one_line_of_the_log(logged, capfd, log):
    stream = logged(log)
    np.log(np.array([-1.0]))
    (line,) = stream.getvalue().splitlines()
    assert "RuntimeWarning: invalid value encountered in log" in line
    assert "test_logs.py:" in line
    assert capfd.readouterr().err == ""
    if log == "json":
        assert json.loads(line)["level"] == "warning"


def test_repeated_messages_are_counted():
    now = [0.0]
    throttle = LogThrottle(clock=lambda: now[0])
    records = [logging.makeLogRecord({"msg": "room %s fails", "args": (k,)}) for k in range(12)]
    assert [throttle.filter(record) for record in records[:10]] == [True] * 5 + [False] * 5
    assert throttle.filter(logging.makeLogRecord({"msg": "another message"}))
    now[0] = 60.0
    assert [throttle.filter(record) for record in records[10:]] == [True, True]
    messages = [record.getMessage() for record in records[10:]]
    assert messages == ["room 10 fails (5 more of these since the last one)", "room 11 fails"]
