"""Descriptions of running statements, for pages that show jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from millrace.contracts.jobs import JobDescription, JobTable
from millrace.options.secrets import Properties
from millrace.options.values import parse_topics
from millrace_sql.definitions.model import shown
from millrace_sql.execution.copies import CopyJob
from millrace_sql.execution.inserts import PlannedInsert
from millrace_sql.execution.jobs import Job
from millrace_sql.execution.tables import BoundTable
from millrace_sql.planner.model import Scan

_PREFIX = "properties."


class InsertJob:
    """The INSERT statements of a job, with what they run as.

    Args:
        planned: The statements.
        job: Their queries.
    """

    def __init__(self, planned: Sequence[PlannedInsert], job: Job) -> None:
        scans = [scan for insert in planned for scan in insert.plan.scans]
        self._job = job
        self._statement = ";\n\n".join(f"INSERT INTO {shown(one.table)}\n{one.insert.query.text}" for one in planned)
        self._plan = "\n\n".join(insert.explain() for insert in planned)
        tables: dict[str, JobTable] = {}
        for table in (*map(_scanned_table, scans), *(JobTable(shown(insert.table)) for insert in planned)):
            tables.setdefault(table.name, table)
        self._tables = tuple(tables.values())
        self._kafka = next(filter(None, (_client_properties(_options(scan)) for scan in scans)), {})

    def describe(self) -> JobDescription:
        """Describe the statements: see `millrace.contracts.jobs`."""
        queries = self._job.queries
        return JobDescription(
            kind="sql",
            name=", ".join(query.name or str(query.id) for query in queries),
            query_ids=tuple(str(query.id) for query in queries),
            is_active=not self._job.has_ended(),
            tables=self._tables,
            statement=self._statement,
            plan=self._plan,
            kafka=self._kafka,
        )


class CopiedTable:
    """The copy of CREATE TABLE ... AS TABLE, whose schema follows the messages of the other table.

    Args:
        job: Its query.
    """

    def __init__(self, job: CopyJob) -> None:
        self._job = job

    def describe(self) -> JobDescription:
        """Describe the copy: see `millrace.contracts.jobs`."""
        job, query = self._job, self._job.copy.query
        source, target = shown(job.source), shown(job.target)
        return JobDescription(
            kind="sql",
            name=query.name or str(query.id),
            query_ids=(str(query.id),),
            is_active=not job.has_ended(),
            tables=(_table(source, job.options, schema_version=len(job.copy.changes)), JobTable(target)),
            statement=f"CREATE TABLE {target} AS TABLE {source}",
            kafka=_client_properties(job.options),
        )


def _options(scan: Scan) -> Mapping[str, str]:
    origin = scan.table.origin
    return origin.description.options if isinstance(origin, BoundTable) else {}


def _scanned_table(scan: Scan) -> JobTable:
    return _table(shown(scan.table.identifier), _options(scan))


def _table(name: str, options: Mapping[str, str], schema_version: int | None = None) -> JobTable:
    """Describe a table that is read; the options are those of its connector, which need not be Kafka's."""
    if not _client_properties(options):
        return JobTable(name, schema_version=schema_version)
    topics = parse_topics(options["topic"]) if "topic" in options else ()
    return JobTable(name, schema_version=schema_version, topics=topics, topic_pattern=options.get("topic-pattern"))


def _client_properties(options: Mapping[str, str]) -> Mapping[str, str]:
    """Return Kafka's client properties of a table; none for a table of another connector."""
    if f"{_PREFIX}bootstrap.servers" not in options:
        return {}
    return Properties({name.removeprefix(_PREFIX): text for name, text in options.items() if name.startswith(_PREFIX)})
