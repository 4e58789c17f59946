"""Note on the driver's disk which micro-batch the newest run of a query has completed.

A run repeats its first micro-batch at most. One that follows a completed one is in no doubt, whatever the brokers have
forgotten while the query was idle; Spark ends the Python processes of an idle query, so that none of them remembers.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from millrace.configuration import SinkConfig

logger = logging.getLogger("millrace.sink")


@dataclass(frozen=True)
class CompletedRun:
    """The newest run of a query.

    Attributes:
        run: Its id; each start of the query has another one.
        batch: A micro-batch that it has completed.
        at: The time of that, in seconds since 1970.
        write: The id of the batch write that has completed it inside foreachBatch; empty for a streaming write.
    """

    run: str
    batch: int
    at: float
    write: str = ""


def completed_run(config: SinkConfig) -> CompletedRun | None:
    """Return the newest run with a prefix that has completed a micro-batch, if this machine's disk knows it."""
    try:
        return CompletedRun(**json.loads(_file(config).read_text()))
    except (OSError, TypeError, ValueError):
        return None


def note_completed_run(config: SinkConfig, completed: CompletedRun) -> None:
    """Replace the note of a prefix. Without it a query that is idle for long ends, which is no reason to end one."""
    file = _file(config)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_suffix(f".{os.getpid()}")
        written.write_text(json.dumps(asdict(completed)))
        written.replace(file)
    except OSError as error:
        logger.warning("a query that is idle for days may need 'sink.exactly-once.if-in-doubt': %s", error)


def _file(config: SinkConfig) -> Path:
    place = f"{config.client.get('bootstrap.servers')} {config.options.transactional_id_prefix}"
    return _folder() / f"{hashlib.sha256(place.encode()).hexdigest()[:32]}.json"


def _folder() -> Path:
    try:
        state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:
        # A user without a home, as in some containers
        state = Path(tempfile.gettempdir()) / f"millrace-{os.getuid()}"
    return Path(state) / "millrace" / "exactly-once"
