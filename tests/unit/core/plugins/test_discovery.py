from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from millrace.plugins.discovery import PackageFailure, PluginEntry, discover
from millrace.plugins.kinds import (
    CATALOG,
    FORMAT,
    HEADER_FILTER,
    OFFSET_INITIALIZER,
    PARTITIONER,
    TOKEN_PROVIDER,
)

Offering = Callable[[str, str], str]


def only_failure(candidates: list[EntryPoint]) -> PackageFailure:
    found = discover(candidates)
    assert found.entries == ()
    (failure,) = found.failures
    return failure


def test_an_installed_package_is_found(packages: Any, offering: Offering) -> None:
    packages.add("acme-geo", version="2.5", hooks=offering("millrace_partitioners", "{'geo': 'acme_geo:Geo'}"))
    assert PluginEntry(PARTITIONER, "geo", "acme_geo:Geo", "acme-geo", "2.5") in discover().entries


def test_a_package_that_is_on_the_path_twice_is_found_once(
    packages: Any, offering: Offering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add("acme-geo", version="2.5", hooks=offering("millrace_partitioners", "{'geo': 'acme_geo:Geo'}"))
    monkeypatch.syspath_prepend(tmp_path)
    assert [entry.version for entry in discover().entries if entry.name == "geo"] == ["2.5"]


def test_packages_in_archives_of_python_are_found_and_jars_are_not_read(
    packages: Any, offering: Offering, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages.add("acme-geo", hooks=offering("millrace_partitioners", "{'geo': 'acme_geo:Geo'}"))
    monkeypatch.setattr(sys, "path", sys.path[1:])
    for suffix, names in ((".zip", ["geo"]), (".jar", [])):
        archive = tmp_path.parent / f"{tmp_path.name}{suffix}"
        with ZipFile(archive, "w") as file:
            for each in tmp_path.rglob("*"):
                file.write(each, each.relative_to(tmp_path))
        with monkeypatch.context() as path:
            path.syspath_prepend(archive)
            assert [entry.name for entry in discover().entries if entry.name == "geo"] == names


def test_an_entry_point_without_a_distribution_is_used_all_the_same(packages: Any, offering: Offering) -> None:
    packages.add("acme-a", hooks=offering("millrace_formats", "{'a': 'acme:A'}"))
    found = discover([EntryPoint("plugins", "acme_a_plugin", "millrace")])
    assert found.entries == (PluginEntry(FORMAT, "a", "acme:A", "an unnamed package", "unknown"),)


@pytest.mark.parametrize(
    ("hook", "kind"),
    [
        ("millrace_formats", FORMAT),
        ("millrace_partitioners", PARTITIONER),
        ("millrace_offset_initializers", OFFSET_INITIALIZER),
        ("millrace_header_filters", HEADER_FILTER),
        ("millrace_catalogs", CATALOG),
        ("millrace_token_providers", TOKEN_PROVIDER),
    ],
)
def test_every_kind_has_its_hook(packages: Any, offering: Offering, hook: str, kind: object) -> None:
    found = discover(packages.add("acme-kind", hooks=offering(hook, "{'x': 'acme:X'}")))
    assert [(entry.kind, entry.name) for entry in found.entries] == [(kind, "x")]


def test_entries_come_by_kind_then_name_then_distribution(packages: Any, offering: Offering) -> None:
    b = packages.add("acme-b", hooks=offering("millrace_formats", "{'z': 'b:Z', 'a': 'b:A'}"))
    a = packages.add(
        "acme-a",
        hooks=offering("millrace_catalogs", "{'a': 'a:C'}") + offering("millrace_formats", "{'z': 'a:Z'}"),
    )
    found = discover([*b, *a])
    assert [(entry.kind.name, entry.name, entry.distribution) for entry in found.entries] == [
        ("format", "a", "acme-b"),
        ("format", "z", "acme-a"),
        ("format", "z", "acme-b"),
        ("catalog", "a", "acme-a"),
    ]


def test_a_missing_hook_module_is_a_failure_with_its_cause(packages: Any) -> None:
    failure = only_failure(packages.add("acme-gone", version="3.1", hooks=None))
    assert str(failure) == (
        "acme-gone 3.1 (acme_gone_plugin) cannot be loaded: ModuleNotFoundError: No module named 'acme_gone_plugin'"
    )


def test_a_hook_module_that_raises_on_import_is_a_failure(packages: Any) -> None:
    failure = only_failure(packages.add("acme-raises", hooks="raise RuntimeError('no licence')\n"))
    assert failure.cause == "RuntimeError: no licence"


def test_a_hook_module_that_exits_on_import_is_a_failure(packages: Any) -> None:
    failure = only_failure(packages.add("acme-exits", hooks="raise SystemExit('no licence')\n"))
    assert failure.cause == "SystemExit: no licence"


def test_a_misspelled_hook_is_a_failure(packages: Any, offering: Offering) -> None:
    failure = only_failure(packages.add("acme-typo", hooks=offering("millrace_formatz", "{'x': 'acme:X'}")))
    assert "unknown hook 'millrace_formatz'" in failure.cause


def test_a_hook_that_takes_arguments_is_a_failure(packages: Any) -> None:
    failure = only_failure(packages.add("acme-args", hooks="@hookimpl\ndef millrace_formats(name):\n    return {}\n"))
    assert "Argument(s) {'name'}" in failure.cause


def test_a_hook_that_raises_is_a_failure(packages: Any) -> None:
    failure = only_failure(packages.add("acme-hook", hooks="@hookimpl\ndef millrace_formats():\n    return 1 / 0\n"))
    assert failure.cause == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("answer", ["None", "['json']", "'json'"])
def test_a_hook_that_answers_no_mapping_is_a_failure(packages: Any, offering: Offering, answer: str) -> None:
    failure = only_failure(packages.add("acme-list", hooks=offering("millrace_formats", answer)))
    assert failure.cause == (
        f"TypeError: hook millrace_formats must return a mapping of names to 'module:Class', not {answer}"
    )


@pytest.mark.parametrize("name", ["JSON", "my.format", "my:format", "my format", "", "-x", "é", "x\n"])
def test_a_bad_plugin_name_is_a_failure(packages: Any, offering: Offering, name: str) -> None:
    failure = only_failure(packages.add("acme-name", hooks=offering("millrace_formats", repr({name: "acme:X"}))))
    assert failure.cause == (
        f"ValueError: hook millrace_formats returns the name {name!r}; names consist of a-z, 0-9, '-' and '_'"
    )


@pytest.mark.parametrize("target", ["acme.X", "acme:X:Y", "", ":X", "acme:", ":", 5, None])
def test_a_bad_target_is_a_failure(packages: Any, offering: Offering, target: object) -> None:
    failure = only_failure(packages.add("acme-target", hooks=offering("millrace_formats", repr({"x": target}))))
    assert failure.cause == f"ValueError: hook millrace_formats returns {target!r} for 'x'; expected 'module:Class'"


@pytest.mark.parametrize(
    "bad",
    [
        "raise RuntimeError('broken')\n",
        "@hookimpl\ndef millrace_formatz():\n    return {}\n",
        "@hookimpl\ndef millrace_formats(name):\n    return {}\n",
        "@hookimpl\ndef millrace_formats():\n    raise RuntimeError\n",
        # Both wrong at once, in the order in which hooks are registered
        "@hookimpl\ndef millrace_aaa():\n    return {}\n\n@hookimpl\ndef millrace_formats(name):\n    return {}\n",
    ],
    ids=["import", "typo", "arguments", "raises", "typo-and-arguments"],
)
def test_a_package_that_fails_does_not_stop_the_others(packages: Any, offering: Offering, bad: str) -> None:
    good = packages.add("acme-good", hooks=offering("millrace_formats", "{'good': 'acme:Good'}"))
    later = packages.add("acme-later", hooks=offering("millrace_catalogs", "{'later': 'acme:Later'}"))
    found = discover([*good, *packages.add("acme-bad", hooks=bad), *later])
    assert [entry.name for entry in found.entries] == ["good", "later"]
    assert [failure.distribution for failure in found.failures] == ["acme-bad"]


def test_one_bad_hook_leaves_nothing_of_its_package(packages: Any, offering: Offering) -> None:
    hooks = offering("millrace_formats", "{'x': 'acme:X'}") + offering("millrace_partitioners", "{'BAD': 'acme:Y'}")
    assert only_failure(packages.add("acme-half", hooks=hooks)).distribution == "acme-half"


def test_listing_imports_no_implementation(packages: Any, offering: Offering) -> None:
    hooks = offering("millrace_formats", "{'x': 'acme_implementation:X'}")
    found = discover(
        packages.add("acme-lazy", hooks=hooks, modules={"acme_implementation": "raise RuntimeError('imported')"})
    )
    assert (len(found.entries), found.failures) == (1, ())
    assert "acme_implementation" not in sys.modules


def test_listing_all_installed_plugins_imports_no_implementation() -> None:
    program = (
        "import sys\n"
        "from millrace.plugins.discovery import discover\n"
        "targets = {entry.target.partition(':')[0] for entry in discover().entries}\n"
        "heavy = {'pyarrow', 'numpy', 'confluent_kafka', 'pydantic', 'pyspark'}\n"
        "print(len(targets) > 5, sorted((targets | heavy) & set(sys.modules)))\n"
    )
    listed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert listed.stdout.strip() == "True []"
