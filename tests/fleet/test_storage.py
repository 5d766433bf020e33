"""Files of a portfolio on this machine and in remote stores."""

import os
import sys
import time
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from hypothesis import example, given
from hypothesis import strategies as st

from occupair.errors import InputError
from occupair.fleet.storage import (
    ABANDONED_AFTER,
    LONGEST_NAME,
    OutputError,
    Storage,
    check_outside,
    describe_error,
    file_name,
    local_path,
    open_url,
)


class FileServer(MemoryFileSystem):
    """A remote file system, such as that of sftp://, which shows files while they are written."""

    protocol = "server"
    store = {}  # noqa: RUF012  # of the class, as in the base
    pseudo_dirs = [""]  # noqa: RUF012

    @classmethod
    def _strip_protocol(cls, path):
        return MemoryFileSystem._strip_protocol(path.replace("server://", "memory://"))


@pytest.fixture(params=["folder", "file", "memory", "server"])
def storage(request, tmp_path):
    fsspec.register_implementation("server", FileServer, clobber=True)
    if request.param in ("folder", "file"):
        yield Storage(f"{'file://' * (request.param == 'file')}{tmp_path}/out/")
        return
    yield Storage(f"{request.param}://storage/out/")
    fsspec.filesystem(request.param).store.clear()


def test_files_are_written_replaced_and_deleted(storage):
    assert storage.read("rooms/lab.json") is None
    assert storage.size("rooms/lab.json") is None
    assert storage.names("rooms") == []
    storage.delete("rooms/lab.json")
    storage.write("rooms/lab.json", b"old")
    storage.write("rooms/lab.json", b"new content")
    storage.write("rooms/hall.json", b"")
    storage.write("rooms/deeper/x.json", b"")
    assert storage.read("rooms/lab.json") == b"new content"
    assert storage.size("rooms/lab.json") == 11
    assert storage.names("rooms") == ["rooms/hall.json", "rooms/lab.json"]
    assert storage.read_all(["rooms/lab.json", "rooms/none.json", "rooms/hall.json"]) == {
        "rooms/lab.json": b"new content",
        "rooms/hall.json": b"",
    }
    assert storage.read_all([]) == {}
    storage.delete("rooms/lab.json")
    assert storage.names("rooms") == ["rooms/hall.json"]
    assert storage.read("rooms/hall.json/x") is None


def test_location_opens_the_file(storage):
    storage.write("a.json", b"{}")
    system, path = open_url(storage.locate("a.json"))
    assert system.cat_file(path) == b"{}"
    assert str(storage) == storage.url
    assert not storage.url.endswith("/")


def test_failed_write_leaves_the_earlier_file(storage, monkeypatch):
    storage.write("rooms/lab.json", b"old")

    def fail(self, path, value, **kwargs):
        raise OSError(28, "No space left on device")

    def fail_to_write(self, content):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", fail)
    monkeypatch.setattr(Path, "write_bytes", fail_to_write)
    with pytest.raises(OutputError, match="cannot be written: No space left on device"):
        storage.write("rooms/lab.json", b"new")
    monkeypatch.undo()
    assert storage.read("rooms/lab.json") == b"old"
    system, path = open_url(storage.locate("rooms"))
    assert [one.rpartition("/")[2] for one in system.find(path)] == ["lab.json"]


def test_interrupted_move_leaves_no_temporary_file(monkeypatch):
    fsspec.register_implementation("server", FileServer, clobber=True)
    storage = Storage("server://storage/out")
    seen = []

    def fail(self, path1, path2, **kwargs):
        seen.append((self.cat_file(path1), storage.names("rooms")))
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(MemoryFileSystem, "mv", fail, raising=False)
    with pytest.raises(OutputError, match="cannot be written: Connection reset by peer"):
        storage.write("rooms/lab.json", b"complete")
    assert seen == [(b"complete", [])]
    system, path = open_url(storage.url)
    assert system.find(path) == []


def test_abandoned_temporary_files_are_deleted(tmp_path):
    storage = Storage(str(tmp_path))
    names = [".lab-abcdefgh.json", ".hall-12345678.occupair", ".new-abcdefgh.json", "lab.json", ".notes"]
    for name in names:
        storage.write(f"rooms/{name}", b"")
    old = time.time() - ABANDONED_AFTER - 60
    for name in [*names[:2], *names[3:]]:
        os.utime(tmp_path / "rooms" / name, (old, old))
    storage.delete_abandoned("rooms")
    assert sorted(os.listdir(tmp_path / "rooms")) == [".new-abcdefgh.json", ".notes", "lab.json"]
    assert storage.names("rooms") == ["rooms/lab.json"]


def test_writable_storage_is_left_empty(storage):
    storage.check_writable()
    system, path = open_url(storage.url)
    assert system.find(path) == []


def test_storage_that_cannot_be_written_to(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match=f"^{tmp_path}/file: cannot be written to: File exists$"):
        Storage(f"{tmp_path}/file").check_writable()
    with pytest.raises(InputError, match=r"^gs://b/models: its driver is not installed: .*gcsfs"):
        Storage("gs://b/models").check_writable()

    def refuse(self, path, value, **kwargs):
        raise PermissionError("Access Denied")

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", refuse)
    with pytest.raises(InputError, match=r"^memory://b/models: cannot be written to: Access Denied$"):
        Storage("memory://b/models").check_writable()


@pytest.mark.parametrize(
    ("out", "data"),
    [
        ("data/models", "data"),
        ("data", "data/"),
        ("./x/../data/models", "data"),
        ("s3://b/data/models/", "s3://b/data"),
    ],
)
def test_output_within_the_readings_is_refused(out, data):
    with pytest.raises(
        InputError, match=f"^{out}: is in the folder of the readings, {data}: choose another$"
    ):
        check_outside(out, data)


@pytest.mark.parametrize(
    ("out", "data"), [("models", "data"), ("data2", "data"), ("s3://b/data2", "s3://b/data"), (".", "data")]
)
def test_output_outside_the_readings(out, data):
    check_outside(out, data)


def test_url_without_fsspec(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    message = r"^s3://b/x: needs packages that are not installed: pip install 'occupair\[fleet\]'$"
    with pytest.raises(InputError, match=message):
        open_url("s3://b/x")


def test_local_paths():
    assert local_path("file:///data/x") == Path("/data/x")
    assert local_path("data/a:b") == Path("data/a:b")
    assert local_path("https://example.org/x") is None
    assert Storage("/").url == "/"


def test_error_in_one_line():
    assert (
        describe_error(FileNotFoundError(2, "No such file or directory", "x")) == "No such file or directory"
    )
    assert describe_error(ValueError("first\n  second")) == "first second"
    assert describe_error(KeyError()) == "KeyError"


@given(st.sets(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=4))
@example({"north/2.04", "north%2F2.04", "north 2.04"})
@example({"..", ".", "", "%", "%2E", "%2E."})
@example({"x" * 119 + "ab", "x" * 119 + "cd", "x" * 120})
@example({"ü" * 300, "ü" * 301})
def test_file_names_of_rooms_are_unique_and_safe(rooms):
    names = [file_name(room) for room in rooms]
    assert len(set(names)) == len(rooms)
    for name in names:
        assert name
        assert name.isascii()
        assert not name.startswith(".")
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert len(name) <= LONGEST_NAME


def test_file_name_of_a_plain_room_is_its_name():
    assert file_name("Lab 7 (north), desk+2") == "Lab 7 (north), desk+2"
    assert file_name("Büro/2") == "B%C3%BCro%2F2"
