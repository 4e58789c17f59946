"""Statements on a Spark session, with tables that need no broker."""

from __future__ import annotations

import pytest
from pyspark.sql import Row
from pyspark.sql.types import StructType

from millrace_sql import SqlError, TableEnvironment
from millrace_sql.execution.jobs import JobStatus
from support.waiting import PATIENCE_S

PEOPLE = "CREATE TABLE people (id BIGINT, name STRING, twice AS id * 2) WITH ('connector' = 'parquet', 'path' = '{}')"
NUMBERS = """CREATE TABLE numbers (
        `timestamp` TIMESTAMP_LTZ(3), `value` BIGINT, WATERMARK FOR `timestamp` AS `timestamp`
    ) WITH ('connector' = 'rate', 'rowsPerSecond' = '100')"""


@pytest.fixture
def env(spark):
    yield (made := TableEnvironment(spark))
    made.execute_sql("RESET")
    assert not spark.streams.active


@pytest.fixture
def batch(env, tmp_path):
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    env.execute_sql(PEOPLE.format(tmp_path / "people"))
    env.execute_sql("INSERT INTO people VALUES (1, 'a'), (2, 'b')")
    return env


def rows(env, query):
    with env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


def refusal(env, statement):
    with pytest.raises(SqlError) as caught:
        env.execute_sql(statement)
    return str(caught.value)


def test_a_script_whose_last_query_is_no_query_runs_none_of_its_statements(env):
    for start in ("", "INSERT INTO people ", "EXPLAIN ", "CREATE VIEW v AS "):
        with pytest.raises(SqlError, match=r"line 2, column \d+: the query cannot be parsed"):
            env.execute_script(f"SET 'pipeline.name' = 'p';\n{start}SELECT id FRM people")
    assert env.get_config().get("pipeline.name") is None


def test_a_batch_is_written_and_read_with_computed_columns(batch):
    assert rows(batch, "SELECT * FROM people") == [(1, "a", 2), (2, "b", 4)]


def test_a_result_is_printed_as_flink_does(batch, capsys):
    batch.execute_sql("SELECT id, name FROM people ORDER BY id").print()
    assert capsys.readouterr().out.splitlines() == [
        "+----+------+",
        "| id | name |",
        "+----+------+",
        "|  1 |    a |",
        "|  2 |    b |",
        "+----+------+",
        "2 rows in set",
    ]


def test_columns_are_filled_by_position_or_by_name(batch):
    batch.execute_sql("INSERT INTO people (name, id) SELECT 'c', 3")
    batch.execute_sql("INSERT INTO people (id) VALUES (4)")
    batch.execute_sql("INSERT INTO people SELECT 5 AS x, 'e' AS x")
    assert rows(batch, "SELECT id, name FROM people WHERE id > 2") == [(3, "c"), (4, None), (5, "e")]


def test_insert_overwrite_replaces_the_rows(batch):
    batch.execute_sql("INSERT OVERWRITE people VALUES (9, 'z')")
    assert rows(batch, "SELECT id, name FROM people") == [(9, "z")]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO people VALUES (1)", "table people takes 2 columns (id bigint, name string), and the query has 1"),
        ("INSERT INTO people VALUES ('x', 'y')", "column id: the query has string, and the table bigint"),
        ("INSERT INTO people (twice) VALUES (1)", "column twice of table people is a computed column"),
        ("INSERT INTO people (nam) VALUES (1)", "table people has no column nam; did you mean name?"),
        (
            "INSERT INTO peeple VALUES (1)",
            "there is no table or view default_catalog.default_database.peeple; did you",
        ),
        ("SELECT * FROM people; SELECT 1", "expected one statement, got 2; execute_script runs several"),
        ("DROP VIEW people", "default_catalog.default_database.people is a table: write DROP TABLE"),
        ("DROP TEMPORARY TABLE people", "people is not temporary: write DROP TABLE"),
        ("ALTER TABLE people RESET ('pth')", "does not set option 'pth'; did you mean 'path'?"),
        ("SHOW TABLES FROM nowhere", "there is no database default_catalog.nowhere"),
        ("SHOW CREATE VIEW people", "is a table: write SHOW CREATE TABLE"),
        ("SET 'pipeline.nam' = 'x'", "line 1, column 1: unknown option 'pipeline.nam'; did you mean 'pipeline.name'?"),
        ("CREATE VIEW v (a) AS SELECT * FROM people", "view v names 1 columns, and its query has 3 (id, name, twice)"),
        (
            "CREATE TABLE c (a INT) WITH ('connector' = 'print') AS SELECT 1 AS a",
            "AS SELECT takes the columns from",
        ),
    ],
)
def test_a_wrong_statement_is_refused(batch, statement, message):
    assert message in refusal(batch, statement)


