"""Servers of the load test, on loopback: broker, PostgreSQL and the service; and what they use."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def broker(folder: Path) -> Iterator[int]:
    """Run mosquitto and yield its port."""
    port = free_port()
    (folder / "mosquitto.conf").write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 1000000\nlog_type error\n"
    )
    process = subprocess.Popen(["mosquitto", "-c", str(folder / "mosquitto.conf")])
    try:
        wait_until_open(port)
        yield port
    finally:
        stop(process)


@contextmanager
def postgres() -> Iterator[str]:
    """Run PostgreSQL with an empty database, which is deleted afterwards, and yield its URL."""
    folder = Path(tempfile.mkdtemp(prefix="occupair-load-"))
    port, user = free_port(), {}
    if os.geteuid() == 0:  # PostgreSQL does not run as root
        other = pwd.getpwnam("postgres")
        os.chown(folder, other.pw_uid, other.pw_gid)
        user = {"user": other.pw_uid, "group": other.pw_gid, "extra_groups": []}
    create = [_program("initdb"), "-D", str(folder / "data"), "--username=occupair", "--auth=trust"]
    subprocess.run(create, check=True, capture_output=True, cwd=folder, **user)
    settings = ("listen_addresses=127.0.0.1", "max_connections=300", "shared_buffers=256MB")
    options = [part for setting in settings for part in ("-c", setting)]
    command = [_program("postgres"), "-D", str(folder / "data"), "-p", str(port), "-k", str(folder), *options]
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **user)
    try:
        wait_until_open(port)
        yield f"postgresql://occupair@127.0.0.1:{port}/postgres"
    finally:
        stop(process, signal.SIGINT)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def service(config: Path, port: int, shards: int = 1) -> Iterator[subprocess.Popen[bytes]]:
    """Run the service, with a worker for each of several shards."""
    command = [sys.executable, "-m", "occupair", "serve", str(config)]
    process = subprocess.Popen([*command, "--workers", str(shards)] if shards > 1 else command)
    try:
        wait_until_healthy(port, process, timeout_s=600)
        yield process
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> None:
    process.send_signal(how)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_until_open(port: int, timeout_s: float = 20) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit(f"timeout: no server on port {port}")


def wait_until_healthy(port: int, process: subprocess.Popen[bytes], timeout_s: float) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit("the service failed to start")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2) as response:
                if json.load(response)["status"] == "ok":
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise SystemExit(f"timeout: the service on port {port} is not healthy")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pids(process: subprocess.Popen[bytes]) -> list[int]:
    """Return the ids of a process and its workers."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [process.pid, *map(int, children)]


def memory(pid: int) -> float:
    """Return the peak memory of a process [MB]."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) * 1024 / 1e6


def free_memory() -> float:
    """Return the available memory [MB]."""
    (line,) = [
        line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable")
    ]
    return int(line.split()[1]) * 1024 / 1e6


def cpu_time(pid: int) -> float:
    """Return the CPU time of a process [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _program(name: str) -> str:
    """Return the path of a program; Debian does not put those of PostgreSQL on the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or str(debian[-1])
