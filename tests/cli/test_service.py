"""Commands of the live service: serve, token, backup, restore; and the deployment files."""

import datetime as dt
import re
import shutil
import subprocess
import sys
import tomllib
import types
from importlib.util import find_spec
from pathlib import Path

import pytest
from command import occupair

from occupair.live.config import TokenConfig, read_config
from occupair.web.tokens import find_token

DEPLOY = Path(__file__).parents[2] / "deploy"
ROOM = '[rooms.lab]\nname = "Laboratory"\nco2 = "lab/co2"\n'


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch):
    for name in ("OCCUPAIR_STORE", "OCCUPAIR_HOST", "OCCUPAIR_PORT", "OCCUPAIR_SHARD"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def served(monkeypatch):
    """Record the arguments of serve instead of serving."""
    calls = []
    for name, function in (("service", "serve"), ("demo", "serve_demo")):
        module = types.ModuleType(f"occupair.live.{name}")
        setattr(module, function, lambda *arguments: calls.append(arguments))
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return calls


def write(folder, text):
    (folder / "rooms.toml").write_text(text)
    return folder / "rooms.toml"


@pytest.mark.parametrize("command", ["serve", "token", "backup", "restore"])
def test_help_has_an_example(command):
    done = occupair(command, "--help")
    assert done.returncode == 0
    assert f"Example: occupair {command}" in done.stdout


def test_serve_reads_the_settings(tmp_path, served):
    done = occupair("serve", write(tmp_path, ROOM))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    ((config,),) = served
    expected = read_config(tmp_path / "rooms.toml", {})
    assert config == expected.model_copy(update={"origin": config.origin})


def test_options_override_the_environment_and_the_file(tmp_path, served, monkeypatch):
    monkeypatch.setenv("OCCUPAIR_PORT", "81")
    path = write(tmp_path, "[service]\nport = 80\n" + ROOM)
    assert occupair("serve", path).returncode == 0
    assert occupair("serve", path, "--port", 82, "--host", "::1").returncode == 0
    assert [(config.host, config.port) for (config,) in served] == [("127.0.0.1", 81), ("::1", 82)]


def test_demo_needs_no_settings(served):
    assert occupair("serve", "--demo").returncode == 0
    assert occupair("serve", "--demo", "--host", "localhost", "--port", "5").returncode == 0
    assert served == [("127.0.0.1", 8099), ("localhost", 5)]


def test_demo_listens_on_loopback_only(served):
    done = occupair("serve", "--demo", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert done.stderr == (
        "occupair: --host must be a loopback address, because the demo has no tokens, got '0.0.0.0'\n"
    )
    assert served == []


@pytest.mark.parametrize("arguments", [[], ["rooms.toml", "--demo"], ["--check"], ["--demo", "--check"]])
def test_serve_takes_a_file_or_the_demo(arguments, served):
    done = occupair("serve", *arguments)
    assert done.returncode == 2
    assert done.stderr == (
        "occupair: serve takes either a settings file ROOMS.toml or --demo, and --check only with a file\n"
    )


POSTGRES = '[service]\nstore = "postgresql://me@localhost/rooms"\n'


def test_shard_is_an_option(tmp_path, served):
    assert occupair("serve", write(tmp_path, POSTGRES + ROOM), "--shard", "2/8").returncode == 0
    ((config,),) = served
    assert str(config.shard) == "2/8"


def test_workers_are_started(tmp_path, served, monkeypatch):
    module = types.ModuleType("occupair.live.workers")
    module.serve_workers = lambda *arguments: served.append(arguments)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    path = write(tmp_path, POSTGRES + ROOM)
    assert occupair("serve", path, "--workers", 4, "--port", 82).returncode == 0
    ((config, given, options, count),) = served
    assert (given, options, count, config.port) == (path, {"--port": "82"}, 4, 82)


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["--shard", "1/2"], "", "--shard: requires a PostgreSQL database"),
        (["--shard", "3/2"], POSTGRES, "--shard: must be NUMBER/COUNT such as 2/8, from 1/1 to 1000/1000"),
        (["--shard", "1/2", "--workers", "2"], POSTGRES, "serve takes either --shard or --workers"),
        (["--workers", "2"], "", "--workers: requires a PostgreSQL database"),
        (
            ["--workers", "2"],
            f'{POSTGRES}shard = "1/2"\n',
            "--workers must not be used together with the setting shard",
        ),
        (
            ["--workers", "2"],
            f'{POSTGRES}[bacnet]\naddress = "10.0.2.5/24"\ndevice = 1\n',
            "--workers: must not be set together with [bacnet]",
        ),
    ],
)
def test_shards_that_are_not_possible_are_refused(tmp_path, served, arguments, settings, message):
    done = occupair("serve", write(tmp_path, settings + ROOM), *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"occupair: {message}")
    assert done.stderr.count("\n") == 1
    assert served == []


