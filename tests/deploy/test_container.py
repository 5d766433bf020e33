"""Container files: the Dockerfile's stages, compose.yaml and kubernetes.yaml (`make container` runs them)."""

import fnmatch
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from live.ports import free_port

from occupair._version import __version__
from occupair.live.config import VARIABLES, read_config
from occupair.live.home_assistant import PORT, USER
from tools.dockerfile import command_of, pairs, read_stages, with_bases

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
KUBERNETES = {one["kind"]: one for one in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(params=["service", "home-assistant"])
def image(request):
    """The stages of a variant of the image, the first one first."""
    stages = read_stages(DEPLOY / "Dockerfile", VARIANT=request.param)
    return with_bases(stages)


def last(image, word):
    return next(rest for stage in reversed(image) if (rest := stage.last(word)) is not None)


def variables_of(image):
    given = {}
    for stage in image:
        for word, rest in stage.steps:
            if word == "ENV":
                given |= pairs(rest)
    return given


def test_default_variant_is_the_service_of_an_ordinary_user():
    image = with_bases(read_stages(DEPLOY / "Dockerfile"))
    assert [stage.name for stage in image] == ["runtime", "service", ""]
    assert command_of(last(image, "ENTRYPOINT")) == ["occupair"]
    assert command_of(last(image, "CMD")) == ["serve", "/etc/occupair/rooms.toml"]
    assert last(image, "USER") == f"{USER}:{USER}"
    assert f"useradd --uid {USER} " in last(image, "RUN")


def test_files_are_written_to_the_volume_only():
    image = with_bases(read_stages(DEPLOY / "Dockerfile"))
    given, volume = variables_of(image), last(image, "VOLUME")
    assert given["NUMBA_CACHE_DIR"].startswith(f"{volume}/")
    assert given["OCCUPAIR_STORE"].startswith(f"sqlite:///{volume}/")
    assert last(image, "WORKDIR") == volume  # of temporary files, if /tmp is read-only
    assert set(given) - {"PATH", "PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR"} <= set(VARIABLES)


def test_app_reads_the_options_as_root():
    image = with_bases(read_stages(DEPLOY / "Dockerfile", VARIANT="home-assistant"))
    assert all(stage.last("USER") is None for stage in image)
    assert command_of(last(image, "CMD")) == ["home-assistant"]
    assert not {name for name in variables_of(image) if name.startswith("OCCUPAIR_")}


def test_both_variants_have_one_base_image_and_port(image):
    stages = read_stages(DEPLOY / "Dockerfile")
    assert image[0].base == stages["build"].base == "python:3.12-slim"
    assert last(image, "EXPOSE") == str(PORT)


def test_all_packages_to_install_exist():
    build = read_stages(DEPLOY / "Dockerfile")["build"]
    (extras,) = (rest.removeprefix("EXTRAS=").split(",") for word, rest in build.steps if word == "ARG")
    assert set(extras) <= set(PROJECT["optional-dependencies"])


def test_copied_files_are_in_the_build_context():
    allowed = [
        line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[0] == "!"
    ]
    copied = [
        name
        for stage in read_stages(DEPLOY / "Dockerfile").values()
        for word, rest in stage.steps
        if word == "COPY" and "--from" not in rest
        for name in rest.split()[:-1]
    ]
    assert set(copied) == {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src"}
    for name in copied:
        assert (ROOT / name).exists()
        assert any(fnmatch.fnmatch(name, pattern) for pattern in allowed)


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1), (None, 1)])
def test_health_check_follows_the_status(image, status, code):
    """The image has no curl: the check is a Python command."""
    port = free_port()
    serve = (
        "import http.server, sys\n"
        "class H(http.server.BaseHTTPRequestHandler):\n"
        "    def do_GET(self):\n"
        f"        self.send_response({status} if self.path == '/healthz' else 404)\n"
        "        self.end_headers()\n"
        f"s = http.server.HTTPServer(('127.0.0.1', {port}), H)\n"
        "print('ready', flush=True)\n"
        "s.handle_request()\n"
    )
    program, *arguments = command_of(last(image, "HEALTHCHECK"))
    assert program == "python"
    process = None
    if status is not None:
        process = subprocess.Popen(
            [sys.executable, "-c", serve], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout.readline() == b"ready\n"
    environ = {"OCCUPAIR_PORT": str(port)}
    done = subprocess.run([sys.executable, *arguments], env=environ, capture_output=True)
    if process is not None:
        process.communicate()
    assert done.returncode == code, done.stderr


# ---- compose ----


def test_compose_builds_the_image_and_protects_the_host():
    service = COMPOSE["services"]["occupair"]
    folder = (DEPLOY / service["build"]["context"]).resolve()
    assert folder == ROOT.resolve()
    assert (folder / service["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    assert service["volumes"] == ["occupair:/var/lib/occupair", "./rooms:/etc/occupair:ro"]
    assert set(service["environment"]) <= set(VARIABLES)
    for one in COMPOSE["services"].values():
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]
        assert all(port.startswith("127.0.0.1:") for port in one["ports"])
        assert {name.split(":")[0] for name in one["volumes"]} - {"./rooms"} <= set(COMPOSE["volumes"])


def test_example_settings_fit_compose(tmp_path):
    """As the comment in compose.yaml asks: the example with a token and the broker's name."""
    text = (DEPLOY / "rooms.toml").read_text().replace('host = "localhost"', 'host = "mosquitto"')
    path = tmp_path / "rooms.toml"
    path.write_text(f'{text}\n[tokens.admin]\nrole = "admin"\nhash = "sha256:{"0" * 64}"\n')
    environ = variables_of(with_bases(read_stages(DEPLOY / "Dockerfile")))
    config = read_config(path, environ | {"OCCUPAIR_MQTT__PASSWORD": ""})
    assert config.mqtt.host in COMPOSE["services"]
    assert config.host == "0.0.0.0"


# ---- Kubernetes ----


def test_kubernetes_settings_are_valid(tmp_path):
    path = tmp_path / "rooms.toml"
    path.write_text(KUBERNETES["ConfigMap"]["data"]["rooms.toml"])
    config = read_config(path, variables_of(with_bases(read_stages(DEPLOY / "Dockerfile"))))
    assert list(config.rooms) == ["seminar"]
    assert config.tokens[0].role == "admin"


def test_kubernetes_pod_is_restricted():
    pod = KUBERNETES["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"] | {"fsGroup": USER, "runAsUser": USER} == pod["securityContext"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    mounts = {one["mountPath"]: one["name"] for one in container["volumeMounts"]}
    assert set(mounts) == {"/var/lib/occupair", "/etc/occupair"}
    assert set(mounts.values()) == {one["name"] for one in pod["volumes"]}
    assert container["image"].endswith(f":{__version__}")


def test_kubernetes_has_one_service_per_database():
    spec = KUBERNETES["Deployment"]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})
    claim = KUBERNETES["PersistentVolumeClaim"]["metadata"]["name"]
    assert {"persistentVolumeClaim": {"claimName": claim}, "name": "data"} in spec["template"]["spec"][
        "volumes"
    ]


def test_kubernetes_probes_and_service_use_the_port():
    (container,) = KUBERNETES["Deployment"]["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    assert port["containerPort"] == PORT
    for name in ("startupProbe", "readinessProbe"):
        assert container[name]["httpGet"] == {"path": "/healthz", "port": port["name"]}
    assert container["livenessProbe"]["tcpSocket"] == {"port": port["name"]}
    labels = KUBERNETES["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert KUBERNETES["Service"]["spec"]["selector"] == labels
    assert KUBERNETES["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]


def test_service_links_do_not_disturb_the_settings():
    """Kubernetes would set OCCUPAIR_PORT=tcp://... for a service of this name."""
    assert KUBERNETES["Service"]["metadata"]["name"] == "occupair"
    assert KUBERNETES["Deployment"]["spec"]["template"]["spec"]["enableServiceLinks"] is False


def test_dockerfile_parser_joins_lines_and_replaces_arguments(tmp_path):
    path = tmp_path / "Dockerfile"
    path.write_text(
        "ARG A=x:1\n# comment\nFROM ${A} AS one\nRUN a \\\n # comment\n && b\nENV P=1 \\\n    Q=two\n"
        'CMD ["c", "d"]\nFROM one\n'
    )
    stages = read_stages(path, A="y:2")
    first, second = with_bases(stages)
    assert (first.base, second.base) == ("y:2", "one")
    assert re.sub(r"\s+", " ", first.last("RUN")) == "a && b"
    assert pairs(first.last("ENV")) == {"P": "1", "Q": "two"}
    assert command_of(first.last("CMD")) == ["c", "d"]
    assert second.last("CMD") is None