KAFKA = "'connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 'nowhere:1', 'format' = 'json'"


@pytest.mark.parametrize(
    ("columns", "options", "place", "message"),
    [
        ("id INT", "'connector' = 'kafkaa'", "'connector'", "unknown connector 'kafkaa'"),
        ("id INT", f"{KAFKA}, 'scan.startup.mod' = 'x'", "'scan.s", "did you mean 'scan.startup.mode'?"),
        ("id INT", f"{KAFKA}, 'scan.startup.mode' = 'x'", "'scan.s", "option 'scan.startup.mode': unknown offset init"),
        (
            "id INT",
            f"{KAFKA}, 'json.ignore-parse-error' = 'true'",
            "'json.",
            "did you mean 'json.ignore-parse-errors'?",
        ),
        ("id INT", f"{KAFKA}, 'json.ignore-parse-errors' = 'maybe'", "'json.", "expected true or false; got 'maybe'"),
        ("id INT, x INT METADATA FROM 'ofset'", KAFKA, "x INT", "column 'x' is of unknown metadata 'ofset'; did you"),
        ("id INT", "'connector' = 'print', 'print-identifer' = 'a'", "'print-", "did you mean 'print-identifier'?"),
        ("id INT", "'connector' = 'datagen', 'fields.idd.min' = '1'", "'fields", "did you mean 'fields.id.min'?"),
        ("id INT", "'connector' = 'datagen', 'fields.id.min' = 'x'", "'fields", "option 'fields.id.min': expected"),
        ("id INT", "'connector' = 'blackhole', 'x' = 'y'", "'x'", "connector 'blackhole' has no option 'x'"),
        ("id INT", "'connector' = 'jdbc', 'url' = 'u', 'table-nam' = 'y'", "'table-", "did you mean 'table-name'?"),
        (
            "id INT",
            "'connector' = 'filesystem', 'path' = '/x', 'format' = 'csv', 'csv.heder' = 'true'",
            "'csv.",
            "unknown option 'csv.heder'; did you mean 'csv.header'?",
        ),
        ("id INT, x AS idd + 1", KAFKA, "idd", "computed column x: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column"),
    ],
)
def test_a_table_is_checked_when_it_is_created(env, columns, options, place, message):
    statement = f"CREATE TABLE t ({columns}) WITH ({options})"
    told = refusal(env, statement)
    assert message in told
    assert told.startswith(f"line 1, column {statement.index(place) + 1}: ")
    assert env.list_tables() == []


def test_an_error_of_a_computed_column_is_one_line_of_sparks(env):
    told = refusal(env, f"CREATE TABLE t (id INT, x AS idd + 1) WITH ({KAFKA})")
    assert told.splitlines()[0].endswith("Did you mean one of the following? [`id`].")


def test_secrets_need_no_value_when_a_table_is_created_and_its_other_options_are_checked(env):
    secret = f"{KAFKA}, 'properties.sasl.password' = '${{secret_values.password}}'"
    env.execute_sql(f"CREATE TABLE t (id INT) WITH ({secret})")
    assert "'sink.paralelism'" in refusal(env, f"CREATE TABLE u (id INT) WITH ({secret}, 'sink.paralelism' = '2')")
    env.execute_sql(f"CREATE TABLE v (id INT) WITH ({KAFKA}, 'scan.startup.mode' = '${{start}}')")


def test_changed_options_are_checked(env):
    env.execute_sql(f"CREATE TABLE t (id INT) WITH ({KAFKA})")
    assert "line 1, column 20: wrong table 't'" in refusal(env, "ALTER TABLE t SET ('sink.paralelism' = '2')")
    assert "'properties.bootstrap.servers' is required" in refusal(
        env, "ALTER TABLE t RESET ('properties.bootstrap.servers')"
    )
    assert "sink.paralelism" not in "".join(env.execute_sql("SHOW CREATE TABLE t").lines())


