"""The connectors keep the contract of table factories."""

from __future__ import annotations

from pyspark.sql.types import LongType, StringType

from millrace.contracts import TableColumn, TableDescription
from millrace.testing import TableFactorySuite
from millrace_sql.connectors.blackhole import BlackholeTableFactory
from millrace_sql.connectors.datagen.factory import DatagenTableFactory
from millrace_sql.connectors.filesystem import FilesystemTableFactory
from millrace_sql.connectors.jdbc import JdbcTableFactory
from millrace_sql.connectors.kafka.factory import KafkaTableFactory
from millrace_sql.connectors.kafka.upsert_factory import UpsertKafkaTableFactory
from millrace_sql.connectors.print import PrintTableFactory

COLUMNS = (TableColumn("id", LongType(), nullable=False), TableColumn("name", StringType()))


def table(**options: str) -> TableDescription:
    given = {name.replace("__", ".").replace("_", "-"): value for name, value in options.items()}
    return TableDescription(("default", "default", "orders"), COLUMNS, options=given)


class TestBlackhole(TableFactorySuite):
    can_read = False

    def make_factory(self):
        return BlackholeTableFactory()

    def make_table(self):
        return table()


class TestPrint(TableFactorySuite):
    can_read = False

    def make_factory(self):
        return PrintTableFactory()

    def make_table(self):
        return table(print_identifier="out")


class TestDatagen(TableFactorySuite):
    can_write = False

    def make_factory(self):
        return DatagenTableFactory()

    def make_table(self):
        return table(number_of_rows="3")


class TestFilesystem(TableFactorySuite):
    def make_factory(self):
        return FilesystemTableFactory()

    def make_table(self):
        return table(path="/nowhere", format="json")


class TestJdbc(TableFactorySuite):
    def make_factory(self):
        return JdbcTableFactory()

    def make_table(self):
        return table(url="jdbc:nothing:nowhere", table_name="orders", password="not shown")


class TestKafka(TableFactorySuite):
    def make_factory(self):
        return KafkaTableFactory()

    def make_table(self):
        return table(topic="orders", properties__bootstrap__servers="localhost:9092", format="json")


class TestUpsertKafka(TableFactorySuite):
    def make_factory(self):
        return UpsertKafkaTableFactory()

    def make_table(self):
        options = {"topic": "orders", "properties.bootstrap.servers": "localhost:9092", "format": "json"}
        return TableDescription(("d", "d", "orders"), COLUMNS, ("id",), options=options | {"key.format": "json"})
