"""The reference's table that Kerberos secures prints its rows, as written but for addresses, user and files."""

from __future__ import annotations

import pytest

from millrace_sql import TableEnvironment
from millrace_sql.parser import parse
from millrace_sql.render import render
from support.kafka import produce
from support.reference_sql import at_brokers, complete_examples

EXAMPLES = complete_examples()

pytestmark = pytest.mark.cases


def test_004_117_prints_rows_with_tickets(spark, kerberized, capsys) -> None:
    kerberized.broker.create_topic("of-004-117")
    message = {"key": b"1", "value": b'{"order_id": "1", "order_channel": "webShop", "pay_amount": 100}'}
    produce(kerberized.broker.address("OPEN"), "of-004-117", [message])
    kerberos = {
        "properties.connector.kerberos.principal": "alice",
        "properties.connector.kerberos.krb5": str(kerberized.realm.krb5_conf),
        "properties.connector.kerberos.keytab": str(kerberized.keytab),
    }
    options = {"upsertKafkaSource": {"topic": "of-004-117", **kerberos}}
    env = TableEnvironment(spark)
    servers = kerberized.broker.address("KERBEROS")

    for statement in parse(EXAMPLES["004:117"]):
        result = env.execute_sql(render(at_brokers(statement, servers, options)))
    result.query.processAllAvailable()
    result.get_job_client().cancel().result()

    assert "+I[1, webShop, null, 100.0, null, null, null, null, null]" in capsys.readouterr().out.splitlines()
