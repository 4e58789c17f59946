"""Spark imports `pyspark_millrace` in every session of every user, whether they use Kafka or not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest


def modules_after(statement: str) -> set[str]:
    program = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_millrace_alone_imports_nothing_heavy() -> None:
    new = {name.partition(".")[0] for name in modules_after("import millrace") - modules_after("")}
    assert new.isdisjoint({"pyspark", "pyarrow", "numpy", "confluent_kafka", "pydantic", "pluggy"})


def test_the_data_source_imports_nothing_that_its_base_class_does_not() -> None:
    new = modules_after("import pyspark_millrace") - modules_after("import pyspark.sql.datasource")
    assert new <= {"millrace", "pyspark_millrace"}


@pytest.mark.parametrize(
    "name", ["contracts", "errors", "options", "plugins", "configuration", "source", "sink", "kafka"]
)
def test_no_part_of_core_brings_pydantic_or_pyspark_by_its_name_alone(name: str) -> None:
    new = {each.partition(".")[0] for each in modules_after(f"import millrace.{name}")}
    assert new.isdisjoint({"pyspark", "pydantic", "click", "rich"})


def test_the_session_helper_is_found_when_asked_for() -> None:
    import millrace

    assert callable(millrace.local_session)
    assert millrace.__version__
    with pytest.raises(AttributeError, match="module 'millrace' has no attribute 'local_sesion'"):
        _ = millrace.local_sesion
