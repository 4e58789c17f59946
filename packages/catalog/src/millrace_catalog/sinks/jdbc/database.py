"""Connections of a JDBC driver in the JVM of a session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from millrace.errors import MachineError
from millrace.options.secrets import is_secret
from millrace_catalog.jvm.session import jvm_of
from millrace_catalog.sinks.table_sink import TargetError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_catalog.sinks.jdbc.dialect import Dialect

_LOGIN = re.compile(r"//[^/@]*@")
_SECRET_PARAMETER = re.compile(r"[?&;]([^=?&;]+)=([^&;]*)")


class Connection:
    """An open connection; what is executed counts when `commit` is called."""

    def __init__(self, java: Any) -> None:
        self._java = java
        java.setAutoCommit(False)

    def execute(self, statement: str) -> None:
        """Execute a statement that gives no rows."""
        made = self._java.createStatement()
        try:
            made.executeUpdate(statement)
        finally:
            made.close()

    def query(self, text: str, columns: int) -> list[tuple[str | None, ...]]:
        """The rows of a query, each value as text."""
        made = self._java.createStatement()
        try:
            found = made.executeQuery(text)
            rows = []
            while found.next():
                rows.append(tuple(found.getString(place) for place in range(1, columns + 1)))
            return rows
        finally:
            made.close()

    def commit(self) -> None:
        """Make what was executed count."""
        self._java.commit()

    def close(self) -> None:
        """Close it; what was not committed is undone."""
        self._java.close()


class Database:
    """A database, as an URL and properties of its driver say; neither shows a secret.

    Args:
        url: As ``jdbc:postgresql://localhost/orders``.
        properties: Those of the driver, such as user and password.
        dialect: The one of the URL.
    """

    def __init__(self, url: str, properties: Mapping[str, str], dialect: Dialect) -> None:
        self.url = url
        self.properties = dict(properties)
        self.dialect = dialect

    @contextmanager
    def connection(self, spark: SparkSession, what: str) -> Iterator[Connection]:
        """A connection for the ``with`` block.

        Args:
            spark: The session whose JVM has the driver.
            what: What it is for, as errors say it: "prepare table orders".

        Raises:
            MachineError: The session has no such driver, or shows no JVM.
            TargetError: The database could not be reached, or refused.
        """
        with self.explained(what):
            connection = Connection(self._connect(spark))
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Make errors of the database those of millrace, without secrets."""
        try:
            yield
        except Py4JJavaError as error:
            reason = _refusal(error)
            if reason is None:
                raise
            raise TargetError(f"{self!r} could not {what}: {self.without_secrets(reason)}") from None

    def without_secrets(self, text: str) -> str:
        """A text with ``***`` where it shows a secret."""
        given = [value for name, value in self.properties.items() if is_secret(name)]
        given += [value for name, value in _SECRET_PARAMETER.findall(self.url) if is_secret(name)]
        for value in filter(None, given):
            text = text.replace(value, "***")
        return text

    def __repr__(self) -> str:
        return _LOGIN.sub("//", re.split("[?;]", self.url, maxsplit=1)[0])

    def _connect(self, spark: SparkSession) -> Any:
        jvm = jvm_of(spark, repr(self))
        given = jvm.java.util.Properties()
        for name, value in self.properties.items():
            given.setProperty(name, value)
        # java.sql.DriverManager does not see drivers that came with spark.jars.packages
        return self._driver(jvm).connect(self.url, given)

    def _driver(self, jvm: Any) -> Any:
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        try:
            loader.loadClass(self.dialect.driver)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() != "java.lang.ClassNotFoundException":
                raise
            raise MachineError(
                f"the session has no JDBC driver for {self!r} ({self.dialect.driver}): start it with "
                f".config('spark.jars.packages', '{self.dialect.package}'), or a newer one"
            ) from None
        found = jvm
        for name in self.dialect.driver.split("."):
            found = getattr(found, name)
        return found()


def _refusal(error: Py4JJavaError) -> str | None:
    """What the database said; None when the error is none of its own, as where rows could not be read."""
    at = error.java_exception
    while at is not None:
        if _is_of_database(at.getClass()):
            return str(at.getMessage()).splitlines()[0]
        at = at.getCause()
    return None


def _is_of_database(kind: Any) -> bool:
    while kind is not None:
        if kind.getName() == "java.sql.SQLException":
            return True
        kind = kind.getSuperclass()
    return False
