from __future__ import annotations

import sys
from typing import Any

import pytest

from millrace.contracts import Partitioner
from millrace.errors import DuplicatePluginError, PluginLoadError, UnknownPluginError
from millrace.plugins.discovery import Discovery, PackageFailure, PluginEntry
from millrace.plugins.kinds import CATALOG, FORMAT, PARTITIONER, Kind
from millrace.plugins.manager import PluginManager, is_import_string, plugin_states

GOOD = """
import pyarrow as pa
from millrace.contracts import Partitioner, RecordPartitioner

class First(RecordPartitioner):
    def partition_record(self, topic, key, value, partition_count):
        return 0

class Unfinished(Partitioner):
    pass

class Stranger:
    pass

nothing = None
"""


def entry(name: str, target: str = "acme:X", *, kind: Kind = PARTITIONER, distribution: str = "acme") -> PluginEntry:
    return PluginEntry(kind, name, target, distribution, "1.0")


def manager(*entries: PluginEntry, failures: tuple[PackageFailure, ...] = ()) -> PluginManager:
    return PluginManager(Discovery(entries, failures))


@pytest.fixture
def acme(packages: Any) -> PluginManager:
    """A manager that knows one partitioner, of a module that also holds things that are none."""
    packages.add("acme", hooks="", modules={"acme_code": GOOD, "acme_broken": "raise RuntimeError('no GPU here')"})
    names = {
        "first": "acme_code:First",
        "unfinished": "acme_code:Unfinished",
        "stranger": "acme_code:Stranger",
        "nothing": "acme_code:nothing",
        "no-class": "acme_code:Missing",
        "no-module": "acme_missing:First",
        "broken": "acme_broken:First",
    }
    return manager(*(entry(name, target) for name, target in names.items()))


def test_names_are_sorted_and_of_one_kind_and_once_each() -> None:
    known = manager(entry("b"), entry("a"), entry("a", distribution="other"), entry("c", kind=FORMAT))
    assert known.names(PARTITIONER) == ["a", "b"]


def test_the_same_name_in_two_kinds_is_no_duplicate() -> None:
    known = manager(entry("x"), entry("x", kind=FORMAT))
    assert known.find(FORMAT, "x").kind == FORMAT


def test_a_duplicate_name_names_both_distributions_and_says_what_to_do() -> None:
    known = manager(entry("geo", "a:Geo", distribution="acme-geo"), entry("geo", "b:Geo", distribution="other-geo"))
    with pytest.raises(DuplicatePluginError) as error:
        known.find(PARTITIONER, "geo")
    assert str(error.value) == (
        "partitioner 'geo' is offered by acme-geo 1.0 (a:Geo) and other-geo 1.0 (b:Geo); uninstall one of them, or "
        "give the class as 'module:Class'"
    )


def test_an_unknown_name_lists_the_known_ones_and_the_closest() -> None:
    with pytest.raises(UnknownPluginError) as error:
        manager(entry("zonal"), entry("geo-hash")).find(PARTITIONER, "geohash")
    assert str(error.value) == "unknown partitioner 'geohash'; installed: geo-hash, zonal. Did you mean 'geo-hash'?"


def test_a_name_in_other_case_is_close() -> None:
    with pytest.raises(UnknownPluginError, match=r"unknown format 'JSON'; installed: json\. Did you mean 'json'\?$"):
        manager(entry("json", kind=FORMAT)).find(FORMAT, "JSON")


def test_an_unknown_name_of_a_kind_that_nobody_offers_says_so() -> None:
    with pytest.raises(UnknownPluginError, match=r"^unknown catalog 'x'; no catalog is installed$"):
        manager(entry("x")).find(CATALOG, "x")


def test_a_well_known_name_comes_with_the_package_to_install() -> None:
    with pytest.raises(UnknownPluginError) as error:
        manager().find(FORMAT, "json")
    assert str(error.value) == (
        "unknown format 'json'; no format is installed. Install it with: pip install millrace-formats"
    )


def test_the_package_of_a_well_known_name_is_told_even_when_another_name_is_close() -> None:
    with pytest.raises(UnknownPluginError, match=r"pip install millrace-formats"):
        manager(entry("json5", kind=FORMAT)).find(FORMAT, "json")


