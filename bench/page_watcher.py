"""Watch a live page as a browser does, and scrape metrics as Prometheus does, until standard input ends.

It is a process of its own, so that it does not take turns with the code that measures. It fails where it could not
watch until then, since what is measured meanwhile would be of a query that nobody watches.
"""

from __future__ import annotations

import json
import sys
import threading
import urllib.request

from bench.steady_producer import set_at_end_of_input

_SCRAPE_INTERVAL_S = 1.0


def main(page: str, metrics: str) -> None:
    """Ask for the charts of a page's queries after each event, and for metrics once a second."""
    ended = threading.Event()
    threading.Thread(target=set_at_end_of_input, args=(ended,), daemon=True).start()
    watching = threading.Thread(target=_watch, args=(page,), daemon=True)
    watching.start()
    while not ended.wait(_SCRAPE_INTERVAL_S):
        urllib.request.urlopen(metrics, timeout=30).read()
        if not watching.is_alive():
            raise RuntimeError("the page has ended its events, or did not answer")


def _watch(page: str) -> None:
    with urllib.request.urlopen(f"{page}events") as events:
        for line in events:
            if line.startswith(b"data: "):
                for query in json.loads(line.removeprefix(b"data: ")):
                    if query["state"] == "running":
                        urllib.request.urlopen(f"{page}api/queries/{query['id']}/charts", timeout=30).read()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
