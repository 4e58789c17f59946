"""A plugin-based Kafka connector for PySpark.

``spark.read.format("millrace")`` needs no import of this package; what it offers beside that is loaded when used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from millrace.spark.session import local_session as local_session

__all__ = ["__version__", "local_session"]


def __getattr__(name: str) -> Any:
    # Spark imports this package in every session: the version and the session helper are not free
    if name == "local_session":
        from millrace.spark.session import local_session

        return local_session
    if name == "__version__":
        from importlib.metadata import version

        return version("millrace-core")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
