"""Find the table factory of a connector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.contracts import TableFactory
from millrace.errors import UnknownPluginError
from millrace.plugins import TABLE_FACTORY, plugin_manager
from millrace_sql.connectors.spark_format import SparkFormatFactory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table_factory(connector: str, spark: SparkSession) -> TableFactory:
    """Return the factory of tables with a value of the option ``connector``.

    Args:
        connector: The name of a table factory, its class as ``module:Class``, or the name of a format of Spark.
        spark: The session, for its formats.

    Raises:
        UnknownPluginError: There is neither such a factory nor such a format; the message lists the factories.
        DuplicatePluginError, PluginLoadError: The factory cannot be used.
    """
    try:
        return plugin_manager().load(TABLE_FACTORY, connector)()
    except UnknownPluginError as error:
        if _spark_has(connector, spark):
            return SparkFormatFactory(connector)
        message = str(error).replace(f"unknown table factory {connector!r}", f"unknown connector {connector!r}")
        raise UnknownPluginError(f"{message}. The session has no format of that name either") from None


def _spark_has(format_name: str, spark: SparkSession) -> bool:
    try:
        spark.read.format(format_name).schema("value STRING").load().schema  # noqa: B018 - Spark looks for it then
    except Exception as error:
        # Py4J's error where the session is classic, Spark's where it is not
        return "DATA_SOURCE_NOT_FOUND" not in str(error)
    return True
