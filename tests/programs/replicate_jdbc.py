"""Keep tables of databases in step with a topic, in a session that has their drivers.

Options, a topic, databases and a folder come as JSON; of each database what its table holds then, the names and types
of its columns, and the texts of some errors go out as the last line of standard output.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import millrace
from millrace.errors import MillraceError
from millrace_catalog import JdbcSink, KafkaJsonCatalog, replicate


def main() -> None:
    """Run all databases."""
    given = json.loads(sys.argv[1])
    session = millrace.local_session(
        "databases",
        cores=2,
        config={
            "spark.jars.packages": given["packages"],
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.log.level": "OFF",
        },
    )
    found = {name: database(session, given, name, **at) for name, at in given["databases"].items()}
    session.stop()
    print(json.dumps(found))


def database(
    session: SparkSession, given: Any, name: str, url: str, properties: dict[str, str], table: str
) -> dict[str, Any]:
    """Keep a table in step, with two checkpoints, and return its rows."""
    # The newest message alone says the columns at first
    catalogs = {"first": {**given["options"], "scan.max.pre.fetch.records": "1"}, "second": given["options"]}
    sink = JdbcSink(url, table, properties)
    restarts = []
    for checkpoint, options in catalogs.items():
        source = KafkaJsonCatalog.from_options(options).table(given["topic"])
        query = replicate(
            source,
            sink,
            spark=session,
            checkpoint_location=str(Path(given["folder"]) / name / checkpoint),
            computed_columns={"twice": "id * 2"},
            options={"scan.max-records-per-batch": "2"} if checkpoint == "first" else None,
            trigger={"availableNow": True},
        )
        query.await_termination(120)
        restarts.append(query.restarts)
    options = {**properties, "url": url, "dbtable": quoted(table), "driver": sink.driver}
    rows = session.read.format("jdbc").options(**options).load()
    rows = rows.drop("timestamp").orderBy("partition", "offset")
    return {
        "restarts": restarts,
        "types": dict(rows.dtypes),
        "rows": json.loads(rows.toPandas().to_json(orient="values", date_format="iso")),
        "repr": repr(sink),
        "refused": refused(session, url, properties, source),
    }


def refused(session: SparkSession, url: str, properties: dict[str, str], source: Any) -> str:
    """The error of a database that refuses a login."""
    wrong = url.replace("/postgres", "/nothing").replace(".db", "/no/such/folder.db")
    try:
        JdbcSink(wrong, "t", properties).prepare(session, source.columns_schema)
    except MillraceError as error:
        return f"{type(error).__name__}: {error}"
    return ""


def quoted(table: str) -> str:
    """Return a table's name with that of a schema."""
    return ".".join(f'"{part}"' for part in table.split("."))


if __name__ == "__main__":
    main()