@pytest.mark.parametrize("option", ["--shard=1/2", "--workers=2"])
def test_demo_has_no_shards(served, option):
    done = occupair("serve", "--demo", option)
    assert (done.returncode, done.stderr) == (
        2,
        "occupair: --shard and --workers need a settings file ROOMS.toml, not --demo\n",
    )


def test_serve_refuses_mistakes_in_the_settings(tmp_path, served):
    done = occupair("serve", write(tmp_path, "[rooms.a]\nco2 = 5\nprot = 1\n"))
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 2
    done = occupair("serve", write(tmp_path, '[rooms.a]\nmodel = "none"\n'))
    assert done.returncode == 2
    assert "rooms.toml, line 2, rooms.a.model: must be an existing file, got" in done.stderr
    done = occupair("serve", write(tmp_path, ROOM), "--host", "0.0.0.0")
    assert done.returncode == 2
    assert done.stderr.startswith("occupair: --host: must be a loopback address")
    assert served == []


def test_check_summarises_rooms_and_warns(tmp_path, served, trained_room):
    trained_room.save(tmp_path / "lab.occupair")
    path = write(
        tmp_path, f'[mqtt]\nhost = "localhost"\n{ROOM}model = "lab.occupair"\n[rooms.new]\nco2 = "n"\n'
    )
    done = occupair("serve", path, "--check")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        f"store sqlite:///{tmp_path}/occupair.db: no tables yet, created at start",
        "lab: Laboratory; lab.occupair, a reading every 5 min, with ventilation; co2 from lab/co2; UTC",
        "new: new; no model; co2 from n; UTC",
    ]
    assert done.stderr.splitlines() == [
        "occupair: warning: lab: model needs ventilation, which has no source here: post it with CO2, or "
        "there is no count",
        "occupair: warning: lab: model was trained on local times but the room is in UTC: set the timezone "
        "of the room",
        "occupair: warning: new: has no model: occupancy is unknown until it is trained, or set volume and "
        "capacity",
    ]
    assert served == []


def test_check_reports_unreadable_files(tmp_path):
    done = occupair("serve", "--check", write(tmp_path, f'{ROOM}[rooms.a]\nmodel = "none"\n'))
    assert done.returncode == 2
    assert done.stdout.splitlines()[1:] == ["lab: Laboratory; no model; co2 from lab/co2; UTC"]
    assert "rooms.toml, line 5, rooms.a.model: must be a model file written by 'occupair fit':" in done.stderr
    assert occupair("serve", "--check", tmp_path / "none.toml").returncode == 2


@pytest.mark.parametrize("role", ["read", "write", "admin"])
def test_token_prints_token_and_settings_lines(tmp_path, role):
    done = occupair("token", "--role", role, "--name", "grafana")
    token, lines = done.stdout.split("\n", 1)
    assert done.stderr == (
        "occupair: copy the token now, it is not shown again; add the lines below it to the settings file\n"
    )
    assert token not in lines
    assert tomllib.loads(lines)["tokens"].keys() == {"grafana"}
    config = read_config(write(tmp_path, ROOM + lines + '[service]\nhost = "0.0.0.0"\n'), {})
    assert [(one.name, one.role) for one in config.tokens] == [("grafana", role)]
    assert find_token(token, config.tokens).role == role
    assert find_token(occupair("token", "--role", role).stdout.split()[0], config.tokens) is None


def test_token_name_defaults_to_the_role():
    assert "[tokens.read]" in occupair("token", "--role", "read").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--role", "root"], "--role must be read, write or admin, got 'root'"),
        (
            ["--role", "read", "--name", "My App"],
            "--name must be 1 to 64 characters of a-z, 0-9, _ and -, got 'My App'",
        ),
    ],
)
def test_token_refuses_invalid_options(options, message):
    done = occupair("token", *options)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"occupair: {message}\n")


def run(code, **options):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, **options
    )


@pytest.mark.parametrize(
    "command",
    ["serve rooms.toml", "serve --demo", "serve --check rooms.toml", "backup --store sqlite:///a b"],
)
@pytest.mark.parametrize("missing", ["fastapi", "sqlalchemy"])
def test_missing_extra_is_reported_with_its_install_command(command, missing):
    arguments = ["occupair", *command.split()]
    done = run(
        f"import sys; sys.modules[{missing!r}] = None; sys.argv = {arguments}; "
        "from occupair.cli import main; main()"
    )
    name = command.split()[0]
    message = f"occupair: {name} requires packages that are not installed: pip install 'occupair[live]'\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_token_needs_no_extra():
    done = run(
        "import sys; sys.modules['fastapi'] = sys.modules['sqlalchemy'] = None; "
        "sys.argv = ['occupair', 'token', '--role', 'read']; "
        "from occupair.cli import main; main()"
    )
    assert done.returncode == 0, done.stderr


