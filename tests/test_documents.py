"""Documents say what is true: every row points somewhere, every name and command is described."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import occupair as oc
from occupair.cli import app

ROOT = Path(__file__).parent.parent
EQUATIONS = (ROOT / "docs/equations.md").read_text()
REFERENCE = (ROOT / "docs/reference.md").read_text()
README = (ROOT / "README.md").read_text()
ROWS = re.findall(r"^\| \((\d+)\) \| .* \| `([\w.]+)` \| `([\w/.]+)::(\w+)` \|$", EQUATIONS, re.MULTILINE)
COMMANDS = {
    command.callback.__name__: command.callback for command in app.registered_commands if not command.hidden
}
for group in app.registered_groups:
    COMMANDS[f"{group.name}`"] = group.typer_instance.registered_callback.callback
    COMMANDS |= {
        f"{group.name} {command.callback.__name__}": command.callback
        for command in group.typer_instance.registered_commands
    }


def resolve(dotted):
    """The object that a dotted name stands for."""
    parts = dotted.split(".")
    for split in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[split:]:
            found = getattr(found, attribute)
        return found
    raise ModuleNotFoundError(dotted)


def test_every_equation_of_the_paper_has_one_row():
    assert [int(number) for number, *_ in ROWS] == list(range(1, 32))


@pytest.mark.parametrize(("number", "name", "file", "test"), ROWS)
def test_a_row_points_to_a_function_and_a_test(number, name, file, test):
    assert resolve(name) is not None
    assert re.search(rf"^def {test}\(", (ROOT / file).read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", oc.__all__)
def test_every_public_name_is_described(name):
    assert f"`{name}`" in REFERENCE
    assert inspect.getdoc(getattr(oc, name))


@pytest.mark.parametrize(
    "name", [n for n, f in vars(oc.metrics).items() if inspect.isfunction(f) and n[0] != "_"]
)
def test_every_score_is_described(name):
    assert f"`{name}`" in REFERENCE


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_and_option_is_described(command):
    row = next(line for line in REFERENCE.splitlines() if line.startswith(f"| `occupair {command}"))
    described = set(re.findall(r"--[a-z-]+", row))
    assert described == options_of(COMMANDS[command])


def options_of(function):
    """Flags of a command, from the declarations of its parameters."""
    flags = set()
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        (declaration,) = getattr(parameter.annotation, "__metadata__", (None,))
        if type(declaration).__name__ == "OptionInfo":
            # In Annotated, typer keeps the first declared flag where a default would stand.
            declared = {
                flag
                for flag in (declaration.default, *(declaration.param_decls or ()))
                if isinstance(flag, str)
            }
            declared = {flag.split("/")[0] for flag in declared}  # --yes/--no is described by its yes
            flags |= declared or {f"--{name.replace('_', '-')}"}
    return flags


def test_every_word_of_the_settings_is_in_the_nomenclature():
    nomenclature = (ROOT / "docs/nomenclature.md").read_text()
    settings = set(oc.OccupancyEstimator().get_params()) - {"random_state", "verbose"}
    assert all(f"`{name}`" in nomenclature for name in settings)


def test_the_readme_leads_with_the_two_commands():
    assert re.findall(r"^    (make \w+)", README, re.MULTILINE)[:2] == ["make demo", "make test"]


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(code, {})


def test_the_numbers_of_the_readme_are_those_of_the_experiment():
    experiment = (ROOT / "docs/experiment.md").read_text()
    numbers = re.findall(r"\d+\.\d{4}", README)
    assert len(numbers) > 20
    assert [number for number in numbers if number not in experiment] == []


def test_the_numbers_of_real_rooms_are_those_of_the_benchmark_and_the_proofs():
    printed = "".join((ROOT / "docs" / name).read_text() for name in ("benchmark.md", "validation.md"))
    section = README[README.index("## Real rooms") : README.index("MIT licence")]
    numbers = re.findall(r"\b0\.\d{3}\b|\d\d\.\d(?= %)", section)
    assert len(numbers) > 25
    assert [number for number in numbers if number not in printed] == []


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/*.md")), ids=lambda p: p.name
)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert target.startswith("https://") or (path.parent / target).exists(), target
