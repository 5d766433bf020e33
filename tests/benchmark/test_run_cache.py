"""Cached runs are reused only if nothing they depend on has changed."""

from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from occupair.baselines import MeanBaseline, ProfileBaseline
from occupair.benchmark import code_fingerprint
from occupair.benchmark.code_fingerprint import PACKAGE, source_files
from occupair.benchmark.fold_run import Run
from occupair.benchmark.methods import METHODS, Method
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.benchmark.run_cache import (
    Cache,
    cache_key,
    parse_run,
    readings_digest,
    serialise_run,
)
from occupair.user_folders import benchmark_folder

RUN = Run(np.array([0.1, 2.0, 1 / 3]), 1.5, 0.25)


def key(readings="r", name="profile", method=METHODS["profile"], fold=(0, 3), lag=0.0):
    return cache_key(readings, name, method, fold=fold, lag=lag)


def test_cached_run_is_returned_unchanged(tmp_path):
    Cache(tmp_path).put(key(), RUN)
    cached = Cache(tmp_path).get(key())
    np.testing.assert_array_equal(cached.people, RUN.people)
    assert (cached.fit_seconds, cached.estimate_seconds) == (1.5, 0.25)
    assert Cache(tmp_path).get(key(lag=10.0)) is None


def test_without_a_folder_nothing_is_cached(tmp_path):
    Cache(None).put(key(), RUN)
    assert Cache(None).get(key()) is None
    Cache(tmp_path).put(None, RUN)
    assert list(tmp_path.iterdir()) == []


def test_any_change_gives_a_different_key():
    slotted = Method(lambda lag: ProfileBaseline(lag=lag, slot=15))
    others = [
        key("s"),
        key(name="habits"),
        key(method=slotted),
        key(method=Method(MeanBaseline)),
        key(fold=(1, 3)),
        key(fold=(0, 2)),
        key(lag=10.0),
    ]
    assert len({key(), *others}) == 1 + len(others)
    assert key(lag=0) == key()


def test_readings_digest_depends_on_values_times_zone_and_names(slow_office):
    digest = readings_digest(slow_office)
    warmer = slow_office.copy()
    warmer.iloc[700, 0] += 1e-9 * warmer.iloc[700, 0]
    later = slow_office.set_axis(slow_office.index + pd.Timedelta("1us"))
    zoned = slow_office.tz_localize("UTC")
    renamed = slow_office.rename(columns={"ventilation": "damper"})
    others = [readings_digest(readings) for readings in (warmer, later, zoned, renamed)]
    assert len({digest, *others}) == 5
    assert readings_digest(slow_office.copy()) == digest


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04 truncated"])
def test_damaged_file_is_ignored(tmp_path, content):
    cache = Cache(tmp_path)
    cache.put(key(), RUN)
    (file,) = tmp_path.rglob("*.run")
    file.write_bytes(content)
    assert cache.get(key()) is None


@pytest.mark.parametrize("part", [0, 40, 100, -5])
def test_corrupt_or_truncated_run_is_rejected(part):
    content = bytearray(serialise_run(RUN))
    assert parse_run(bytes(content[:-1])) is None
    content[part] ^= 1
    assert parse_run(bytes(content)) is None


@pytest.mark.parametrize(
    "arrays",
    [
        {"people": np.array([{}], dtype=object), "seconds": [1.0, 1.0]},
        {"seconds": [1.0, 1.0]},
        {"people": [1.0], "seconds": [1.0]},
    ],
)
def test_objects_and_missing_arrays_are_rejected(arrays):
    packed = BytesIO()
    np.savez(packed, **arrays)
    assert parse_run(sha256(packed.getvalue()).digest() + packed.getvalue()) is None
    assert parse_run(sha256(b"").digest()) is None


def test_cached_runs_are_not_recomputed(tmp_path, slow_office, counting):
    def again():
        return run_benchmark({"office": slow_office}, {"counted": counting}, [0], cache=Cache(tmp_path))

    first, after_first = again(), counting.make.trained
    second = again()
    assert counting.make.trained == after_first
    pd.testing.assert_frame_equal(first.scores, second.scores)
    pd.testing.assert_frame_equal(first.estimates["office"], second.estimates["office"])
    next(tmp_path.rglob("*.run")).write_bytes(b"broken")
    third = again()
    assert counting.make.trained == after_first + 1 + 1  # one fold, and one look-ahead check
    pd.testing.assert_frame_equal(first.estimates["office"], third.estimates["office"])


def test_cached_run_of_wrong_length_is_recomputed(tmp_path, slow_office, counting):
    rooms, methods, cache = {"office": slow_office}, {"counted": counting}, Cache(tmp_path)
    run_benchmark(rooms, methods, [0], cache=cache)
    next(tmp_path.rglob("*.run")).write_bytes(serialise_run(RUN))
    assert run_benchmark(rooms, methods, [0], cache=cache).estimates["office"].notna().all().all()


def test_fingerprint_covers_only_imported_modules():
    baselines = PACKAGE / "baselines"
    files = source_files(baselines / "profile.py")
    assert {baselines / "baseline.py", baselines / "time_of_day.py", PACKAGE / "readings/schema.py"} <= files
    assert not {"estimator.py", "kalman.py", "cli.py"} & {file.name for file in files}
    assert PACKAGE / "elm/regressors.py" in source_files(PACKAGE / "estimator.py")


def test_fingerprint_follows_package_imports(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "import numpy\nfrom occupair.baselines import MeanBaseline\nfrom occupair import metrics\n"
    )
    names = {file.relative_to(PACKAGE).as_posix() for file in source_files(own) - {own}}
    assert {"metrics.py", "baselines/__init__.py", "baselines/kalman.py"} <= names
    assert "estimator.py" not in names


def test_changed_source_code_changes_the_digest(tmp_path):
    file = tmp_path / "own.py"
    digests = []
    for text in ("a = 1\n", "a = 2\n"):
        file.write_text(text)
        code_fingerprint._digest.cache_clear()
        digests.append(code_fingerprint._digest(file))
    assert digests[0] != digests[1]


def test_method_without_source_file_is_not_cached():
    model = type("Typed", (), {"__module__": "nowhere"})
    assert key(method=Method(lambda lag: model())) is None


def test_default_cache_folder(monkeypatch):
    monkeypatch.setenv("OCCUPAIR_CACHE", "/somewhere")
    assert benchmark_folder() == Path("/somewhere/benchmark")
    monkeypatch.delenv("OCCUPAIR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert benchmark_folder() == Path("/caches/occupair/benchmark")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert benchmark_folder() == Path.home() / ".cache/occupair/benchmark"
