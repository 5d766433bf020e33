"""Atomic writes and their failures."""

import os
import stat
import threading

import pytest

from occupair.atomic_files import abandoned_files, check_writable, replacing, write_atomically


def test_failure_leaves_only_the_old_file(tmp_path):
    path = tmp_path / "model"
    write_atomically(path, b"old")

    def half_written():
        with replacing(path) as scratch:
            scratch.write_text("ne")
            raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        half_written()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["model"]


def test_permissions_are_default_for_new_and_preserved_for_old_files(tmp_path):
    path, usual = tmp_path / "model", tmp_path / "usual"
    usual.touch()
    write_atomically(path, "text")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o600)
    write_atomically(path, "text")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_temporary_file_has_the_suffix(tmp_path):
    with replacing(tmp_path / "table.parquet") as scratch:
        assert scratch.suffix == ".parquet"


def test_folder_is_rejected(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder: give a file name"):
        write_atomically(tmp_path, "text")


def test_symbolic_link_is_preserved(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "text"


def test_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    write_atomically(pipe, "text")
    reader.join()
    assert received == ["text"]
    assert pipe.is_fifo()


def test_check_writable_leaves_no_trace(tmp_path):
    check_writable(tmp_path / "new")
    assert os.listdir(tmp_path) == []
    with pytest.raises(FileNotFoundError) as error:
        check_writable(tmp_path / "no" / "such" / "file")
    assert error.value.filename == str(tmp_path / "no" / "such" / "file")


def test_files_of_killed_writers_are_found(tmp_path):
    for name in (".index-a1b2c3d4.json", ".index-short.json", ".other-a1b2c3d4.json", "index.json"):
        (tmp_path / name).touch()

    def write():
        with replacing(tmp_path / "index.json") as scratch:
            found.extend(abandoned_files(tmp_path, "index.json"))
            found.remove(scratch)

    found = []
    write()
    assert found == [tmp_path / ".index-a1b2c3d4.json"]
