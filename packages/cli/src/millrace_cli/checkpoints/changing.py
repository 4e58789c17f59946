"""Copies of millrace's own checkpoints: for another query, for another topic."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace

from millrace.checkpoint import GoneTopics, Offsets, StreamOffset
from millrace.contracts import TopicPartition
from millrace.errors import MillraceError
from millrace.offset_log import OffsetLogEntry
from millrace_cli.checkpoints.copying import CopyPlan
from millrace_cli.checkpoints.reading import Checkpoint

_COLUMNS_OF_TOPICS = ("millrace-schema/", "millrace-pipeline/")
"""Folders in which millrace keeps the columns of tables by the names of their topics."""


def plan_fork(checkpoint: Checkpoint) -> CopyPlan:
    """Plan a copy for another query, which goes on beside that of the original."""
    owners: dict[str, str] = {}

    def rename_owner(offset: StreamOffset) -> StreamOffset:
        new = owners.setdefault(offset.owner, uuid.uuid4().hex) if offset.owner else ""
        return replace(offset, owner=new)

    plan = with_offsets(CopyPlan.of(checkpoint), checkpoint.entries, rename_owner)
    # The state of tables stands in folders with the owner's name
    plan = plan.renamed(lambda path: "/".join(owners.get(name, name) for name in path.split("/")))
    return plan.with_new_query(checkpoint.point.done)


def plan_topic_renaming(checkpoint: Checkpoint, old: str, new: str) -> CopyPlan:
    """Plan a copy that goes on in a topic of another name, at the same offsets.

    Raises:
        MillraceError: The query does not read the old topic, reads the new one already, or keeps more of the old one.
    """
    offsets = checkpoint.last.stream_offsets().values()
    topics = {at.topic for offset in offsets for at in offset.positions}
    if old not in topics:
        listed = f"it reads {', '.join(sorted(topics))}" if topics else "import it first if it is of Spark's connector"
        raise MillraceError(
            f"the query of {checkpoint.store.location} does not read topic {old!r} with millrace; {listed}"
        )
    if new in topics:
        raise MillraceError(f"the query of {checkpoint.store.location} reads topic {new!r} already")
    if any(path.startswith(_COLUMNS_OF_TOPICS) for path in checkpoint.files):
        raise MillraceError(
            f"the checkpoint {checkpoint.store.location} keeps the columns of tables by the names of their topics, "
            f"which cannot be renamed: start with a new checkpoint location, at the offsets that `millrace checkpoint "
            f"show` prints"
        )
    plan = with_offsets(CopyPlan.of(checkpoint), checkpoint.entries, lambda offset: _in_topic(offset, old, new))
    owners = "|".join(re.escape(offset.owner) for offset in offsets if offset.owner)
    # The state of a table has a folder for its owner, in it one for each topic, and in that one for each partition
    folder = re.compile(rf"(?P<owner>/(?:{owners or '(?!)'})/){re.escape(old)}/(?=\d+/)")
    return plan.renamed(lambda path: folder.sub(rf"\g<owner>{new}/", path))


def with_offsets(
    plan: CopyPlan, entries: Mapping[int, OffsetLogEntry], change: Callable[[StreamOffset], StreamOffset]
) -> CopyPlan:
    """Change the offsets of millrace's sources in the whole offset log."""
    for batch, entry in entries.items():
        changed = {source: json.dumps(change(offset).to_json()) for source, offset in entry.stream_offsets().items()}
        if changed:
            plan = plan.with_entry(batch, replace(entry, sources={**entry.sources, **changed}))
    return plan


def _in_topic(offset: StreamOffset, old: str, new: str) -> StreamOffset:
    """Return an offset in another topic, of which neither id nor leaders are known."""

    def moved(offsets: Offsets) -> dict[TopicPartition, int]:
        return {TopicPartition(new if at.topic == old else at.topic, at.partition): n for at, n in offsets.items()}

    def others(values: Mapping[str, str]) -> dict[str, str]:
        return {topic: value for topic, value in values.items() if topic != old}

    def other_epochs(epochs: Offsets) -> dict[TopicPartition, int]:
        return {at: epoch for at, epoch in epochs.items() if at.topic != old}

    gone = offset.gone
    since = {new if topic == old else topic: at for topic, at in gone.since.items()}
    return replace(
        offset,
        positions=moved(offset.positions),
        start_overrides=moved(offset.start_overrides),
        stopping_offsets=moved(offset.stopping_offsets),
        discovered=moved(offset.discovered),
        topic_ids=others(offset.topic_ids),
        leader_epochs=other_epochs(offset.leader_epochs),
        gone=GoneTopics(moved(gone.positions), others(gone.topic_ids), other_epochs(gone.leader_epochs), since),
    )