@pytest.mark.parametrize(("enforcer", "kept"), [("error", None), ("drop", [(1, "a")])])
def test_a_null_for_not_null_fails_or_is_dropped(batch, tmp_path, enforcer, kept):
    batch.execute_sql(
        f"CREATE TABLE strict (id BIGINT NOT NULL, name STRING) WITH ('connector' = 'parquet', 'path' = '{tmp_path}/s')"
    )
    batch.execute_sql(f"SET 'table.exec.sink.not-null-enforcer' = '{enforcer}'")
    insert = "INSERT INTO strict SELECT nullif(id, 2), name FROM people"
    if kept is None:
        with pytest.raises(Exception, match="NULL for column id, which is NOT NULL"):
            batch.execute_sql(insert)
    else:
        batch.execute_sql(insert)
        assert rows(batch, "SELECT * FROM strict") == kept


def test_a_value_that_does_not_fit_fails(batch, tmp_path):
    batch.execute_sql(f"CREATE TABLE t (x TINYINT) WITH ('connector' = 'parquet', 'path' = '{tmp_path}/t')")
    with pytest.raises(Exception, match="CAST_OVERFLOW"):
        batch.execute_sql("INSERT INTO t SELECT id + 300 FROM people")


def test_views_keep_the_database_that_they_were_created_in(batch):
    batch.execute_sql("CREATE VIEW big AS SELECT id, name FROM people WHERE id > 1")
    batch.execute_sql("CREATE TEMPORARY VIEW renamed (k, v) AS SELECT * FROM big")
    batch.execute_sql("CREATE DATABASE other")
    batch.use_database("other")
    assert rows(batch, "SELECT v, k FROM default_database.renamed") == [("b", 2)]
    assert batch.list_tables() == []
    batch.use_database("default_database")
    assert batch.list_tables() == ["big", "people", "renamed"]
    assert batch.list_views() == ["big", "renamed"]
    assert batch.list_temporary_tables() == ["renamed"]


def test_as_select_and_like_make_tables(batch, tmp_path):
    options = f"'connector' = 'parquet', 'path' = '{tmp_path}/c'"
    batch.execute_sql(f"CREATE TABLE copies WITH ({options}) AS SELECT id, upper(name) AS name FROM people")
    assert rows(batch, "SELECT * FROM copies") == [(1, "A"), (2, "B")]
    batch.execute_sql("CREATE TABLE again (note STRING) LIKE people")
    assert [row.name for row in batch.execute_sql("DESCRIBE again").collect()] == ["id", "name", "twice", "note"]


def test_describe_tells_keys_metadata_and_watermarks(env):
    env.execute_sql(
        "CREATE TABLE t (id BIGINT, o BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP_LTZ(3) COMMENT 'when', "
        "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'blackhole')"
    )
    assert [tuple(row) for row in env.execute_sql("DESCRIBE t").collect()] == [
        ("id", "BIGINT", False, "PRI(id)", None, None, None),
        ("o", "BIGINT", True, None, "METADATA FROM 'offset' VIRTUAL", None, None),
        ("ts", "TIMESTAMP_LTZ(3)", True, None, None, "ts - INTERVAL '5' SECOND", "when"),
    ]


def test_secrets_are_not_shown(env, capsys):
    env.execute_sql(
        "CREATE TEMPORARY TABLE t (id INT) WITH ('connector' = 'blackhole', 'a.password' = 'hunter2', 'b' = '${env:B}')"
    )
    env.execute_sql("SHOW CREATE TABLE t").print()
    env.execute_sql("DESCRIBE EXTENDED t").print()
    shown = capsys.readouterr().out
    assert "'a.password' = '***'" in shown
    assert "'b' = '${env:B}'" in shown
    assert "hunter2" not in shown


def test_a_data_frame_gets_a_name(spark, batch):
    batch.create_temporary_view("frame", spark.createDataFrame([(1, "x")], "id BIGINT, word STRING"))
    joined = batch.sql_query("SELECT name, word FROM people JOIN frame USING (id)")
    assert joined.collect() == [Row(name="a", word="x")]
    assert batch.from_path("frame").columns == ["id", "word"]


def test_explain_shows_the_modes_of_source_and_sink(batch):
    batch.execute_sql("CREATE TABLE sink (id BIGINT) WITH ('connector' = 'blackhole')")
    text = batch.explain_sql("INSERT INTO sink SELECT id FROM people WHERE id > 1")
    assert "Sink(table=[default_catalog.default_database.sink], fields=[id], accepts=" in text
    assert "changelogMode=[I]" in text


