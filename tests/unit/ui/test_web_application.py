from __future__ import annotations

import dataclasses
import json
import socket
import urllib.request
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest

from millrace.contracts.metrics import SinkMetrics
from millrace.errors import OptionsError
from millrace_ui.page_data import PageData
from millrace_ui.prometheus import Exposition
from millrace_ui.query_history import Histories
from millrace_ui.server import Server
from millrace_ui.web_application import PAGE_FOLDER, Settings, page_application
from support.query_reports import report


@pytest.fixture
def histories() -> Histories:
    return Histories()


@pytest.fixture
def server(histories: Histories) -> Iterator[Server]:
    application = page_application(PageData(histories), Settings(Exposition(), 60, hosts=("127.0.0.1",)))
    made = Server(application, "127.0.0.1", 0, "page")
    yield made
    made.close()


def get(url: str, **headers: str) -> HTTPResponse:
    answer: HTTPResponse = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=20)
    return answer


def refused(url: str, **headers: str) -> tuple[int, str]:
    with pytest.raises(HTTPError) as error:
        get(url, **headers)
    return error.value.code, error.value.read().decode()


def test_the_page_loads_nothing_from_elsewhere(server: Server) -> None:
    answer = get(server.url)
    assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert b"<main" in answer.read()
    for file in PAGE_FOLDER.iterdir():
        assert get(f"{server.url}page/{file.name}").read() == file.read_bytes()
        assert b"https://" not in file.read_bytes()


def test_data_are_kept_in_no_cache_and_by_no_frame(server: Server) -> None:
    for path in ("", "api/queries", "metrics", "healthz"):
        headers = get(f"{server.url}{path}").headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert get(f"{server.url}page/page.js").headers["cache-control"] is None


def test_a_query_is_given_as_json(server: Server, histories: Histories) -> None:
    histories.add(report(4, 5))
    (query,) = json.load(get(f"{server.url}api/queries"))
    assert (query["name"], query["lag"]) == ("copy", 9)
    assert len(json.load(get(f"{server.url}api/queries/{query['id']}"))["partitions"]) == 2
    charts = json.load(get(f"{server.url}api/queries/{query['id']}/charts"))
    assert (charts["lags"], charts["pipeline"]) == ([["orders-0", 4], ["orders-1", 5]], None)
    for path in ("another", "another/charts"):
        assert refused(f"{server.url}api/queries/{path}") == (404, '{"error":"this driver has no such query"}')


def test_events_have_the_queries_when_they_change(server: Server, histories: Histories) -> None:
    histories.add(report(4))
    with get(f"{server.url}events") as events:
        assert events.readline() == b"event: queries\n"
        assert json.loads(events.readline().removeprefix(b"data: "))[0]["lag"] == 4
        events.readline()
        histories.add(report(2, batch=1))
        assert events.readline() == b"event: queries\n"
        assert json.loads(events.readline().removeprefix(b"data: "))[0]["lag"] == 2
        events.readline()
        # The view of the query changes, although nothing in short does
        histories.add(dataclasses.replace(report(2, batch=1), has_run=False, sink=SinkMetrics(num_records_out=5)))
        assert events.readline() == b"event: queries\n"


def test_health_is_503_after_a_failure(server: Server, histories: Histories) -> None:
    assert get(f"{server.url}healthz").read() == b"0 queries run\n"
    histories.add(report(is_active=False, error="the topic is gone"))
    assert refused(f"{server.url}healthz") == (503, "query 'copy' has ended: the topic is gone\n")


def test_names_of_foreign_pages_are_refused(server: Server) -> None:
    # A page may have its own name point to this machine, and read what the browser gets
    assert refused(f"{server.url}api/queries", Host="evil.example")[0] == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_page_only_reads(server: Server, method: str) -> None:
    for path in ("", "events", "metrics", "api/queries/id-1/plan", "api/topics/t/messages", "page/page.js"):
        with pytest.raises(HTTPError) as error:
            urllib.request.urlopen(urllib.request.Request(f"{server.url}{path}", method=method), timeout=20)
        assert error.value.code == 405


def test_a_token_is_asked_for(histories: Histories) -> None:
    server = Server(
        page_application(PageData(histories), Settings(Exposition(), 60, token="hush")), "127.0.0.1", 0, "page"
    )
    try:
        assert refused(f"{server.url}api/queries") == (401, "give the token, as in http://HOST:PORT/?token=TOKEN\n")
        assert refused(f"{server.url}metrics", Authorization="Bearer wrong")[0] == 401
        assert get(f"{server.url}metrics", Authorization="Bearer hush").status == 200
        assert get(f"{server.url}api/queries", Cookie="millrace_token=hush").status == 200
        assert refused(f"{server.url}?token=wrong")[0] == 401
        cookie = _redirect_of(f"{server.url}?token=hush").headers["set-cookie"]
        assert cookie.startswith("millrace_token=hush; HttpOnly;")
        assert "SameSite=strict" in cookie
    finally:
        server.close()


def _redirect_of(url: str) -> HTTPResponse:
    """Return the answer itself: the token goes out of the address, into a cookie that scripts cannot read."""
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=20)
    connection.request("GET", f"{address.path}?{address.query}")
    answer = connection.getresponse()
    assert (answer.status, answer.headers["location"]) == (303, "./")
    return answer


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OptionsError, match=rf"cannot listen on 127\.0\.0\.1:{port}: .*; port 0 takes a free one"):
            Server(page_application(PageData(Histories()), Settings(Exposition(), 60)), "127.0.0.1", port, "page")


def test_closing_waits_for_no_open_page(server: Server) -> None:
    with get(f"{server.url}events") as events:
        assert events.readline() == b"event: queries\n"
        server.close()
    server.close()
