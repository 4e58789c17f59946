"""Use SQL or pipelines as a library, and print which of millrace's modules there are; the argument is the package."""

from __future__ import annotations

import json
import pkgutil
import sys

LIBRARY = sys.argv[1]


def use_sql() -> object:
    """Run a statement in batch mode."""
    import millrace
    from millrace_sql import TableEnvironment

    spark = millrace.local_session(cores=1)
    try:
        env = TableEnvironment(spark, config={"execution.runtime-mode": "batch"})
        env.execute_sql("CREATE TABLE n (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3')")
        return [list(row) for row in env.execute_sql("SELECT COUNT(*) FROM n").collect()]
    finally:
        spark.stop()


def use_cdc() -> object:
    """Plan a pipeline, which needs no Spark."""
    from millrace_cdc import Pipeline

    text = """
source: {type: values, changes: '+I shop.orders {"id": 1}'}
sink: {type: values}
"""
    return [target.id for target in Pipeline.from_yaml(text).plan().targets]


result = {"millrace_sql": use_sql, "millrace_cdc": use_cdc}[LIBRARY]()
modules = sorted(module.name for module in pkgutil.iter_modules() if module.name.startswith("millrace"))
print(json.dumps({"result": result, "modules": modules}))
