"""WITH clauses as a dialect of ``millrace convert``."""

from __future__ import annotations

import pytest

from millrace.errors import MillraceError, OptionsError
from millrace_cli.converting.dialect import Side
from millrace_sql.with_clause import WithClause

OPTIONS = "'connector' = 'kafka', 'topic' = 'orders', 'format' = 'json'"
EXPECTED = {"connector": "kafka", "topic": "orders", "format": "json"}


@pytest.mark.parametrize(
    "text",
    [
        f"CREATE TABLE orders (id BIGINT, at TIMESTAMP(3) METADATA FROM 'timestamp') WITH ({OPTIONS});",
        f"CREATE TABLE a (id INT) WITH ('connector' = 'datagen'); CREATE TABLE orders (id INT) WITH ({OPTIONS})",
        f"WITH ({OPTIONS})",
        f"({OPTIONS})",
        f"{OPTIONS},",
    ],
)
def test_the_options_of_a_table_are_read(text: str) -> None:
    assert WithClause().parse(text).options == EXPECTED


def test_the_key_of_an_upsert_table_is_its_primary_key() -> None:
    columns = "a INT, b INT, PRIMARY KEY (a, b) NOT ENFORCED"
    text = f"CREATE TABLE t ({columns}) WITH ('connector' = 'upsert-kafka', 'topic' = 't')"
    clause = WithClause()
    options = clause.parse(text).options
    assert options["key.fields"] == "a;b"
    (step,) = [step for step in clause.from_millrace(options, Side.READ) if "key.fields" in step.before]
    assert step.reason == "declare PRIMARY KEY (a, b) NOT ENFORCED"


def test_columns_and_the_default_start_are_noted() -> None:
    notes = " ".join(WithClause().parse(f"CREATE TABLE orders (id BIGINT) WITH ({OPTIONS})").notes)
    assert "the table's 1 column must be declared again" in notes
    assert "KafkaSource-orders" in notes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"CREATE TABLE a WITH ({OPTIONS}); CREATE TABLE b WITH ({OPTIONS})", "there are 2: a, b"),
        ("CREATE TABLE a (id INT) WITH ('connector' = 'datagen')", "there are 0"),
        ("WITH ('connector.type' = 'kafka', 'connector.topic' = 't')", "write 'connector.type' as 'connector'"),
    ],
)
def test_a_text_without_one_table_is_refused(text: str, expected: str) -> None:
    with pytest.raises(OptionsError, match=expected):
        WithClause().parse(text)


def test_a_wrong_statement_is_told() -> None:
    with pytest.raises(MillraceError, match="'topic'"):
        WithClause().parse("WITH ('topic' 't')")


def test_offsets_of_one_topic_do_not_name_it() -> None:
    options = {
        "topic": "t",
        "scan.startup.specific-offsets": "topic:t,partition:0,offset:4;topic:t,partition:1,offset:5",
    }
    steps = WithClause().from_millrace(options, Side.READ)
    assert steps[1].after == {"scan.startup.specific-offsets": "partition:0,offset:4;partition:1,offset:5"}
