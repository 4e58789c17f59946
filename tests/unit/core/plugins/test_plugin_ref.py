from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from millrace.errors import PluginVersionError, UnknownPluginError
from millrace.plugins.kinds import HEADER_FILTER, PARTITIONER
from millrace.plugins.manager import PluginRef, plugin_manager
from millrace_filters.expression_filter import ExpressionFilterOptions
from millrace_filters.parse import parse


def refer(name: str, **changes: Any) -> PluginRef:
    return replace(plugin_manager().refer(PARTITIONER, name), **changes)


def test_a_reference_carries_name_distribution_and_version() -> None:
    ref = refer("round-robin")
    assert (ref.kind, ref.name, ref.distribution) == ("partitioner", "round-robin", "millrace-partitioners")
    assert ref.version


def test_a_reference_to_a_class_carries_no_distribution() -> None:
    ref = refer("millrace_partitioners.fixed:FixedPartitioner")
    assert (ref.distribution, ref.version) == (None, None)


def test_a_reference_to_an_unknown_plugin_cannot_be_made() -> None:
    with pytest.raises(UnknownPluginError, match="unknown partitioner 'rnd'"):
        refer("rnd")


def test_a_reference_survives_pickling() -> None:
    ref = plugin_manager().refer(HEADER_FILTER, "expression", "depart:toy")
    copy = pickle.loads(pickle.dumps(ref))
    assert (copy, hash(copy)) == (ref, hash(ref))


def test_a_pickled_reference_names_no_class_of_the_plugin() -> None:
    assert b"millrace_filters" not in pickle.dumps(plugin_manager().refer(HEADER_FILTER, "expression", "depart:toy"))


def test_creating_builds_the_plugin_with_its_options() -> None:
    options = ExpressionFilterOptions(expression=parse("depart:toy"))
    created = plugin_manager().refer(HEADER_FILTER, "expression", options).create()
    assert repr(created) == "ExpressionFilter('depart:toy')"


def test_another_version_than_the_drivers_is_an_error_that_names_both() -> None:
    here = refer("fixed").version
    with pytest.raises(PluginVersionError) as error:
        refer("fixed", version="99.1").create()
    assert str(error.value) == (
        f"partitioner 'fixed': the driver has millrace-partitioners 99.1, this executor has millrace-partitioners "
        f"{here}; install the same version everywhere"
    )


def test_another_distribution_than_the_drivers_is_an_error() -> None:
    with pytest.raises(
        PluginVersionError, match=r"the driver has acme 0\.1\.0, this executor has millrace-partitioners"
    ):
        refer("fixed", distribution="acme", version="0.1.0").create()


def test_a_plugin_that_this_process_lacks_is_an_error() -> None:
    with pytest.raises(UnknownPluginError, match="unknown partitioner 'geo'; installed: default, fixed, round-robin"):
        replace(refer("fixed"), name="geo").create()
