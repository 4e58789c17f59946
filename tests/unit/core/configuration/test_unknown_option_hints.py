from __future__ import annotations

import pytest

from millrace.configuration.build import configure_source
from millrace.errors import OptionsError


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("spark.kafka.consumer.cache.capacity", "it is a setting of the Spark session"),
        ("key.csv.null-literal", "format 'csv' of keys is not chosen, or has no such option"),
        ("scan.startup.timestamp-millis", "the chosen value of 'scan.startup.mode' has no such option"),
        ("csv.field-delimiter", "format 'csv' is not chosen, or has no such option"),
        ("asyncprogresstrackingenabld", "Spark's own are 'asyncProgressTrackingEnabled', "),
        ("topik", "did you mean 'topic'?"),
    ],
)
def test_an_unknown_option_is_told_with_where_it_belongs(name: str, hint: str) -> None:
    with pytest.raises(OptionsError) as error:
        configure_source({"properties.bootstrap.servers": "h:1", name: "x"})
    (problem,) = error.value.problems
    assert problem.startswith(f"unknown option {name!r}; {hint}")


def test_an_option_that_belongs_nowhere_is_only_unknown() -> None:
    with pytest.raises(OptionsError, match=r"unknown option 'zzz'$"):
        configure_source({"properties.bootstrap.servers": "h:1", "zzz": "x"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sink.parallelism", "a data source cannot divide rows; use millrace.repartition_by_key("),
        ("schema.inference.strategy", "the columns of a Spark query are fixed; the catalog has this option"),
        ("debezium-json.distributed-tables", "requires a pipeline that reads or writes several tables"),
        ("sink.tableId-to-topic.mapping", "requires a pipeline that reads or writes several tables"),
    ],
)
def test_an_option_that_no_data_source_can_have_is_told_with_what_to_do(name: str, hint: str) -> None:
    with pytest.raises(OptionsError) as error:
        configure_source({"properties.bootstrap.servers": "h:1", name: "3"})
    (problem,) = error.value.problems
    assert problem.startswith(f"option {name!r}: {hint}")
