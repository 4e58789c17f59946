from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from millrace.contracts.jobs import JobTable
from millrace_sql.execution.copies import CopyJob
from millrace_sql.execution.job_descriptions import CopiedTable
from millrace_sql.script_texts import Identifier

KAFKA = {"properties.bootstrap.servers": "somewhere:9092", "properties.sasl.password": "hush", "topic": "orders"}


def test_a_copied_table_is_a_job_with_the_schema_version_of_its_source() -> None:
    query = SimpleNamespace(id="id-1", name=None, isActive=True)
    changes = ["created"]
    copy: Any = SimpleNamespace(
        query=query, changes=changes, exception=lambda: None, await_termination=lambda timeout_s: False
    )
    names = [Identifier(("shop", name)) for name in ("orders", "old orders")]
    described = CopiedTable(CopyJob(copy, lambda: None, *names, KAFKA))
    assert described.describe().is_active
    changes.append("a column was added")
    job = described.describe()
    assert job.tables == (JobTable("shop.orders", schema_version=2, topics=("orders",)), JobTable("shop.`old orders`"))
    assert job.statement == "CREATE TABLE shop.`old orders` AS TABLE shop.orders"
    assert (job.query_ids, job.name, job.kafka["bootstrap.servers"]) == (("id-1",), "id-1", "somewhere:9092")
    assert "hush" not in repr(job.kafka)
