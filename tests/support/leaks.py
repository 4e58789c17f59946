"""A program that reads, writes and streams with secrets, and shows all that Spark and millrace show of it.

Run by a test, which looks for the secrets in what it prints and in the files that it leaves.
"""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import millrace
from millrace.configuration.build import configure_sink, configure_source
from millrace.kafka.client_settings import client_settings


def main() -> None:
    given = json.loads(sys.argv[1])
    folder = Path(given["folder"])
    events = folder / "events"
    events.mkdir()
    spark = millrace.local_session(
        cores=1,
        config={
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.eventLog.compress": "false",
            **given["config"],
        },
    )
    # All that Spark would ever write; with spark.log.level it leaves out what is no warning
    spark.sparkContext.setLogLevel("INFO")
    for options in given["right"]:
        show(spark, options)
    stream(spark, given["right"][0], folder / "checkpoint")
    for options in given["wrong"]:
        try:
            spark.read.format("millrace").options(**options).load().count()
        except PySparkException:
            traceback.print_exc()
        else:
            raise AssertionError(f"no failure with {sorted(options)}")
    spark.stop()


def show(spark: SparkSession, options: dict[str, str]) -> None:
    configuration = configure_source(options)
    print(repr(configuration), repr(configure_sink(options)), client_settings(configuration.client))
    written = spark.sql("SELECT 'v' AS value").write.format("millrace").options(**options)
    written.mode("append").save()
    read = spark.read.format("millrace").options(**options).load()
    for mode in ("extended", "formatted"):
        read.explain(mode)
    read.createOrReplaceTempView("secured")
    spark.sql("EXPLAIN EXTENDED SELECT * FROM secured").show(truncate=False)
    spark.sql("DESCRIBE TABLE EXTENDED secured").show(truncate=False)
    print(read, read.count())


def stream(spark: SparkSession, options: dict[str, str], checkpoint: Path) -> None:
    read = spark.readStream.format("millrace").options(**options, **{"scan.startup.mode": "earliest-offset"}).load()
    read.explain("extended")
    written = read.select("value").writeStream.format("millrace").options(**options)
    query = written.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
    query.explain(extended=True)
    print(query.recentProgress)


main()