def test_a_stream_is_printed_as_changes_until_it_is_cancelled(env):
    env.execute_sql(NUMBERS)
    result = env.execute_sql("SELECT `value` FROM numbers")
    lines = result.lines()
    head = [next(lines) for _ in range(4)]
    assert head[1] == "| op |                value |"
    assert head[3].startswith("| +I |")
    lines.close()
    assert result.get_job_client().get_job_status().result() is JobStatus.CANCELED


def test_a_stream_goes_on_from_its_checkpoint(env, tmp_path):
    source, target = tmp_path / "source", tmp_path / "target"
    env.execute_script(
        f"""
        SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints';
        CREATE TABLE source (id BIGINT) WITH ('connector' = 'parquet', 'path' = '{source}');
        CREATE TABLE target (id BIGINT) WITH ('connector' = 'parquet', 'path' = '{target}');
        """
    )

    def add(number):
        env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
        env.execute_sql(f"INSERT INTO source VALUES ({number})")
        env.execute_sql("SET 'execution.runtime-mode' = 'streaming'")

    def copy():
        result = env.execute_sql("INSERT INTO target SELECT id FROM source")
        result.query.processAllAvailable()
        result.get_job_client().cancel().result()

    add(1)
    copy()
    add(2)
    copy()
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    assert rows(env, "SELECT id FROM target") == [(1,), (2,)]


def test_two_statements_do_not_share_a_checkpoint(env, tmp_path):
    env.execute_script(
        f"""
        SET 'execution.checkpointing.dir' = '{tmp_path}/checkpoints';
        SET 'pipeline.name' = 'copies';
        {NUMBERS};
        CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole');
        """
    )
    result = env.execute_sql("INSERT INTO sink SELECT `value` FROM numbers")
    assert result.query.name == "copies"
    assert "another INSERT of this session has the checkpoint" in refusal(env, "INSERT INTO sink SELECT 1 FROM numbers")
    result.get_job_client().cancel().result()


def test_a_statement_set_starts_all_or_none(env, spark):
    env.execute_script(f"{NUMBERS}; CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole')")
    both = env.create_statement_set().add_insert_sql("INSERT INTO sink SELECT `value` FROM numbers")
    both.add_insert_sql("INSERT INTO sink SELECT 'text' FROM numbers")
    with pytest.raises(SqlError, match="column n: the query has string"):
        both.execute()
    assert not spark.streams.active
    result = (
        env.create_statement_set()
        .add_insert_sql("INSERT INTO sink SELECT `value` FROM numbers")
        .add_insert_sql("INSERT INTO sink SELECT `value` * 2 FROM numbers")
        .execute()
    )
    assert len(result.queries) == 2
    with pytest.raises(TimeoutError):
        result.wait(timeout_ms=1)
    result.get_job_client().cancel().result()
    result.wait()


def test_a_query_that_fails_says_so_and_stops_the_others_of_its_set(env, spark):
    env.execute_script(f"{NUMBERS}; CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole')")
    result = (
        env.create_statement_set()
        .add_insert_sql("INSERT INTO sink SELECT `value` FROM numbers")
        .add_insert_sql("INSERT INTO sink SELECT CAST(raise_error('on purpose') AS BIGINT) FROM numbers")
        .execute()
    )
    with pytest.raises(Exception, match="on purpose"):
        result.wait(timeout_ms=int(PATIENCE_S * 1000))
    assert result.get_job_client().get_job_status().result() is JobStatus.FAILED
    assert not spark.streams.active


def test_values_are_a_bounded_stream(env, capsys):
    env.execute_sql("SELECT * FROM (VALUES (1, 'a')) AS t (id, name)").print()
    assert "| +I |           1 |" in capsys.readouterr().out


def test_results_have_kinds_and_schemas(env):
    assert env.execute_sql("SHOW TABLES").get_result_kind() == "SUCCESS_WITH_CONTENT"
    done = env.execute_sql("CREATE DATABASE d")
    assert (done.get_result_kind(), done.get_table_schema(), done.query) == ("SUCCESS", StructType([]), None)
    assert env.list_databases() == ["d", "default_database"]


def test_settings_are_listed(env):
    env.execute_sql("SET 'pipeline.name' = 'p'")
    assert rows(env, "SET") == [("pipeline.name", "p")]
    assert env.get_config().get("pipeline.name") == "p"
    env.execute_sql("RESET 'pipeline.name'")
    assert rows(env, "SET") == []


