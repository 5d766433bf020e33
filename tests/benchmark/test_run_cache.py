"""Kept runs: found again when nothing has changed, run again when anything has."""

from hashlib import sha256
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from occupair.baselines import MeanBaseline, ProfileBaseline
from occupair.benchmark import code_fingerprint as sources
from occupair.benchmark.fold_run import Run
from occupair.benchmark.methods import METHODS, Method
from occupair.benchmark.run_benchmark import run_benchmark
from occupair.benchmark.run_cache import Cache, bytes_of, default_folder, key_of, readings_digest, run_of

RUN = Run(np.array([0.1, 2.0, 1 / 3]), 1.5, 0.25)


def key(readings="r", name="profile", method=METHODS["profile"], fold=(0, 3), lag=0.0):
    return key_of(readings, name, method, fold=fold, lag=lag)


def test_a_kept_run_comes_back_equal(tmp_path):
    Cache(tmp_path).put(key(), RUN)
    kept = Cache(tmp_path).get(key())
    np.testing.assert_array_equal(kept.people, RUN.people)
    assert (kept.fit_seconds, kept.estimate_seconds) == (1.5, 0.25)
    assert Cache(tmp_path).get(key(lag=10.0)) is None


def test_no_folder_keeps_nothing(tmp_path):
    Cache(None).put(key(), RUN)
    assert Cache(None).get(key()) is None
    Cache(tmp_path).put(None, RUN)
    assert list(tmp_path.iterdir()) == []


def test_anything_that_changes_gives_another_key():
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


def test_one_reading_or_one_time_changes_the_digest(slow_office):
    digest = readings_digest(slow_office)
    warmer = slow_office.copy()
    warmer.iloc[700, 0] += 1e-9 * warmer.iloc[700, 0]
    later = slow_office.set_axis(slow_office.index + pd.Timedelta("1us"))
    zoned = slow_office.tz_localize("UTC")
    renamed = slow_office.rename(columns={"ventilation": "damper"})
    others = [readings_digest(readings) for readings in (warmer, later, zoned, renamed)]
    assert len({digest, *others}) == 5
    assert readings_digest(slow_office.copy()) == digest


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04 cut off"])
def test_a_broken_file_is_no_run(tmp_path, content):
    cache = Cache(tmp_path)
    cache.put(key(), RUN)
    (file,) = tmp_path.rglob("*.run")
    file.write_bytes(content)
    assert cache.get(key()) is None


@pytest.mark.parametrize("part", [0, 40, 100, -5])
def test_one_wrong_byte_or_a_lost_end_is_no_run(part):
    content = bytearray(bytes_of(RUN))
    assert run_of(bytes(content[:-1])) is None
    content[part] ^= 1
    assert run_of(bytes(content)) is None


@pytest.mark.parametrize(
    "arrays",
    [
        {"people": np.array([{}], dtype=object), "seconds": [1.0, 1.0]},
        {"seconds": [1.0, 1.0]},
        {"people": [1.0], "seconds": [1.0]},
    ],
)
def test_objects_and_missing_parts_are_no_run(arrays):
    packed = BytesIO()
    np.savez(packed, **arrays)
    assert run_of(sha256(packed.getvalue()).digest() + packed.getvalue()) is None
    assert run_of(sha256(b"").digest()) is None


def test_what_is_kept_is_not_run_again(tmp_path, slow_office, counting):
    def again():
        return run_benchmark({"office": slow_office}, {"counted": counting}, [0], cache=Cache(tmp_path))

    first, after_first = again(), counting.make.trained
    second = again()
    assert counting.make.trained == after_first
    pd.testing.assert_frame_equal(first.scores, second.scores)
    pd.testing.assert_frame_equal(first.estimates["office"], second.estimates["office"])
    next(tmp_path.rglob("*.run")).write_bytes(b"broken")
    third = again()
    assert counting.make.trained == after_first + 1 + 1  # one fold, and one look for look-ahead
    pd.testing.assert_frame_equal(first.estimates["office"], third.estimates["office"])


def test_a_kept_run_of_the_wrong_length_is_run_again(tmp_path, slow_office, counting):
    rooms, methods, cache = {"office": slow_office}, {"counted": counting}, Cache(tmp_path)
    run_benchmark(rooms, methods, [0], cache=cache)
    next(tmp_path.rglob("*.run")).write_bytes(bytes_of(RUN))
    assert run_benchmark(rooms, methods, [0], cache=cache).estimates["office"].notna().all().all()


def test_only_what_a_method_imports_counts():
    baselines = sources.PACKAGE / "baselines"
    files = sources.source_files(baselines / "profile.py")
    assert {baselines / "episodes.py", baselines / "calendar.py", sources.PACKAGE / "readings.py"} <= files
    assert not {"estimator.py", "kalman.py", "cli.py", "__init__.py"} & {file.name for file in files}
    assert sources.PACKAGE / "elm.py" in sources.source_files(sources.PACKAGE / "estimator.py")


def test_a_package_named_in_an_import_is_followed(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(
        "import numpy\nfrom occupair.baselines import MeanBaseline\nfrom occupair import metrics\n"
    )
    names = {file.relative_to(sources.PACKAGE).as_posix() for file in sources.source_files(own) - {own}}
    assert {"metrics.py", "baselines/__init__.py", "baselines/kalman.py"} <= names
    assert "estimator.py" not in names


def test_changed_source_text_changes_the_digest(tmp_path):
    file = tmp_path / "own.py"
    digests = []
    for text in ("a = 1\n", "a = 2\n"):
        file.write_text(text)
        sources._digest.cache_clear()
        digests.append(sources._digest(file))
    assert digests[0] != digests[1]


def test_a_method_without_a_file_is_not_kept():
    model = type("Typed", (), {"__module__": "nowhere"})
    assert key(method=Method(lambda lag: model())) is None


def test_the_folder(monkeypatch):
    monkeypatch.setenv("OCCUPAIR_CACHE", "/somewhere")
    assert default_folder() == Path("/somewhere/benchmark")
    monkeypatch.delenv("OCCUPAIR_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert default_folder() == Path("/caches/occupair/benchmark")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_folder() == Path.home() / ".cache/occupair/benchmark"
