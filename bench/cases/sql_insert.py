"""``INSERT INTO ... SELECT`` from topic to topic, beside the same pipeline of DataFrames."""

from __future__ import annotations

from bench.cases.json_read import millrace_rows
from bench.cases.json_write import check_count, millrace_write
from bench.measure import MILLRACE, Bench, Result, alternate, records_per_second
from millrace_sql import TableEnvironment

WORK = "INSERT INTO ... SELECT of JSON, from topic to topic, 7 columns"
BASE = "the same DataFrames"
PARTITIONS = 4
COLUMNS = "id BIGINT, `user` STRING, amount DOUBLE, ts TIMESTAMP_LTZ(6), country STRING, qty INT, flag BOOLEAN"


def run(bench: Bench) -> list[Result]:
    """Measure statements, from their text to the last record that the broker has acknowledged."""
    source = bench.topics.filled(PARTITIONS)

    def by_sql() -> float:
        with bench.topics.empty(PARTITIONS) as target:
            env = TableEnvironment(bench.spark, config={"execution.runtime-mode": "batch"})
            for name, topic in (("source", source), ("target", target)):
                env.execute_sql(_table(bench, name, topic))
            insert = "INSERT INTO target SELECT * FROM source"
            speed = records_per_second(bench.records, lambda: env.execute_sql(insert).wait())
            check_count(bench, target)
        return speed

    def by_data_frames() -> float:
        with bench.topics.empty(PARTITIONS) as target:
            speed = records_per_second(
                bench.records, lambda: millrace_write(bench, millrace_rows(bench, source), target)
            )
            check_count(bench, target)
        return speed

    series = alternate(bench, WORK, {BASE: by_data_frames, MILLRACE: by_sql})
    return [Result(WORK, "records/s", series[MILLRACE], series[BASE], target=0.95, base=BASE)]


def _table(bench: Bench, name: str, topic: str) -> str:
    bounds = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', "
    return (
        f"CREATE TABLE {name} ({COLUMNS}) WITH ('connector' = 'kafka', 'topic' = '{topic}', "
        f"{bounds if name == 'source' else ''}"
        f"'properties.bootstrap.servers' = '{bench.servers}', 'format' = 'json')"
    )