def test_help_imports_no_heavy_packages():
    heavy = ("numpy", "pandas", "fastapi", "sqlalchemy", "alembic", "aiomqtt")
    done = run(
        "import sys; sys.argv = ['occupair', 'serve', '--help']\nfrom occupair.cli import main\n"
        f"try: main()\nexcept SystemExit: print([m for m in {heavy} if m in sys.modules])"
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_missing_postgres_driver_is_reported(tmp_path, monkeypatch, served):
    monkeypatch.setattr(
        "occupair.cli.service.find_spec", lambda name: None if name == "psycopg" else find_spec(name)
    )
    message = (
        "occupair: PostgreSQL requires packages that are not installed: pip install 'occupair[postgres]'\n"
    )
    path = write(tmp_path, f'service.store = "postgresql://me@db/x"\n{ROOM}')
    for done in (
        occupair("serve", path),
        occupair("backup", "--store", "postgresql://me@db/x", tmp_path / "b"),
    ):
        assert (done.returncode, done.stderr) == (2, message)


# Backup


@pytest.fixture
def store(tmp_path):
    """Return the URL of a store with one label."""
    from occupair.live.messages import Label
    from occupair.live.store import Store

    opened = Store(f"sqlite:///{tmp_path}/rooms.db")
    opened.migrate()
    noon = dt.datetime(2024, 3, 1, 12, tzinfo=dt.UTC)
    opened.add_label(Label("lab", noon, 4, noon))
    opened.close()
    return f"sqlite:///{tmp_path}/rooms.db"


def people(url):
    from occupair.live.store import Store

    opened = Store(url)
    counts = [label.people for label in opened.labels("lab")]
    opened.close()
    return counts


def test_backup_and_restore_round_trip(tmp_path, store, monkeypatch):
    done = occupair("backup", "--store", store, tmp_path / "b.zip")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"\S+b.zip: 0.0 MB\n", done.stdout)
    new = f"sqlite:///{tmp_path}/new.db"
    done = occupair("restore", tmp_path / "b.zip", "--store", new)
    assert (done.returncode, done.stdout) == (0, f"{tmp_path}/b.zip: restored\n")
    assert people(new) == [4]
    assert occupair("restore", tmp_path / "b.zip", "--store", new).returncode == 2
    assert occupair("restore", tmp_path / "b.zip", "--store", new, "--replace").returncode == 0
    monkeypatch.setenv("OCCUPAIR_STORE", store)
    assert occupair("backup", tmp_path / "c.zip").returncode == 0


def test_backup_does_not_overwrite_its_store(tmp_path, store):
    done = occupair("backup", "--store", "sqlite:///rooms.db", "rooms.db", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "occupair: rooms.db: is the database itself, choose another file name\n",
    )
    assert people(store) == [4]


@pytest.mark.parametrize("command", ["backup", "restore"])
def test_backup_and_restore_refuse_invalid_stores(tmp_path, command):
    done = occupair(command, "--store", "mysql://me:hush@db/x", tmp_path / "none")
    assert (done.returncode, done.stderr) == (
        2,
        "occupair: --store must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME, got a value that "
        "is not shown\n",
    )
    done = occupair(command, "--store", f"sqlite:///{tmp_path}/none.db", tmp_path / "none")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    assert occupair(command, tmp_path / "none").returncode == 2


# Deployment


def test_systemd_unit_is_valid_and_hardened(tmp_path):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed (on Debian: apt install systemd)")
    unit = (DEPLOY / "occupair.service").read_text()
    program = tmp_path / "occupair"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = tmp_path / "occupair.service"
    path.write_text(unit.replace("/opt/occupair/bin/occupair", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout  # exposure level at most 2.0 of 10


def test_unit_runs_the_service():
    unit = (DEPLOY / "occupair.service").read_text()
    for line in (
        "Restart=always",
        "DynamicUser=yes",
        "StateDirectory=occupair",
        "ExecReload=/bin/kill -HUP $MAINPID",
    ):
        assert f"\n{line}\n" in unit
    assert "\nExecStart=/opt/occupair/bin/occupair serve /etc/occupair/rooms.toml\n" in unit


def test_deployment_variables_are_settings(tmp_path):
    unit, image = (DEPLOY / "occupair.service").read_text(), (DEPLOY / "Dockerfile").read_text()
    for text in (unit, image):
        environ = dict(re.findall(r"^(?:Environment=|\s*(?:ENV )?)(OCCUPAIR_\w+)=(\S+)", text, re.MULTILINE))
        tokens = f'[tokens.a]\nrole = "read"\nhash = "sha256:{"0" * 64}"\n'
        config = read_config(write(tmp_path, ROOM + tokens), environ)
        assert config.store == environ["OCCUPAIR_STORE"] == "sqlite:////var/lib/occupair/occupair.db"
        assert config.tokens == (TokenConfig(name="a", role="read", hash="sha256:" + "0" * 64),)
    assert (config.host, config.log) == ("0.0.0.0", "json")
