"""Plan a write: topics, transactional ids and permissions; nothing is created, and no producer connects."""

from __future__ import annotations

from collections.abc import Mapping

from millrace.configuration import SinkConfig
from millrace.errors import MillraceError, UnreachableError
from millrace.kafka.write_admin import WriteAdmin
from millrace.plans.model import JobPlan
from millrace.plans.parts import PlannedCreation, PlannedPermission, PlannedWrite
from millrace.plans.resolved_options import resolved_options
from millrace.sink.committer.ledger_store import ledger_group, registration_group, transactional_id
from millrace.sink.preflight import CLEANUP_POLICY, COMPACT, check_and_complete


def plan_write(
    raw: Mapping[str, str], config: SinkConfig, *, name: str = "", tasks: int | None = None, origins: Mapping[str, str]
) -> JobPlan:
    """Plan a write.

    Args:
        raw: The options as the user gave them.
        config: What they say.
        name: The name to show; by default the topics.
        tasks: The number of tasks that write; None where it is not known.
        origins: The places that options were given in, where that is not the call.

    Raises:
        UnreachableError: No broker answered.
    """
    options, admin = config.options, WriteAdmin(config.client)
    existing = admin.topics(options.topics, allow_missing=options.topics)
    missing = [topic for topic in options.topics if topic not in existing]
    problems: list[str] = []
    if not (missing and options.creates_topics):
        try:
            config = check_and_complete(config)
        except UnreachableError:
            raise
        except MillraceError as error:
            problems.append(str(error))
    allowed = admin.allowed_operations(list(existing))
    write = PlannedWrite(
        name or ";".join(options.topics) or f"topics that match {options.topic_pattern}",
        options.delivery_guarantee,
        not missing if options.topics else None,
        _transactional_ids(config, tasks),
    )
    return JobPlan(
        writes=(write,),
        creates=tuple(_creations(config, missing)),
        permissions=tuple(_permissions(config, missing, allowed)),
        options=resolved_options(config, raw, origins),
        problems=tuple(problems),
    )


def _transactional_ids(config: SinkConfig, tasks: int | None) -> tuple[str, ...]:
    if not config.options.is_exactly_once:
        return ()
    if tasks is None:
        return (f"{config.options.transactional_id_prefix}-<number of the task>",)
    return tuple(transactional_id(config, number) for number in range(tasks))


def _creations(config: SinkConfig, missing: list[str]) -> list[PlannedCreation]:
    options = config.options
    partitions = f"{options.created_partitions or 'num.partitions of the brokers as'} partitions"
    replicas = options.created_replication_factor
    details = [partitions, *([f"replication factor {replicas}"] if replicas else [])]
    details += [f"{CLEANUP_POLICY} = {COMPACT}"] if options.is_upsert else []
    created = [PlannedCreation("topic", topic, ", ".join(details)) for topic in missing if options.creates_topics]
    if options.is_exactly_once:
        task = ledger_group(config, 0).removesuffix("0")
        created.append(PlannedCreation("consumer group", f"{task}<number of the task>", "the ledger of each task"))
        created.append(PlannedCreation("consumer group", registration_group(config), "the queries of the prefix"))
    return created


def _permissions(
    config: SinkConfig, missing: list[str], allowed: Mapping[str, frozenset[str]]
) -> list[PlannedPermission]:
    options = config.options
    operations = ["WRITE", *(["READ"] if options.is_exactly_once else [])]
    needed = [
        PlannedPermission(
            "topic", topic, operation, is_allowed=operation in allowed[topic] if allowed.get(topic) else None
        )
        for topic in options.topics
        for operation in operations
    ]
    needed += [PlannedPermission("topic", topic, "CREATE") for topic in missing if options.creates_topics]
    if options.is_exactly_once:
        prefix = f"{options.transactional_id_prefix}"
        needed += [
            PlannedPermission("transactional id", f"{prefix}-", operation, is_prefix=True)
            for operation in ("WRITE", "DESCRIBE")
        ]
        needed.append(PlannedPermission("group", f"{prefix}.millrace-", "READ", is_prefix=True))
    return needed
