"""Container files of shards: compose-shards.yaml and kubernetes-shards.yaml (`make container` lints them)."""

import re
from pathlib import Path

import pytest
import yaml

from occupair.live.config import VARIABLES, read_config
from occupair.live.room_shards import Shard, parse_shard
from tools.dockerfile import pairs, read_stages, with_bases

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose-shards.yaml").read_text())
SERVICES = COMPOSE["services"]
KUBERNETES = list(yaml.safe_load_all((DEPLOY / "kubernetes-shards.yaml").read_text()))
(STATEFUL_SET,) = (one for one in KUBERNETES if one["kind"] == "StatefulSet")
POD = STATEFUL_SET["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]


def image_variables():
    given = {}
    for stage in with_bases(read_stages(DEPLOY / "Dockerfile")):
        for word, rest in stage.steps:
            if word == "ENV":
                given |= pairs(rest)
    return given


def filled_in(value, **variables):
    """Return a value of Compose with its variables replaced, as by the file .env."""
    return re.sub(r"\$\{(\w+):[-?][^}]*\}", lambda match: variables.get(match[1], ""), str(value))


@pytest.fixture
def settings(tmp_path):
    """The example with a token and the broker's name, as the comment in compose-shards.yaml asks."""
    text = (DEPLOY / "rooms.toml").read_text().replace('host = "localhost"', 'host = "mosquitto"')
    path = tmp_path / "rooms.toml"
    path.write_text(f'{text}\n[tokens.admin]\nrole = "admin"\nhash = "sha256:{"0" * 64}"\n')
    return path


def test_compose_has_every_shard_once(settings):
    shards = {name: one for name, one in SERVICES.items() if name.startswith("shard-")}
    found = set()
    for name, service in shards.items():
        assert set(service["environment"]) <= set(VARIABLES)
        given = {
            key: filled_in(value, OCCUPAIR_DB_PASSWORD="secret")
            for key, value in service["environment"].items()
        }
        config = read_config(settings, image_variables() | given)
        assert config.advertise == f"{name}:8099"
        assert config.store == "postgresql://occupair:secret@postgres/occupair"
        found.add(config.shard)
    assert found == {Shard(number, len(shards)) for number in range(1, len(shards) + 1)}


def test_compose_protects_the_host():
    for name, service in SERVICES.items():
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        volumes = {volume.split(":")[0] for volume in service["volumes"]}
        assert volumes - {"./rooms"} <= set(COMPOSE["volumes"])
        assert name == "postgres" or service["ports"]
    assert "ports" not in SERVICES["postgres"]
    assert set(SERVICES["shard-1"]["depends_on"]) <= set(SERVICES)
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(published) == len(set(published))


def test_kubernetes_numbers_shards_like_pods(tmp_path):
    spec = STATEFUL_SET["spec"]
    path = tmp_path / "rooms.toml"
    path.write_text(KUBERNETES[0]["data"]["rooms.toml"])
    given = {one["name"]: one["value"] for one in CONTAINER["env"] if "value" in one}
    first = spec["ordinals"]["start"]
    numbers = range(first, first + spec["replicas"])
    shards = [parse_shard(given["OCCUPAIR_SHARD"].replace("$(POD_INDEX)", str(number))) for number in numbers]
    assert shards == [Shard(number, spec["replicas"]) for number in range(1, spec["replicas"] + 1)]
    environ = image_variables() | {
        "OCCUPAIR_STORE": "postgresql://me@db/rooms",
        "OCCUPAIR_SHARD": str(shards[-1]),
        "OCCUPAIR_ADVERTISE": given["OCCUPAIR_ADVERTISE"].replace("$(POD_IP)", "10.1.2.3"),
    }
    config = read_config(path, environ)
    assert (config.shard, config.advertise) == (Shard(4, 4), "10.1.2.3:8099")
    fields = {one["name"]: one["valueFrom"]["fieldRef"]["fieldPath"] for one in CONTAINER["env"][:2]}
    assert fields == {
        "POD_INDEX": "metadata.labels['apps.kubernetes.io/pod-index']",
        "POD_IP": "status.podIP",
    }


def test_kubernetes_pod_is_restricted():
    assert POD["securityContext"]["runAsNonRoot"] is True
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    mounts = {one["mountPath"]: one["name"] for one in CONTAINER["volumeMounts"]}
    assert set(mounts) == {"/var/lib/occupair", "/etc/occupair"}
    assert set(mounts.values()) == {one["name"] for one in POD["volumes"]}


def test_kubernetes_services_select_the_pods():
    services = [one for one in KUBERNETES if one["kind"] == "Service"]
    labels = STATEFUL_SET["spec"]["template"]["metadata"]["labels"]
    assert all(one["spec"]["selector"] == labels for one in services)
    assert {one["metadata"]["name"] for one in services} == {
        "occupair",
        STATEFUL_SET["spec"]["serviceName"],
    }
