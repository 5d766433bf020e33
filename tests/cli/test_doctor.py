"""The doctor command: tables, JSON, and its exit status."""

import json
import subprocess
import sys

from command import occupair

import occupair as oc


def test_json_has_every_part():
    done = occupair("doctor", "--json")
    assert done.returncode == 0, done.stdout
    document = json.loads(done.stdout)
    assert document["occupair"]["version"] == oc.__version__
    assert document["passed"] is True
    assert {"numpy", "pandas", "numba"} <= {one["name"] for one in document["dependencies"]}
    assert all(one["supported"] for one in document["dependencies"])
    assert set(document) == {
        "occupair", "passed", "problems", "python", "dependencies", "extras", "compiled_code", "blas",
        "cores", "time_zones", "folders",
    }  # fmt: skip


def test_missing_numba_is_reported_with_status_1():
    code = """if True:
        import sys
        from importlib import metadata
        sys.modules["numba"] = None
        real = metadata.version
        def version(name):
            if name == "numba":
                raise metadata.PackageNotFoundError(name)
            return real(name)
        metadata.version = version
        from occupair.__main__ import main
        main()
    """
    done = subprocess.run([sys.executable, "-c", code, "doctor"], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert 'problem: numba is not installed: pip install "numba>=0.60"' in lines
    assert any(line.split() == ["numba", "not", "installed", ">=0.60", "problem"] for line in lines)
    assert any(line.split() == ["compiled", "code", "not", "available"] for line in lines)
