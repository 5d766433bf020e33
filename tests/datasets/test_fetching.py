"""Downloads from a local server: complete and verified, or nothing."""

import gzip
import hashlib
import io
import json
import re
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from occupair.datasets import DataSet, RemoteFile, fetch
from occupair.datasets.fetching import CHUNK
from occupair.errors import InputError
from occupair.progress import progress_to

PAGE = "https://example.org/rooms"
TEXT = b"time,co2\n" * 20_000  # 180,000 bytes, three chunks


class Server(ThreadingHTTPServer):
    """Serves ``pages`` (path -> bytes), records requests, and can announce a wrong length."""

    def __init__(self):
        self.pages, self.requests, self.announced = {}, [], {}
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.requests.append(self.path)
        if self.path not in self.server.pages:
            self.send_error(404)
            return
        content = self.server.pages[self.path]
        self.send_response(200)
        length = self.server.announced.get(self.path, len(content))
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def rooms(*files):
    return DataSet("rooms", "Rooms", "nobody", "CC0-1.0", PAGE, files)


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def test_files_are_downloaded_with_progress(server, tmp_path):
    server.pages = {"/a.csv": TEXT, "/b.csv": b"b"}
    wanted = rooms(
        RemoteFile("a.csv", f"{server.url}/a.csv", sha256(TEXT)),
        RemoteFile("b.csv", f"{server.url}/b.csv", sha256(b"b")),
    )
    progress = []
    with progress_to(lambda *step: progress.append(step)):
        paths = fetch("rooms", tmp_path / "new", data_set=wanted)
    assert paths == [tmp_path / "new/a.csv", tmp_path / "new/b.csv"]
    assert [path.read_bytes() for path in paths] == [TEXT, b"b"]
    assert len(TEXT) // CHUNK + 1 == 3
    assert progress[:4] == [("downloading rooms", done, 3) for done in (0, 1, 2, 3)]
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["a.csv", "b.csv"]


def test_download_without_content_length(server, tmp_path):
    server.pages, server.announced = {"/a.csv": TEXT}, {"/a.csv": None}
    [path] = fetch("", tmp_path, data_set=rooms(RemoteFile("a.csv", f"{server.url}/a.csv", sha256(TEXT))))
    assert path.read_bytes() == TEXT


def test_existing_files_are_not_downloaded_again(server, tmp_path):
    (tmp_path / "a.csv").write_bytes(TEXT)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"b"))
    wanted = rooms(
        RemoteFile("a.csv", f"{server.url}/a.csv", sha256(TEXT)),
        RemoteFile("b.csv", f"{server.url}/b.csv", sha256(b"b")),
    )
    assert fetch("rooms", tmp_path, data_set=wanted) == [tmp_path / "a.csv", tmp_path / "b.csv.gz"]
    assert server.requests == []


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_wrong_file_is_replaced(server, tmp_path, name):
    (tmp_path / name).write_bytes(b"half")
    server.pages = {"/a.csv": TEXT}
    wanted = rooms(RemoteFile("a.csv", f"{server.url}/a.csv", sha256(TEXT)))
    assert fetch("rooms", tmp_path, data_set=wanted) == [tmp_path / "a.csv"]
    assert (tmp_path / "a.csv").read_bytes() == TEXT


