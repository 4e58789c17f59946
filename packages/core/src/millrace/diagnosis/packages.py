"""Check the Python packages of this process: versions, strangers, and those that PySpark imports."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.metadata import distributions, requires

from millrace.diagnosis.findings import Finding, error, ok, warning

META_DISTRIBUTION = "millrace-kafka"
_STRANGER = "millrace"
"""A name on PyPI that is another project's."""

IMPORTED_BY_SPARK = {"pandas": "pandas>=2.2,<3", "pyarrow": "pyarrow>=22"}
"""Modules that PySpark imports where millrace uses it, with what is to be installed: millrace-core requires them."""


def installed_packages() -> dict[str, str]:
    """Return the versions of the packages that matter here, by name."""
    names = ("pyspark", "pyarrow", "confluent-kafka")
    versions = {
        (distribution.metadata["Name"] or "").lower().replace("_", "-"): distribution.version
        for distribution in distributions()
    }
    return {name: version for name, version in sorted(versions.items()) if name in names or name.startswith(_STRANGER)}


def check_packages() -> Iterator[Finding]:
    """Check that packages fit together, that none is another project's, and that PySpark can import what it needs."""
    installed = installed_packages()
    if _STRANGER in installed and not _is_ours():
        yield error(
            "packages",
            f"{_STRANGER} {installed[_STRANGER]}",
            "on PyPI this is another project, which only has the same name",
            f"pip uninstall {_STRANGER}; pip install {META_DISTRIBUTION}",
        )
    ours = {name: version for name, version in installed.items() if name.startswith(f"{_STRANGER}-")}
    core = ours.get("millrace-core")
    for name, version in ours.items():
        if core is not None and version.split(".")[:2] != core.split(".")[:2]:
            yield warning(
                "packages", f"{name} {version}", f"millrace-core is {core}", "install the same version of both"
            )
    if "pyspark" not in installed:
        yield error("packages", "pyspark", "it is not installed", "pip install 'pyspark>=4.2'")
    yield from unusable_packages()
    listed = ", ".join(f"{name} {version}" for name, version in installed.items())
    yield ok("packages", f"{len(installed)} packages", listed)


def _is_ours() -> bool:
    """Return whether the installed distribution is an early one of this project, which depends on its parts."""
    return any(requirement.startswith(f"{_STRANGER}-core") for requirement in requires(_STRANGER) or ())


def unusable_packages() -> Iterator[Finding]:
    """Import what PySpark needs, and yield an error for each package that this Python cannot import."""
    for module, requirement in IMPORTED_BY_SPARK.items():
        try:
            importlib.import_module(module)
        except Exception as failure:
            # A package that does not fit another one, such as numpy, fails in its own way
            yield error(
                "packages",
                module,
                f"PySpark needs it, and {sys.executable} cannot import it: {failure}",
                f"{sys.executable} -m pip install '{requirement}'",
            )