def test_an_unknown_name_tells_which_packages_failed() -> None:
    failure = PackageFailure("acme_plugin", "acme-geo", "2.0", "ImportError: no libgeo")
    with pytest.raises(UnknownPluginError) as error:
        manager(failures=(failure,)).find(PARTITIONER, "geo")
    assert str(error.value) == (
        "unknown partitioner 'geo'; no partitioner is installed. Plugin package acme-geo 2.0 (acme_plugin) cannot be "
        "loaded: ImportError: no libgeo"
    )


def test_sentences_after_a_question_have_no_full_stop_in_between() -> None:
    failure = PackageFailure("acme_plugin", "acme-geo", "2.0", "ImportError: no libgeo")
    with pytest.raises(UnknownPluginError) as error:
        manager(entry("geo"), failures=(failure,)).find(PARTITIONER, "gio")
    assert "Did you mean 'geo'? Plugin package acme-geo" in str(error.value)


def test_a_plugin_loads_by_its_name(acme: PluginManager) -> None:
    assert issubclass(acme.load(PARTITIONER, "first"), Partitioner)


@pytest.mark.parametrize("name", ["acme_code:First", "acme_code.First"])
def test_a_class_loads_by_its_import_string(acme: PluginManager, name: str) -> None:
    assert acme.load(PARTITIONER, name) is acme.load(PARTITIONER, "first")


def test_loading_imports_that_plugin_only(acme: PluginManager) -> None:
    acme.load(PARTITIONER, "first")
    assert "acme_broken" not in sys.modules


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("no-module", "'acme_missing:First': ModuleNotFoundError: No module named 'acme_missing'"),
        ("no-class", "'acme_code:Missing': AttributeError: module 'acme_code' has no attribute 'Missing'"),
        ("broken", "'acme_broken:First': RuntimeError: no GPU here"),
    ],
)
def test_a_class_that_cannot_be_imported_is_reported_with_its_cause(
    acme: PluginManager, name: str, message: str
) -> None:
    with pytest.raises(PluginLoadError) as error:
        acme.load(PARTITIONER, name)
    assert str(error.value) == f"partitioner {name!r} of acme 1.0 cannot be loaded from {message}"
    assert error.value.__cause__ is not None


@pytest.mark.parametrize(("name", "target"), [("stranger", "acme_code:Stranger"), ("nothing", "acme_code:nothing")])
def test_what_is_not_of_its_kind_is_refused(acme: PluginManager, name: str, target: str) -> None:
    with pytest.raises(PluginLoadError) as error:
        acme.load(PARTITIONER, name)
    assert str(error.value) == (
        f"partitioner {name!r} of acme 1.0 at {target!r} is not a subclass of millrace.contracts.Partitioner"
    )


def test_a_class_that_lacks_a_method_is_refused_and_the_method_named(acme: PluginManager) -> None:
    with pytest.raises(PluginLoadError, match=r"partitioner 'unfinished' of acme 1\.0 .*\bpartition\b"):
        acme.load(PARTITIONER, "unfinished")


@pytest.mark.parametrize("name", ["acme_missing:X", "acme_missing.X", ":X", ".X", "..X", "acme_code:", ":"])
def test_a_bad_import_string_is_reported_as_the_user_wrote_it(acme: PluginManager, name: str) -> None:
    with pytest.raises(PluginLoadError) as error:
        acme.load(PARTITIONER, name)
    assert str(error.value).startswith(f"partitioner {name!r} cannot be loaded from {name!r}: ")


def test_names_and_import_strings_are_told_apart() -> None:
    assert [is_import_string(name) for name in ("round-robin", "a_1", "m:C", "m.C", "p.m:C")] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_what_is_wrong_with_each_plugin_that_cannot_be_used_is_told(acme: PluginManager) -> None:
    problems = {state.entry.name: state.problem for state in plugin_states(acme)}
    assert problems["first"] == ""
    assert "no GPU here" in problems["broken"]
    assert "is not a subclass" in problems["stranger"]


def test_duplicates_are_told() -> None:
    known = manager(entry("geo", distribution="acme-geo"), entry("geo", distribution="other-geo"))
    assert ["is offered by acme-geo 1.0" in state.problem for state in plugin_states(known)] == [True, True]
