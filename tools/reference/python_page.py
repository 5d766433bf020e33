"""Python interface, from the public names and their docstrings."""

import ast
import importlib
import inspect
import itertools
import pkgutil
import re

import occupair
from occupair import metrics
from tools.reference.markdown import code, prose, table

INTRODUCTION = """# Python

`import occupair` loads nothing else; its names are imported at first use. All names on this page are
stable, as the versioning policy describes.
"""
GROUPS = {
    "Estimation": ("OccupancyEstimator", "LiveRoom", "Estimate", "tune", "Tuning"),
    "Readings": ("read_readings", "write_readings", "simulate_office", "InputError"),
    "Parts of the paper": ("smooth", "LocalSmoother", "feature_layer", "ELMRegressor", "FSELMRegressor"),
}
"""Public names of the package in the order of the page; others follow in a group of their own."""
PACKAGES = {
    "occupair.simulation": "Simulation",
    "occupair.datasets": "Public data sets",
    "occupair.checks": "Data quality",
    "occupair.baselines": "Comparison methods",
    "occupair.control": "Outdoor air",
    "occupair.fleet": "Many rooms",
}
"""Packages whose ``__all__`` is public."""
FUNCTIONS = {
    "Benchmark": ("occupair.benchmark.run_benchmark.run_benchmark",),
    "Ground truth": (
        "occupair.groundtruth.counters.read_passages.read_passages",
        "occupair.groundtruth.ledger.ledger.build_ledger",
        "occupair.groundtruth.ledger.ledger.Ledger",
        "occupair.groundtruth.ledger.ledger.label_readings",
        "occupair.groundtruth.planning.plan.plan_labels",
        "occupair.groundtruth.planning.plan.Plan",
    ),
    "Live rooms": ("occupair.live_rooms.LiveRooms", "occupair.readings.files.read_labelled"),
}
"""Further names for programs, by section."""


def metric_names() -> list[str]:
    """Return the functions of ``occupair.metrics``."""
    return [
        name
        for name, one in vars(metrics).items()
        if inspect.isfunction(one) and one.__module__ == metrics.__name__ and not name.startswith("_")
    ]


def sections() -> dict[str, list[str]]:
    """Return the dotted names of each section."""
    grouped = {name for names in GROUPS.values() for name in names}
    rest = [name for name in occupair.__all__ if name not in grouped and name != "metrics"]
    groups = {**GROUPS, **({"Other names": tuple(rest)} if rest else {})}
    found = {title: [f"occupair.{name}" for name in names] for title, names in groups.items()}
    found["Scores"] = [f"occupair.metrics.{name}" for name in metric_names()]
    for package, title in PACKAGES.items():
        found[title] = [f"{package}.{name}" for name in importlib.import_module(package).__all__]
    return found | {title: list(names) for title, names in FUNCTIONS.items()}


def resolve(dotted: str) -> object:
    module, _, name = dotted.rpartition(".")
    return getattr(importlib.import_module(module), name)


def page() -> str:
    text = INTRODUCTION
    for title, names in sections().items():
        documented = [name for name in names if is_documented(resolve(name))]
        constants = [name for name in names if name not in documented]
        pages = "".join(f"api/{name}\n" for name in documented)
        text += f"\n## {title}\n\n```{{eval-rst}}\n.. autosummary::\n\n"
        text += "".join(f"   {name}\n" for name in documented) + "```\n"
        text += f"\n```{{toctree}}\n:hidden:\n\n{pages}```\n"
        if constants:
            text += "\n" + table(
                ["Constant", "Content"], ([code(name), _comment(name)] for name in constants)
            )
    return text


def name_pages() -> dict[str, str]:
    """Return the page of each class and function, by its path without suffix."""
    names = [name for of_section in sections().values() for name in of_section]
    return {f"api/{name}": _name_page(name) for name in names if is_documented(resolve(name))}


def _name_page(dotted: str) -> str:
    module, _, name = dotted.rpartition(".")
    one = resolve(dotted)
    directive = (
        f".. currentmodule:: {module}\n\n.. auto{'class' if inspect.isclass(one) else 'function'}:: {name}\n"
    )
    if inspect.isclass(one):
        directive += "   :members:\n"
        fields = getattr(one, "_fields", ())  # described in the docstring of the class
        routing = [name for name in dir(one) if re.fullmatch(r"set_\w+_request", name)]  # of scikit-learn
        if excluded := [*fields, *routing]:
            directive += f"   :exclude-members: {', '.join(excluded)}\n"
    return f"# {name}\n\n```{{eval-rst}}\n{directive}```\n"


def is_documented(one: object) -> bool:
    return inspect.isclass(one) or inspect.isfunction(one)


def _comment(dotted: str) -> str:
    """Return the first paragraph of the string below a constant, in the module that defines it."""
    package, _, name = dotted.rpartition(".")
    folder = importlib.import_module(package).__path__
    modules = [package, *(f"{package}.{one.name}" for one in pkgutil.iter_modules(folder))]
    for module in modules:
        body = ast.parse(inspect.getsource(importlib.import_module(module))).body
        for statement, after in itertools.pairwise(body):
            if name in _assigned(statement) and isinstance(after, ast.Expr):
                return prose(ast.literal_eval(after.value).split("\n\n")[0])
    raise ValueError(f"{dotted} has no description below its definition")


def _assigned(statement: ast.stmt) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]
