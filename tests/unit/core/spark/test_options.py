from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace.spark.options import check_progress_is_tracked, checkpoint_location, connector_options


def test_options_that_are_sparks_own_are_left_out() -> None:
    given = {
        "topic": "a",
        "checkpointLocation": "/c",
        "queryName": "q",
        "asyncProgressTrackingEnabled": "true",
        "asyncProgressTrackingCheckpointIntervalMs": "1000",
        "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
    }
    assert connector_options(given) == {"topic": "a"}


@pytest.mark.parametrize("name", ["asyncProgressTrackingEnabled", "asyncprogresstrackingenabled"])
def test_exactly_once_needs_each_micro_batch_in_the_log(name: str) -> None:
    with pytest.raises(OptionsError, match="'exactly-once' excludes 'asyncProgressTrackingEnabled'"):
        check_progress_is_tracked({name: "True"}, is_exactly_once=True)
    check_progress_is_tracked({name: "True"}, is_exactly_once=False)
    check_progress_is_tracked({name: "false"}, is_exactly_once=True)
    check_progress_is_tracked({}, is_exactly_once=True)


@pytest.mark.parametrize("name", ["checkpointLocation", "checkpointlocation"])
def test_the_place_of_the_checkpoint_is_found_as_spark_writes_its_name(name: str) -> None:
    assert checkpoint_location({"topic": "a", name: "/c"}) == "/c"
    assert checkpoint_location({"topic": "a"}) == ""


def test_a_table_of_the_catalog_is_refused_with_what_works_instead() -> None:
    with pytest.raises(OptionsError, match=r"CREATE TABLE \.\.\. USING millrace: .*use CREATE TEMPORARY VIEW"):
        connector_options({"topic": "a", "provider": "millrace", "owner": "me", "option.topic": "a"})


def test_no_options_at_all_may_be_those_of_a_table() -> None:
    with pytest.raises(OptionsError, match=r"'properties.bootstrap.servers' is required.*If this is a table: "):
        connector_options({})
