"""JDBC connections in the JVM of a session."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JJavaError

from millrace.errors import MachineError
from millrace.options.secrets import is_secret, without_values
from millrace_catalog.jvm import session_jvm
from millrace_catalog.sinks.table_sink import TableSinkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from millrace_catalog.sinks.jdbc.dialect import SqlDialect

_LOGIN_IN_URL = re.compile(r"//[^/@]*@")
_SECRET_PARAMETER = re.compile(r"[?&;]([^=?&;]+)=([^&;]*)")

_ADD_KEY = ". Rows are replaced by their key: give the table a primary key or a unique constraint on its columns"


class Connection:
    """An open connection with a transaction that ends with `commit`."""

    def __init__(self, java: Any) -> None:
        self._java = java
        self._prepared: dict[str, Any] = {}
        java.setAutoCommit(False)

    def execute(self, statement: str) -> int:
        """Execute a statement without result rows, and return the number of rows that it changed."""
        java_statement = self._java.createStatement()
        try:
            return int(java_statement.executeUpdate(statement))
        finally:
            java_statement.close()

    def write(self, statement: str, rows: str) -> int:
        """Execute a statement with one parameter, and return the number of rows that it changed.

        Args:
            statement: The statement; it is prepared once.
            rows: The parameter, such as an array of rows as JSON.
        """
        prepared = self._prepared.get(statement)
        if prepared is None:
            prepared = self._prepared[statement] = self._java.prepareStatement(statement)
        prepared.setString(1, rows)
        return int(prepared.executeUpdate())

    def query(self, text: str, columns: int) -> list[tuple[str | None, ...]]:
        """Return the rows of a query, each value as text."""
        java_statement = self._java.createStatement()
        try:
            result = java_statement.executeQuery(text)
            rows = []
            while result.next():
                rows.append(tuple(result.getString(index) for index in range(1, columns + 1)))
            return rows
        finally:
            java_statement.close()

    def commit(self) -> None:
        """Commit the transaction."""
        self._java.commit()

    def close(self) -> None:
        """Close the connection, and roll back what was not committed."""
        self._java.close()


class Database:
    """A database, whose texts and errors show no secrets.

    Args:
        url: JDBC URL, such as ``jdbc:postgresql://localhost/orders``.
        properties: Properties of the driver, such as user and password.
        dialect: Dialect of the database.
    """

    def __init__(self, url: str, properties: Mapping[str, str], dialect: SqlDialect) -> None:
        self.url = url
        self.properties = dict(properties)
        self.dialect = dialect

    @contextmanager
    def connection(self, spark: SparkSession, action: str) -> Iterator[Connection]:
        """Open a connection for a ``with`` block.

        Args:
            spark: Session whose JVM has the driver.
            action: What the connection is for, for errors: "prepare table orders".

        Raises:
            MachineError: The session lacks the driver, or is one of Spark Connect.
            TableSinkError: The database could not be reached, or refused.
        """
        with self.translated_errors(action):
            connection = Connection(self._connect(spark))
            try:
                yield connection
            finally:
                connection.close()

    @contextmanager
    def translated_errors(self, action: str, table: str | None = None) -> Iterator[None]:
        """Translate errors of the database to TableSinkError, without secrets.

        Args:
            action: What it does, for errors.
            table: The id of the table that is to blame, as ``failed_table`` of the error, where the database refuses
                its rows or columns; None for none.
        """
        try:
            yield
        except Py4JJavaError as error:
            cause = _database_error(error)
            if cause is None:
                raise
            reason = self.without_secrets(str(cause.getMessage()).splitlines()[0])
            code = cause.getSQLState(), cause.getErrorCode()
            advice = _ADD_KEY if self.dialect.lacks_unique_key(code[0], reason) else ""
            failure = TableSinkError(f"{self!r} could not {action}: {reason}{advice}")
            failure.is_transient = self.dialect.is_transient(*code)
            if table is not None and self.dialect.refuses_table(*code):
                failure.failed_table = table
            raise failure from None

    def without_secrets(self, text: str) -> str:
        """Replace secrets in a text with ``***``."""
        secrets = [value for name, value in self.properties.items() if is_secret(name)]
        secrets += [value for name, value in _SECRET_PARAMETER.findall(self.url) if is_secret(name)]
        return without_values(text, secrets)

    def __repr__(self) -> str:
        return _LOGIN_IN_URL.sub("//", re.split("[?;]", self.url, maxsplit=1)[0])

    def _connect(self, spark: SparkSession) -> Any:
        jvm = session_jvm(spark, repr(self))
        properties = jvm.java.util.Properties()
        for name, value in self.properties.items():
            properties.setProperty(name, value)
        # java.sql.DriverManager does not see drivers from spark.jars.packages
        return self._driver(jvm).connect(self.url, properties)

    def _driver(self, jvm: Any) -> Any:
        loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        try:
            loader.loadClass(self.dialect.driver)
        except Py4JJavaError as error:
            if error.java_exception.getClass().getName() != "java.lang.ClassNotFoundException":
                raise
            raise MachineError(
                f"the session has no JDBC driver for {self!r} ({self.dialect.driver}): start it with the setting "
                f"spark.jars.packages={self.dialect.package}, or a newer one; on the command line by --conf"
            ) from None
        driver = jvm
        for name in self.dialect.driver.split("."):
            driver = getattr(driver, name)
        return driver()


def _database_error(error: Py4JJavaError) -> Any | None:
    """Return the exception of the database; None when the error has another cause, such as reading the rows."""
    cause = error.java_exception
    while cause is not None:
        if _is_sql_exception(cause.getClass()):
            return cause
        cause = cause.getCause()
    return None


def _is_sql_exception(class_: Any) -> bool:
    while class_ is not None:
        if class_.getName() == "java.sql.SQLException":
            return True
        class_ = class_.getSuperclass()
    return False