def test_functions_are_those_of_spark_and_of_the_session(env, spark):
    spark.udf.register("millrace_twice", lambda number: 2 * number)
    assert rows(env, "SHOW FUNCTIONS LIKE 'get_json%'") == [("get_json_object",)]
    assert ("millrace_twice",) in rows(env, "SHOW USER FUNCTIONS")


def test_settings_that_are_secrets_are_not_shown(env):
    env.execute_sql("SET 'spark.millrace.password' = 'hunter2'")
    env.execute_sql("SET 'spark.millrace.address' = 'https://me:hunter2@host'")
    assert sorted(rows(env, "SET")) == [
        ("spark.millrace.address", "https://***@host"),
        ("spark.millrace.password", "***"),
    ]


ORDERS = f"""CREATE TABLE orders (
        id BIGINT, ts TIMESTAMP_LTZ(3), twice AS id * 2, WATERMARK FOR ts AS ts
    ) WITH ({KAFKA})"""


def described(env, table):
    with env.execute_sql(f"DESCRIBE {table}").collect() as found:
        return {row[0]: (row[1], row[3], row[5]) for row in found}


def test_columns_are_added_modified_renamed_and_dropped(env):
    env.execute_sql(ORDERS)
    env.execute_sql("ALTER TABLE orders ADD (name STRING FIRST, `offset` BIGINT METADATA VIRTUAL AFTER id)")
    assert list(described(env, "orders")) == ["name", "id", "offset", "ts", "twice"]
    env.execute_sql("ALTER TABLE orders MODIFY COLUMN name INT NOT NULL AFTER twice")
    env.execute_sql("ALTER TABLE orders MODIFY WATERMARK FOR ts AS ts - INTERVAL '5' SECOND")
    env.execute_sql("ALTER TABLE orders RENAME `offset` TO place")
    env.execute_sql("ALTER TABLE orders ADD PRIMARY KEY (id) NOT ENFORCED")
    env.execute_sql("ALTER TABLE orders RENAME name TO number")
    assert described(env, "orders") == {
        "id": ("BIGINT", "PRI(id)", None),
        "place": ("BIGINT", None, None),
        "ts": ("TIMESTAMP_LTZ(3)", None, "ts - INTERVAL '5' SECOND"),
        "twice": ("BIGINT", None, None),
        "number": ("INT", None, None),
    }
    env.execute_sql("ALTER TABLE orders DROP PRIMARY KEY")
    env.execute_sql("ALTER TABLE orders DROP WATERMARK")
    env.execute_sql("ALTER TABLE orders DROP (twice, id)")
    assert list(described(env, "orders")) == ["place", "ts", "number"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ADD id INT", "has a column id already: write MODIFY"),
        ("ADD WATERMARK FOR ts AS ts", "has a watermark already: write MODIFY"),
        ("ADD name STRING AFTER idd", "has no column idd; did you mean id?"),
        ("ADD x AS idd", "computed column x: [UNRESOLVED_COLUMN"),
        ("ADD x INT METADATA FROM 'ofset'", "unknown metadata 'ofset'; did you mean 'offset'?"),
        ("MODIFY idd INT", "has no column idd; did you mean id?"),
        ("MODIFY PRIMARY KEY (id) NOT ENFORCED", "has no primary key: write ADD"),
        ("DROP id", "needs column id for the computed column twice: change that first"),
        ("DROP ts", "needs column ts for the watermark"),
        ("RENAME id TO number", "needs column id for the computed column twice"),
        ("DROP PRIMARY KEY", "has no primary key"),
    ],
)
def test_a_change_of_columns_that_cannot_be_is_refused(env, change, message):
    env.execute_sql(ORDERS)
    assert message in refusal(env, f"ALTER TABLE orders {change}")
    assert list(described(env, "orders")) == ["id", "ts", "twice"]


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("SELECT name,\n  'idd' AS x, idd FROM people", "idd FROM"),
        ("SELECT p.name, p.`idd` FROM people p", "`idd`"),
        ("SELECT nofunction(id) FROM people", "nofunction"),
    ],
)
def test_a_name_that_spark_does_not_know_has_its_place(batch, query, wrong):
    before = query[: query.index(wrong)]
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    assert refusal(batch, query).startswith(
        f"line {line}, column {column}: Spark cannot analyse the query: [UNRESOLVED"
    )
