"""Put the functions of a mutated file into the module that is already loaded.

Other modules and tests hold references to the functions of the module. These objects stay the same and get
the code and the defaults of their mutated versions; constants are replaced wherever they were imported.
"""

from __future__ import annotations

import sys
from types import FunctionType, ModuleType
from typing import Any

SIMPLE = (int, float, str, tuple, type(None))


def transplant(module: ModuleType, source: str) -> None:
    """Make ``module`` behave as if its file had the text ``source``."""
    mutated = ModuleType(module.__name__)
    mutated.__file__ = module.__file__
    mutated.__package__ = module.__package__
    code = compile(source, module.__file__ or "<mutant>", "exec")
    exec(code, mutated.__dict__)
    for name, new in list(vars(mutated).items()):
        if name.startswith("__") or name not in vars(module):
            continue
        old = vars(module)[name]
        if new is old:  # imported
            continue
        if getattr(new, "__module__", None) == module.__name__ and _transplant_object(old, new):
            continue
        _replace_everywhere(name, old, new)


def _transplant_object(old: Any, new: Any) -> bool:
    """Change ``old`` into ``new`` in place; whether that is possible."""
    old, new = _plain_function(old), _plain_function(new)
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        if old.__code__.co_freevars != new.__code__.co_freevars:
            return False
        old.__code__ = new.__code__
        old.__defaults__ = new.__defaults__
        old.__kwdefaults__ = new.__kwdefaults__
        for cell, mutated in zip(old.__closure__ or (), new.__closure__ or (), strict=True):
            if isinstance(mutated.cell_contents, SIMPLE):  # the default of a field of a dataclass
                cell.cell_contents = mutated.cell_contents
        return True
    if isinstance(old, type) and isinstance(new, type):
        for name, value in list(vars(new).items()):
            if name in vars(old) and not _transplant_object(vars(old)[name], value):
                _set_attribute(old, name, value)
        return True
    return False


def _plain_function(value: Any) -> Any:
    """Return the function in a property, static method, class method, cached property or cache."""
    for attribute in ("fget", "func", "__wrapped__", "__func__"):
        inner = getattr(value, attribute, None)
        if isinstance(inner, FunctionType) and not isinstance(value, type):
            return inner
    return value


def _set_attribute(owner: type, name: str, value: Any) -> None:
    if isinstance(value, SIMPLE) and not name.startswith("__"):
        setattr(owner, name, value)


def _replace_everywhere(name: str, old: Any, new: Any) -> None:
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and vars(module).get(name, new) is old:
            vars(module)[name] = new
