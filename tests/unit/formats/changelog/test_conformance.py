"""The formats of changes keep the contract of such formats."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pyarrow as pa

from millrace.contracts import ChangelogFormat
from millrace.testing import ChangelogFormatSuite
from millrace_formats.changelog.canal_json import CanalJsonFormat
from millrace_formats.changelog.debezium_json import DebeziumJsonFormat, DebeziumOptions
from millrace_formats.changelog.maxwell_json import MaxwellJsonFormat
from millrace_formats.changelog.ogg_json import OggJsonFormat
from millrace_formats.changelog.options import ChangeOptions
from unit.formats.conformance_rows import NestedRows

OLD, NEW = {"int": 1, "string": "a", "double": 0.5}, {"int": 2, "string": None, "double": 1.5}
SOURCE = {"db": "shop", "table": "orders", "ts_ms": 1_589_362_330_000, "pos": 154, "gtid": None}


def message(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


class ChangesSuite(NestedRows, ChangelogFormatSuite):
    """Tests common to the formats of changes in JSON."""

    kinds_read: ClassVar = {"-U": "-D", "+U": "+I"}


class TestDebezium(ChangesSuite):
    bad = (
        b"{",
        b"[]",
        b'{"after":{"int":1}}',
        b'{"op":"x","after":{}}',
        b'{"op":"c","after":null}',
        b'{"op":"u","after":{}}',
        b'{"op":"d","after":{}}',
        b'{"op":"c","after":{"int":"x"}}',
        b'{"op":"c","after":{},"z":"\xff"}',
    )
    changes = (
        message(op="u", before=OLD, after=NEW, source=SOURCE, ts_ms=1_589_362_330_904),
        message(op="u", before=OLD | {"int": "7"}, after=NEW, source=SOURCE | {"db": 7, "more": {"a": [1]}}),
        message(op="u", before={"other": 1}, after={}, schema={"type": "struct"}, source=None),
    )

    def make_format(self) -> ChangelogFormat:
        return DebeziumJsonFormat()


class TestDebeziumIso(TestDebezium):
    def make_format(self) -> ChangelogFormat:
        return DebeziumJsonFormat(DebeziumOptions(timestamp_format="ISO-8601", decimal_as_plain_number=True))


class TestDebeziumWithoutNulls(TestDebezium):
    def make_format(self) -> ChangelogFormat:
        return DebeziumJsonFormat(DebeziumOptions(ignore_null_fields=True))


class TestDebeziumOfNames(ChangelogFormatSuite):
    """Names that the fast reader cannot ask for."""

    bad = (b"nul", b'{"op":"c"}')
    changes = (b'{"op":"u","before":{"q\\"":1},"after":{"q\\"":2}}',)
    kinds_read: ClassVar = {"-U": "-D", "+U": "+I"}

    def make_format(self) -> ChangelogFormat:
        return DebeziumJsonFormat()

    def schema(self) -> pa.Schema:
        return pa.schema([("class", pa.int32()), ('q"', pa.int32())])

    def rows(self) -> pa.RecordBatch:
        return pa.record_batch([[1, 2], [3, None]], schema=self.schema())


class TestCanal(ChangesSuite):
    bad = (
        b"{",
        b"[]",
        b'{"type":"INSERT"}',
        b'{"data":[{}]}',
        b'{"type":"TRUNCATE","data":null}',
        b'{"type":"INSERT","data":{}}',
        b'{"type":"INSERT","data":[null]}',
        b'{"type":"INSERT","data":[{},{"int":"x"}]}',
        b'{"type":"UPDATE","data":[{}],"old":null}',
        b'{"type":"UPDATE","data":[{},{}],"old":[{}]}',
    )
    changes = (
        message(type="UPDATE", data=[NEW, NEW], old=[{"int": "5"}, {"string": None}], table="orders", ts=1, es=2),
        message(type="INSERT", data=[OLD, NEW, {}], pkNames=["int"], sqlType={"int": 4}, database="shop"),
        message(type="DELETE", data=[OLD] * 40, pkNames=None, sqlType=None, table=7, database=None),
    )

    def make_format(self) -> ChangelogFormat:
        return CanalJsonFormat()

    def test_a_statement_that_creates_a_table_gives_no_row(self) -> None:
        self._check_between_others(message(type="CREATE", data=None, sql="CREATE TABLE t"), gives_a_row=False)


class TestMaxwell(ChangesSuite):
    bad = (
        b"{",
        b"[]",
        b'{"data":{}}',
        b'{"type":"bootstrap-stop","data":{}}',
        b'{"type":"insert","data":null}',
        b'{"type":"insert","data":[]}',
        b'{"type":"update","data":{}}',
        b'{"type":"update","data":{},"old":{"int":"x"}}',
    )
    changes = (
        message(type="update", data=NEW, old={"int": 5, "double": None}, table="orders", ts=1_596_684_883),
        message(type="update", data=NEW, old={}, database="shop", primary_key_columns=["int"]),
        message(type="update", data={"bigint": "7"}, old={"bigint": 6}, primary_key_columns=[7], ts="1596684883"),
    )

    def make_format(self) -> ChangelogFormat:
        return MaxwellJsonFormat()


class TestOgg(ChangesSuite):
    bad = (
        b"{",
        b"[]",
        b'{"after":{}}',
        b'{"op_type":"T"}',
        b'{"op_type":"I"}',
        b'{"op_type":"U","after":{}}',
        b'{"op_type":"D","after":{}}',
        b'{"op_type":"I","after":{"int":{}}}',
    )
    changes = (
        message(op_type="U", before=OLD, after=NEW, table="SHOP.ORDERS", op_ts="2020-05-13 15:40:06.123456"),
        message(op_type="U", before=OLD, after=NEW, primary_keys=["int"], current_ts="2020-05-13T15:40:07.000000"),
        message(op_type="U", before=NEW, after={"double": "1"}, table=None, current_ts="2020-05-13T15:40"),
    )

    def make_format(self) -> ChangelogFormat:
        return OggJsonFormat(ChangeOptions(ignore_null_fields=True))
