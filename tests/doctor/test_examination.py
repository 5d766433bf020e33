"""The examination of sound and of broken installations."""

import sys
import zoneinfo
from importlib import metadata
from pathlib import Path

import pytest

from occupair.doctor import examination, machine
from occupair.doctor.compiled_code import CompiledCode, try_compiled_code
from occupair.doctor.examination import examine
from occupair.doctor.folders import find_folders, folder_size
from occupair.doctor.requirements import dependencies
from occupair.errors import InputError

REQUIRED = ["lazy_loader>=0.4", "numpy>=2.0", 'numba>=0.60; python_version >= "3.11"', "pip; extra == 'dev'"]


@pytest.fixture
def machine_with(monkeypatch):
    """Return a function that pretends some packages are of other versions, or missing."""

    def pretend(compiled=None, **versions):
        real = metadata.version

        def version(name):
            found = versions.get(name, ...)
            if found is None:
                raise metadata.PackageNotFoundError(name)
            return real(name) if found is ... else found

        monkeypatch.setattr(metadata, "version", version)
        monkeypatch.setattr(
            examination, "try_compiled_code", lambda: compiled or CompiledCode(True, 0.5, True, "/tmp")
        )
        return examine()

    return pretend


def test_sound_installation_passes(machine_with):
    found = machine_with()
    assert found.passed
    assert [str(one) for one in found.problems if one.required] == []
    assert Path(found.location).name == "occupair"
    assert {one["library"] for one in found.blas}
    assert 1 <= found.cores["usable"] <= found.cores["total"]


def test_missing_dependency_fails(machine_with):
    found = machine_with(pandas=None)
    assert not found.passed
    assert 'pandas is not installed: pip install "pandas>=2.2.2"' in map(str, found.problems)


def test_unsupported_version_fails(machine_with):
    found = machine_with(numpy="1.26.4")
    assert not found.passed
    assert 'numpy 1.26.4 is not supported: pip install "numpy>=2.0"' in map(str, found.problems)


def test_missing_numba_is_one_problem(machine_with):
    broken = CompiledCode(False, 0.0, error="No module named 'numba'")
    found = machine_with(broken, numba=None)
    assert not found.passed
    assert [str(one) for one in found.problems if "numba" in str(one)] == [
        'numba is not installed: pip install "numba>=0.60"'
    ]


def test_broken_numba_fails(machine_with):
    found = machine_with(CompiledCode(False, 0.0, error="libLLVM.so: cannot open shared object file"))
    assert not found.passed
    (problem,) = (str(one) for one in found.problems if "numba" in str(one))
    assert problem == (
        "numba does not work (libLLVM.so: cannot open shared object file), so the paper's live estimator is"
        " slower: pip install --force-reinstall numba"
    )


def test_missing_cache_is_a_note(machine_with):
    found = machine_with(CompiledCode(True, 11.0))
    assert found.passed
    assert (
        "compiled code cannot be cached, so every start compiles for some 10 s: set NUMBA_CACHE_DIR to a"
        " writable folder"
    ) in map(str, found.problems)


def test_missing_extra_is_no_problem(machine_with):
    found = machine_with(rdflib=None)
    assert found.passed
    (semantic,) = (one for one in found.document()["extras"] if one["name"] == "semantic")
    assert semantic == {
        "name": "semantic",
        "adds": "Brick models: export of the rooms, settings from the model of a building",
        "installed": False,
        "missing": ["rdflib>=7"],
        "install": 'pip install "occupair[semantic]"',
    }


def test_outdated_extra_is_a_note(machine_with):
    found = machine_with(rdflib="6.0")
    assert found.passed
    assert 'rdflib 6.0 is not supported by the extra semantic: pip install "rdflib>=7"' in map(
        str, found.problems
    )


def test_missing_time_zones_fail(machine_with, monkeypatch):
    monkeypatch.setattr(machine, "time_zone_source", lambda: None)
    found = machine_with()
    assert not found.passed
    assert "there is no time zone database: pip install tzdata" in map(str, found.problems)


def test_time_zones_of_the_package_are_found(monkeypatch):
    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    monkeypatch.setattr(metadata, "version", lambda name: "2026.1")
    assert machine.time_zone_source() == "package tzdata 2026.1"


def test_unimportable_numpy_fails(machine_with, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    found = machine_with()
    assert not found.passed
    assert any(str(one).startswith("linear algebra cannot be loaded (") for one in found.problems)


def test_markers_decide_what_is_needed():
    assert [one.requirement for one in dependencies(requirements=REQUIRED)] == [
        "lazy_loader>=0.4",
        "numpy>=2.0",
        "numba>=0.60",
    ]
    assert [one.name for one in dependencies("dev", requirements=REQUIRED)] == ["pip"]
    never = ["numba>=0.60; python_version < '3'"]
    assert dependencies(requirements=never) == []


def test_source_folder_that_is_not_installed_is_reported(monkeypatch):
    def requires(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", requires)
    with pytest.raises(InputError, match=r"^occupair is not installed: run 'pip install"):
        examine()


def test_compiled_code_works():
    found = try_compiled_code()
    assert found.works
    assert found.error == ""
    assert found.cache is not None
    assert Path(found.cache).is_dir()


def test_folder_sizes(tmp_path, monkeypatch):
    monkeypatch.setenv("OCCUPAIR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OCCUPAIR_DATA", str(tmp_path / "data"))
    (tmp_path / "data/robod").mkdir(parents=True)
    (tmp_path / "data/robod/room.csv").write_bytes(b"x" * 1000)
    (tmp_path / "compiled").mkdir()
    (tmp_path / "compiled/kernel.nbc").write_bytes(b"x" * 70)
    (tmp_path / "compiled/module.pyc").write_bytes(b"x" * 500)
    found = [
        (one.content, one.path, one.size, one.setting) for one in find_folders(str(tmp_path / "compiled"))
    ]
    assert found == [
        ("public data sets", tmp_path / "data", 1000, "OCCUPAIR_DATA"),
        ("public data sets", tmp_path / "cache/data", None, "OCCUPAIR_CACHE"),
        ("benchmark runs", tmp_path / "cache/benchmark", None, "OCCUPAIR_CACHE"),
        ("compiled code (numba)", tmp_path / "compiled", 70, "NUMBA_CACHE_DIR"),
    ]
    assert folder_size(tmp_path / "missing") is None
