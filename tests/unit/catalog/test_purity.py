"""Types, inference and evolution need neither Spark nor Arrow, nor Kafka's client."""

from __future__ import annotations

import subprocess
import sys


def test_neither_spark_nor_arrow_nor_kafkas_client_is_imported() -> None:
    program = (
        "import sys, millrace_catalog.types, millrace_catalog.expressions.parsing\n"
        "import millrace_catalog.inference, millrace_catalog.evolution\n"
        "print([name for name in ('pyspark', 'pyarrow', 'confluent_kafka', 'pydantic', 'lark') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
