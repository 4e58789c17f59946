"""Files in a checkpoint's folder, on a disk and in a store that speaks as S3 does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from millrace.checkpoint_folder import UNREACHABLE, CheckpointFolder
from millrace.worker import RESOURCES

OBJECTS = {"cp/offsets/0": b"first", "cp/offsets/1": b"second", "cp/metadata": b"{}"}


class ReadOnlyStore(BaseHTTPRequestHandler):
    """A bucket that lists and gives its objects, and takes none."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        url = urlsplit(self.path)
        key = url.path.removeprefix("/bucket").strip("/")
        if "list-type" in url.query:
            (prefix,) = parse_qs(url.query)["prefix"]
            found = (name for name in OBJECTS if name.startswith(prefix))
            listed = "".join(f"<Contents><Key>{name}</Key><Size>1</Size></Contents>" for name in found)
            self._answer(200, f"<ListBucketResult>{listed}</ListBucketResult>".encode())
        elif key in OBJECTS:
            self._answer(200, OBJECTS[key])
        else:
            self._answer(404)

    do_HEAD = do_POST = do_PUT = do_GET  # noqa: N815 - names of the base class

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The requests to a store that Arrow's client takes for S3."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ReadOnlyStore)
    server.asked = asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "anyone")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    yield asked
    server.shutdown()
    server.server_close()
    RESOURCES.drop(UNREACHABLE)


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "{}/"])
def test_a_folder_on_a_disk_is_read_and_written_by_each_of_its_names(tmp_path: Path, form: str) -> None:
    root = tmp_path / "with blank %20"
    (root / "offsets").mkdir(parents=True)
    (root / "offsets" / "7").write_text("text")
    folder = CheckpointFolder(form.format(root))
    assert folder.names("offsets") == ["7"]
    assert folder.read("offsets/7") == "text"
    folder.write("note", "new")
    folder.write("note", "newer")
    assert (root / "note").read_text() == "newer"


def test_a_folder_that_is_relative_begins_where_the_process_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    CheckpointFolder("checkpoints").write("note", "text")
    assert (tmp_path / "checkpoints" / "note").read_text() == "text"


@pytest.mark.parametrize("location", ["/none/such", "hdfs://node/checkpoints", "dbfs:/checkpoints", "/a\0b"])
def test_what_cannot_be_read_is_an_error_of_input_and_output(location: str) -> None:
    with pytest.raises(OSError, match=r"."):
        CheckpointFolder(location).names("offsets")


@pytest.mark.parametrize("scheme", ["s3", "s3a"])
def test_a_folder_in_an_object_store_is_read_by_sparks_name(store: list[str], scheme: str) -> None:
    folder = CheckpointFolder(f"{scheme}://bucket/cp/")
    assert folder.names("offsets") == ["0", "1"]
    assert folder.read("offsets/1") == "second"
    with pytest.raises(FileNotFoundError):
        folder.read("note")
    assert folder.read("metadata") == "{}"


def test_a_store_that_refuses_is_not_asked_again(store: list[str]) -> None:
    folder = CheckpointFolder("s3a://bucket/cp")
    with pytest.raises(OSError, match="note"):
        folder.write("note", "text")
    asked = len(store)
    with pytest.raises(OSError, match="could not be reached before"):
        folder.names("offsets")
    assert len(store) == asked > 0
