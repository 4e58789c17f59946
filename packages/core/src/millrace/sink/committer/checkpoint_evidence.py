"""Evidence in a query's checkpoint of what brokers have forgotten.

Offsets expire, a checkpoint does not. Its offset log has the time when Spark planned the newest micro-batch, which it
keeps when the micro-batch is repeated. The driver also notes with which sink the query has completed one. A query that
was stopped for long could not be distinguished otherwise from one whose prefix or topic has been changed.
"""

from __future__ import annotations

import json
import logging
import time

from millrace.checkpoint_folder import CheckpointFolder
from millrace.configuration import SinkConfig
from millrace.errors import LedgerError, MillraceError
from millrace.offset_log import OffsetLogEntry
from millrace.sink.committer.completed_batches import CompletedRun
from millrace.sink.committer.ledger import is_remembered
from millrace.sink.committer.ledger_store import ledger_topic
from millrace.sink.write_task import PlannedBatch

logger = logging.getLogger("millrace.sink")

NOTE = "millrace-exactly-once.json"
"""The file in the checkpoint's folder, which Spark leaves alone."""

_OFFSET_LOG = "offsets"


def planned_batch(config: SinkConfig, completed: CompletedRun | None, now: float | None = None) -> PlannedBatch | None:
    """Return what the checkpoint says of the newest micro-batch, where brokers may have forgotten the query.

    Args:
        config: The sink's configuration.
        completed: The newest run with the prefix, as this machine's disk knows it: as long as its registration is
            fresh, the checkpoint is not asked, which may be far away.
        now: The time, in seconds since 1970; by default the current one.

    Returns:
        None where brokers have not forgotten anything, and where the checkpoint cannot be read.
    """
    now = time.time() if now is None else now
    if not config.checkpoint_location:
        return None
    if completed is not None and now - completed.at < config.ledger_retention_s / 2:
        return None
    folder = CheckpointFolder(config.checkpoint_location)
    try:
        batch = max(int(name) for name in folder.names(_OFFSET_LOG) if name.isdigit())
        at = OffsetLogEntry.parse(folder.read(f"{_OFFSET_LOG}/{batch}")).planning_time()
    except (OSError, ValueError, MillraceError) as error:
        logger.info("the checkpoint does not show when a micro-batch was planned: %s", error)
        return None
    if at is None or (batch == 0 and is_remembered(at, now, config.ledger_retention_s)):
        # The first micro-batch needs no evidence as long as its ledgers are there, however long it then takes
        return None
    return PlannedBatch(batch, at, *_noted(config, folder))


def check_ledgers_expired(config: SinkConfig, planned: PlannedBatch, now: float) -> None:
    """Check that brokers that do not know a query any more have forgotten it after their retention, not before.

    Args:
        config: The sink's configuration.
        planned: The note of the query, and its micro-batch.
        now: The time, in seconds since 1970.

    Raises:
        LedgerError: They cannot have: somebody has deleted it, and with it what shows which rows are written.
    """
    if planned.noted_batch >= planned.batch or not is_remembered(planned.noted_at, now, config.ledger_retention_s):
        return
    prefix, topic = config.options.transactional_id_prefix, ledger_topic(config)
    raise LedgerError(
        f"the checkpoint shows that micro-batch {planned.noted_batch} of the query was completed, "
        f"{(now - planned.noted_at) / 3600:.1f} hours ago, but Kafka knows of none: the consumer groups "
        f"'{prefix}.millrace-...', or topic {topic!r} whose offsets they hold, were deleted. Whether micro-batch "
        f"{planned.batch} was written, in whole or in part, when the query last ended, is therefore unknown. Look at "
        f"the topic; to continue and write it, start the query once with 'sink.exactly-once.if-in-doubt' = 'write'"
    )


def note_completed_batch(config: SinkConfig, query: str, batch: int, now: float) -> None:
    """Note in the checkpoint that a query has completed a micro-batch with this sink, unless it cannot be written.

    Args:
        config: The sink's configuration.
        query: The streaming query.
        batch: The micro-batch.
        now: When the query was registered with the brokers, in seconds since 1970.
    """
    if not config.checkpoint_location:
        return
    note = {"query": query, "batch": batch, "sink": _sink(config), "at": int(now)}
    try:
        CheckpointFolder(config.checkpoint_location).write(NOTE, json.dumps(note))
    except OSError as error:
        logger.info("a query that is stopped for days may need 'sink.exactly-once.if-in-doubt': %s", error)


def copied_note(query: str, batch: int) -> str:
    """Return the note for a copy of a checkpoint: no sink has anything of its query's later micro-batches.

    Args:
        query: The query of the copy.
        batch: The last micro-batch that is complete in it.
    """
    return json.dumps({"query": query, "batch": batch, "sink": None, "at": 0})


def _noted(config: SinkConfig, folder: CheckpointFolder) -> tuple[str, int, float]:
    """Return query, micro-batch and time of the note; nothing of a note that is damaged or of another sink."""
    try:
        note = json.loads(folder.read(NOTE))
        if note["sink"] in (None, _sink(config)):
            return str(note["query"]), int(note["batch"]), float(note.get("at", 0))
    except (OSError, KeyError, TypeError, ValueError):
        pass
    return "", -1, 0.0


def _sink(config: SinkConfig) -> list[str]:
    """Identify the place of a sink's ledgers."""
    return [
        str(config.client.get("bootstrap.servers")),
        str(config.options.transactional_id_prefix),
        ledger_topic(config),
    ]
