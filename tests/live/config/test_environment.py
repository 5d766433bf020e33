"""Settings from environment variables and options of the command."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.live.config import VARIABLES, read_config, reread_config

DEPLOY = Path(__file__).parents[3] / "deploy"
ROOM = '[rooms.lab]\nco2 = "lab/co2"\n'


def test_environment_overrides_the_file(read, tmp_path):
    environ = {
        "OCCUPAIR_STORE": "sqlite:////var/x.db",
        "OCCUPAIR_PORT": "81",
        "OCCUPAIR_TOLERANCE": "0.5",
        "OCCUPAIR_ROOM_METRICS": "off",
        "OCCUPAIR_MQTT__HOST": "other",
        "OCCUPAIR_MQTT__PASSWORD": "12345",
        "OCCUPAIR_MQTT__TLS": "true",
        "OCCUPAIR_MQTT__CA_FILE": "ca.pem",
        "OCCUPAIR_LIMITS__BODY_BYTES": "5000",
        "OCCUPAIR_LOG": "",  # ignored
        "OCCUPAIR_SERVICE_HOST": "10.0.0.1",  # set by Kubernetes
        "PORT": "3",
    }
    config = read(f'[service]\nport = 80\n[mqtt]\nhost = "b"\npassword_file = "none"\n{ROOM}', environ)
    assert (config.store, config.port, config.tolerance) == ("sqlite:////var/x.db", 81, 0.5)
    assert (config.room_metrics, config.log, config.limits.body_bytes) == (False, "text", 5000)
    assert (config.mqtt.host, config.mqtt.port, config.mqtt.tls) == ("other", 8883, True)
    assert config.mqtt.password.get_secret_value() == "12345"
    assert config.mqtt.ca_file == tmp_path / "ca.pem"


def test_every_setting_has_a_variable():
    assert len(VARIABLES) == 14 + 15 + 5 + 4
    assert {"OCCUPAIR_STORE", "OCCUPAIR_HOST", "OCCUPAIR_MQTT__PASSWORD"} <= set(VARIABLES)


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"OCCUPAIR_PORT": "tcp://10.0.0.1:80"},
            "OCCUPAIR_PORT: must be an integer, got 'tcp://10.0.0.1:80'",
        ),
        ({"OCCUPAIR_PORT": "8e1"}, "OCCUPAIR_PORT: must be an integer, got 80.0"),
        ({"OCCUPAIR_TOLERANCE": "nan"}, "OCCUPAIR_TOLERANCE: must be a number, got 'nan'"),
        ({"OCCUPAIR_ROOM_METRICS": "maybe"}, "OCCUPAIR_ROOM_METRICS: must be true or false, got 'maybe'"),
        (
            {"OCCUPAIR_MQTT__PASWORD": "hush"},
            "OCCUPAIR_MQTT__PASWORD: unknown key, did you mean 'OCCUPAIR_MQTT__PASSWORD'?",
        ),
        (
            {"OCCUPAIR_STORE": "hush"},
            "OCCUPAIR_STORE: must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, got a value "
            "that is not shown",
        ),
        (
            {"OCCUPAIR_HOST": "0.0.0.0"},
            "OCCUPAIR_HOST: must be a loopback address such as 127.0.0.1 without [tokens], got '0.0.0.0'",
        ),
        ({"OCCUPAIR_MQTT__PORT": "1"}, "rooms.toml, mqtt.host: is required"),
    ],
)
def test_mistake_in_a_variable_names_the_variable(mistakes_in, environ, message):
    assert mistakes_in(ROOM, environ) == [message]


def test_cli_options_override_the_environment(read, mistakes_in):
    config = read(ROOM, {"OCCUPAIR_PORT": "81"}, options={"--port": "82", "--host": "::1"})
    assert (config.port, config.host) == (82, "::1")
    (mistake,) = mistakes_in(ROOM, options={"--host": "10.0.0.1"})
    assert mistake.startswith("--host: must be a loopback address")


def test_reread_uses_the_same_environment_and_options(write):
    path = write(ROOM)
    config = read_config(path, {"OCCUPAIR_TOLERANCE": "0.5"}, options={"--port": "82"})
    write("[service]\nport = 5\n[rooms.new]\n")
    again = reread_config(config)
    assert (list(again.rooms), again.port, again.tolerance) == (["new"], 82, 0.5)
    with pytest.raises(InputError, match="not read from a file"):
        reread_config(config.model_copy(update={"origin": None}))


@given(st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.text(max_size=8)))
@settings(max_examples=100, deadline=None)
def test_any_environment_is_accepted_or_refused_with_an_input_error(environ):
    with suppress(InputError):
        assert len(read_config(DEPLOY / "rooms.toml", environ).rooms) == 4