def test_zip_is_downloaded_once_for_all_members(server, tmp_path):
    members = {"raw/a.csv": b"other", "filled/a.csv": b"a", "filled/b.csv": b"b", "filled/c.csv": b"c"}
    server.pages = {"/all.zip": zipped(members)}
    url = f"{server.url}/all.zip"
    wanted = rooms(RemoteFile("a.csv", url, sha256(b"a")), RemoteFile("b.csv", url, sha256(b"b")))
    assert [path.read_bytes() for path in fetch("rooms", tmp_path, data_set=wanted)] == [b"a", b"b"]
    assert server.requests == ["/all.zip"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def collection(server, files):
    """Let the server respond like figshare for collection 7, whose second article has the files."""
    server.pages["/v2/collections/7/articles"] = json.dumps([{"id": 1}, {"id": 2}]).encode()
    server.pages["/v2/articles/1"] = json.dumps({"files": []}).encode()
    server.pages["/v2/articles/2"] = json.dumps({"files": files}).encode()
    return f"{server.url}/v2/collections/7/articles"


def test_zip_of_a_figshare_collection(server, tmp_path):
    files = [
        {"name": "read.me", "download_url": ""},
        {"name": "D.zip", "download_url": f"{server.url}/files/9"},
    ]
    url = collection(server, files)
    server.pages["/files/9"] = zipped({"filled/a.csv": b"a"})
    [path] = fetch("rooms", tmp_path, data_set=rooms(RemoteFile("a.csv", url, sha256(b"a"))))
    assert path.read_bytes() == b"a"


def fails(server, tmp_path, url, message):
    """Check that fetching a.csv from ``url`` raises a one-line error and leaves no file."""
    with pytest.raises(InputError, match=message) as caught:
        fetch("rooms", tmp_path, data_set=rooms(RemoteFile("a.csv", url, sha256(TEXT))))
    assert "\n" not in str(caught.value)
    assert not tmp_path.exists() or list(tmp_path.iterdir()) == []


def test_wrong_checksum_is_refused(server, tmp_path):
    server.pages = {"/a.csv": b"something else"}
    message = rf"a.csv: a.csv has SHA-256 {sha256(b'something else')}, expected {sha256(TEXT)}"
    fails(server, tmp_path, f"{server.url}/a.csv", message)


def test_interrupted_download_is_refused(server, tmp_path):
    server.pages, server.announced = {"/a.csv": TEXT[:CHUNK]}, {"/a.csv": len(TEXT)}
    fails(server, tmp_path, f"{server.url}/a.csv", r"has SHA-256|the download was interrupted")


def test_failed_download_does_not_replace_a_file(server, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"mine")
    server.pages = {"/a.csv": b"something else"}
    with pytest.raises(InputError, match="has SHA-256"):
        fetch("", tmp_path, data_set=rooms(RemoteFile("a.csv", f"{server.url}/a.csv", sha256(TEXT))))
    assert (tmp_path / "a.csv").read_bytes() == b"mine"


def test_missing_address_is_refused(server, tmp_path):
    message = rf"/a.csv: the server responded 404 Not Found; download it by hand from {PAGE}"
    fails(server, tmp_path, f"{server.url}/a.csv", message)


def test_failed_download_leaves_no_new_folder(server, tmp_path):
    fails(server, tmp_path / "rooms", f"{server.url}/a.csv", "404 Not Found")
    assert list(tmp_path.iterdir()) == []


def test_connection_error_is_refused(server, tmp_path):
    fails(server, tmp_path, "http://127.0.0.1:1/a.csv", rf"cannot connect, .*refused; .*by hand from {PAGE}")
    fails(server, tmp_path, "no address", rf"no address: cannot connect, .*; .*by hand from {PAGE}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a zip", r"all.zip: is not a valid zip file, "),
        (zipped({"b.csv": b"b"}), r"all.zip: does not contain a.csv"),
        (zipped({"x/a.csv": b"a"}), rf"all.zip: a.csv has SHA-256 {sha256(b'a')}, expected"),
    ],
    ids=["no zip", "other file", "other content"],  # the bytes have the time of day
)
def test_invalid_zip_is_refused(server, tmp_path, content, message):
    server.pages = {"/all.zip": content}
    fails(server, tmp_path, f"{server.url}/all.zip", message)


def test_collection_without_zip_is_refused(server, tmp_path):
    url = collection(server, [{"name": "read.me", "download_url": ""}])
    fails(server, tmp_path, url, rf"{re.escape(url)}: lists no zip file; .*by hand from {PAGE}")


@pytest.mark.parametrize("response", [b"<html>", b'{"message": "not found"}', b'[{"title": "no id"}]'])
def test_unexpected_response_of_figshare_is_refused(server, tmp_path, response):
    url = collection(server, [])
    server.pages["/v2/collections/7/articles"] = response
    fails(server, tmp_path, url, rf"the response is not a list of files; .*by hand from {PAGE}")


def test_unknown_data_set_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"unknown data set 'attic', choose from sdu2018"):
        fetch("attic", tmp_path)


def test_folder_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"file: cannot create folder: File exists"):
        fetch("robod", tmp_path / "file")
