"""A store of objects on this machine that Arrow's client takes for S3: a bucket in memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

from support.names import unique_name
from support.serving import serving


class Bucket(ThreadingHTTPServer):
    """The bucket ``bucket``.

    Attributes:
        objects: Its objects, by their keys.
        requests: The method and the key of each request, in order.
        is_read_only: Whether it refuses all that would change it.
    """

    daemon_threads = True

    def __init__(self, objects: dict[str, bytes], *, is_read_only: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.objects = objects
        self.requests: list[tuple[str, str]] = []
        self.is_read_only = is_read_only
        self.uploads: dict[str, dict[int, bytes]] = {}


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Bucket

    def _answer(self) -> None:
        url = urlsplit(self.path)
        key, query = unquote(url.path).removeprefix("/bucket").strip("/"), parse_qs(url.query, keep_blank_values=True)
        body = self._body()
        self.server.requests.append((self.command, key))
        if self.command in ("GET", "HEAD"):
            self._send(*(self._list(query) if "list-type" in query else self._read(key)))
        elif self.server.is_read_only:
            self._send(404)
        else:
            self._send(200, self._change(key, query, body))

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer  # noqa: N815 - names of the base class

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = _join_chunks(self.rfile)
            # Behind the last one is an empty line
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return _join_chunks(io.BytesIO(body)) if "aws-chunked" in self.headers.get("Content-Encoding", "") else body

    def _list(self, query: dict[str, list[str]]) -> tuple[int, bytes]:
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        listed, folders = [], set()
        for key, content in sorted(self.server.objects.items()):
            name, slash, _ = key.removeprefix(prefix).partition(delimiter or "\0")
            if key.startswith(prefix) and slash:
                folders.add(f"{prefix}{name}{slash}")
            elif key.startswith(prefix):
                listed.append(f"<Contents><Key>{escape(key)}</Key><Size>{len(content)}</Size></Contents>")
        listed += [f"<CommonPrefixes><Prefix>{escape(folder)}</Prefix></CommonPrefixes>" for folder in sorted(folders)]
        return 200, f"<ListBucketResult>{''.join(listed)}</ListBucketResult>".encode()

    def _read(self, key: str) -> tuple[int, bytes]:
        content = self.server.objects.get(key)
        return (404, b"") if content is None else (200, content)

    def _change(self, key: str, query: dict[str, list[str]], body: bytes) -> bytes:
        if "uploads" in query:
            upload = unique_name("upload")
            self.server.uploads[upload] = {}
            return (
                f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>".encode()
            )
        if "partNumber" in query:
            self.server.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = body
        elif "uploadId" in query and self.command == "POST":
            self.server.objects[key] = b"".join(
                part for _, part in sorted(self.server.uploads[query["uploadId"][0]].items())
            )
            return b"<CompleteMultipartUploadResult><ETag>a</ETag></CompleteMultipartUploadResult>"
        elif "delete" in query:
            for deleted in re.findall(rb"<Key>(.*?)</Key>", body):
                self.server.objects.pop(deleted.decode(), None)
            return b"<DeleteResult/>"
        elif self.command == "PUT":
            self.server.objects[key] = body
        elif self.command == "DELETE":
            self.server.objects.pop(key, None)
        return b""

    def _send(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"a"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _join_chunks(stream: IO[bytes]) -> bytes:
    """Read chunks, each behind a line with its length, up to an empty one."""
    chunks = []
    while length := int(stream.readline().partition(b";")[0], 16):
        chunks.append(stream.read(length))
        stream.readline()
    return b"".join(chunks)


@contextmanager
def object_store(
    monkeypatch: pytest.MonkeyPatch, objects: dict[str, bytes], *, is_read_only: bool = False
) -> Iterator[Bucket]:
    """Run a store to which Arrow's client connects for ``s3://bucket``."""
    bucket = Bucket(objects, is_read_only=is_read_only)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{bucket.server_port}")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "anyone")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with serving(bucket):
        yield bucket
