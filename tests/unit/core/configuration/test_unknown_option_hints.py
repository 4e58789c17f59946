from __future__ import annotations

import pytest

from millrace.configuration.build import configure
from millrace.errors import OptionsError


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("spark.kafka.consumer.cache.capacity", "it is a setting of the Spark session"),
        ("key.csv.null-literal", "it is for format 'csv' of keys, which is not the one that is chosen"),
        ("scan.startup.timestamp-millis", "the value of 'scan.startup.mode' that is chosen has no such option"),
        ("csv.field-delimiter", "it is for format 'csv', which is not the one that is chosen"),
        ("topik", "did you mean 'topic'?"),
    ],
)
def test_an_unknown_option_is_told_with_where_it_belongs(name: str, hint: str) -> None:
    with pytest.raises(OptionsError) as error:
        configure({"properties.bootstrap.servers": "h:1", name: "x"})
    (problem,) = error.value.problems
    assert problem.startswith(f"unknown option {name!r}; {hint}")


def test_an_option_that_belongs_nowhere_is_only_unknown() -> None:
    with pytest.raises(OptionsError, match=r"unknown option 'zzz'$"):
        configure({"properties.bootstrap.servers": "h:1", "zzz": "x"})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sink.parallelism", "a data source cannot divide rows; use df.repartition(n, 'key')"),
        ("sink.buffer-flush.max-rows", "it is for tables that are written by key"),
    ],
)
def test_an_option_that_no_data_source_can_have_is_told_with_what_to_do(name: str, hint: str) -> None:
    with pytest.raises(OptionsError) as error:
        configure({"properties.bootstrap.servers": "h:1", name: "3"})
    (problem,) = error.value.problems
    assert problem.startswith(f"option {name!r}: {hint}")
