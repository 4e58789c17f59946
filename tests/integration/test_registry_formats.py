"""The formats whose schemas a registry has, on a real registry: their contract, evolution, registration and errors."""

from __future__ import annotations

import base64
import datetime as dt
import json
import pickle
import ssl
from decimal import Decimal
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from millrace.contracts import Format, Payloads, SerializationContext
from millrace.errors import MessageError, OptionsError, RegistryError, SchemaError
from millrace.testing import ChangelogFormatSuite, FormatSuite
from millrace_formats.avro.confluent_format import AvroConfluentFormat
from millrace_formats.avro.debezium_format import DebeziumAvroConfluentFormat
from millrace_formats.avro.registry.options import RegistryOptions
from support.certificates import authority, issue, java_truststore
from support.registry_gate import gate
from unit.formats.avro.datums import decoded as value_of
from unit.formats.avro.datums import encoded
from unit.formats.test_conformance import NULLS, SCALAR_ROWS, SCALARS


@pytest.fixture
def subject(request: pytest.FixtureRequest) -> str:
    return f"{request.node.name}-value"


@pytest.fixture
def options(registry: Any) -> RegistryOptions:
    return RegistryOptions(url=registry.url)


class TestAvroConfluent(FormatSuite):
    bad = (b"", b"\0", b"{}", b"\1\0\0\0\1x", b"\0\x7f\0\0\0x", b"\0\xff\xff\xff\xffx")

    @pytest.fixture(autouse=True)
    def _start(self, registry: Any) -> None:
        self.url = registry.url

    def make_format(self) -> Format:
        return AvroConfluentFormat(RegistryOptions(url=self.url, subject="conformance-value", legacy_timestamps=False))

    def schema(self) -> pa.Schema:
        scalars = pa.struct(list(SCALARS))
        nested = [("list", pa.list_(scalars)), ("map", pa.map_(pa.string(), scalars)), ("struct", scalars)]
        return pa.schema([*SCALARS, *(pa.field(*field) for field in nested)], metadata=SCALARS.metadata)

    def rows(self) -> pa.RecordBatch:
        first, second = SCALAR_ROWS
        first = first | {"time": dt.time(23, 59, 59, 999000)}
        rows = [
            first | {"list": [second, None, NULLS], "map": [("a\"'\n", first), ("", None)], "struct": second},
            second | {"list": [], "map": [], "struct": NULLS},
            NULLS | {"list": None, "map": None, "struct": None},
        ]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


class TestDebezium(ChangelogFormatSuite):
    bad = (b"\0", b"{}", b"\1\0\0\0\1x", b"\0\x7f\0\0\0x")
    kinds_read: ClassVar = {"-U": "-D", "+U": "+I"}

    @pytest.fixture(autouse=True)
    def _start(self, registry: Any) -> None:
        self.url = registry.url
        schema_id = registry.register("conformance-changes", ENVELOPE)
        self.changes = (envelope(schema_id, ROW, ROW | {"weight": 9.0}, "u"), envelope(schema_id, ROW, ROW, "u"))

    def make_format(self) -> DebeziumAvroConfluentFormat:
        return DebeziumAvroConfluentFormat(RegistryOptions(url=self.url, subject="conformance-debezium"))

    def schema(self) -> pa.Schema:
        return COLUMNS

    def rows(self) -> pa.RecordBatch:
        rows = [{"id": 1, "name": "a", "weight": 0.5}, {"id": 2, "name": None, "weight": None}, ROW]
        return pa.RecordBatch.from_pylist(rows, schema=self.schema())


COLUMNS = pa.schema([pa.field("id", pa.int64(), False), ("name", pa.string()), ("weight", pa.float64())])
ROW = {"id": 7, "name": "hammer", "weight": 1.5}
ENVELOPE = {
    "type": "record",
    "name": "Envelope",
    "namespace": "shop.products",
    "fields": [
        {
            "name": "before",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Value",
                    "fields": [
                        {"name": "id", "type": {"type": "int", "connect.default": 0}, "default": 0},
                        {"name": "name", "type": ["null", "string"], "default": None},
                        {"name": "weight", "type": ["null", "double"], "default": None},
                    ],
                    "connect.name": "shop.products.Value",
                },
            ],
            "default": None,
        },
        {"name": "after", "type": ["null", "Value"], "default": None},
        {
            "name": "source",
            "type": {
                "type": "record",
                "name": "Source",
                "namespace": "io.debezium.connector.mysql",
                "fields": [
                    {"name": "version", "type": "string"},
                    {"name": "ts_ms", "type": "long"},
                    {"name": "snapshot", "type": ["boolean", "null"], "default": False},
                    {"name": "db", "type": "string"},
                    {"name": "table", "type": ["null", "string"], "default": None},
                    {"name": "pos", "type": "long"},
                ],
            },
        },
        {"name": "op", "type": "string"},
        {"name": "ts_ms", "type": ["null", "long"], "default": None},
    ],
}
SOURCE = {"version": "1.9", "ts_ms": 1_589_362_330_904, "snapshot": None, "db": "shop", "table": "products", "pos": 5}


def envelope(schema_id: int, before: Any, after: Any, operation: str, millis: int | None = 1_589_362_331_000) -> bytes:
    change = {"before": before, "after": after, "source": SOURCE, "op": operation, "ts_ms": millis}
    return framed(schema_id, ENVELOPE, change)


def framed(schema_id: int, schema: Any, value: Any) -> bytes:
    return b"\0" + schema_id.to_bytes(4, "big") + encoded(schema, value)


def record(*fields: Any, name: str = "Order") -> dict[str, Any]:
    return {"type": "record", "name": name, "namespace": "shop", "fields": list(fields)}


VERSIONS = [
    record({"name": "id", "type": "int"}, {"name": "customer", "type": "string"}, {"name": "old", "type": "bytes"}),
    record({"name": "id", "type": "long"}, {"name": "customer", "type": ["null", "string"], "default": None}),
    record(
        {"name": "total", "type": "float", "default": 0},
        {"name": "client", "type": "string", "aliases": ["customer"], "default": "nobody"},
        {"name": "id", "type": "long"},
    ),
]
WRITTEN = [
    {"id": 1, "customer": "Ann", "old": b"x"},
    {"id": 2**40, "customer": None},
    {"total": 2.5, "client": "Cid", "id": 3},
]


def evolved(registry: Any, subject: str) -> list[bytes]:
    return [
        framed(registry.register(subject, schema), schema, value)
        for schema, value in zip(VERSIONS, WRITTEN, strict=True)
    ]


def test_each_message_is_read_by_the_schema_that_it_was_written_with(
    registry: Any, options: RegistryOptions, subject: str
) -> None:
    columns = pa.schema(
        [("id", pa.int64()), ("customer", pa.string()), ("total", pa.float64()), ("client", pa.string())]
    )
    messages = evolved(registry, subject)
    decoder = AvroConfluentFormat(options).decoder(columns)
    for order in ([0, 1, 2], [2, 2, 0, 1, 2, 0], [1] * 40 + [0] * 40 + [2, 1]):
        decoded = decoder.decode(Payloads([messages[version] for version in order]))
        expected = [
            {"id": 1, "customer": "Ann", "total": None, "client": None},
            {"id": 2**40, "customer": None, "total": None, "client": None},
            {"id": 3, "customer": None, "total": 2.5, "client": "Cid"},
        ]
        assert not decoded.errors
        assert decoded.rows.to_pylist() == [expected[version] for version in order]


def test_a_readers_schema_renames_and_fills(registry: Any, subject: str) -> None:
    messages = evolved(registry, subject)
    columns = pa.schema([("client", pa.string()), ("total", pa.float32())])
    options = RegistryOptions(url=registry.url, schema=json.dumps(VERSIONS[2]))
    decoded = AvroConfluentFormat(options).decoder(columns).decode(Payloads(messages))
    assert not decoded.errors
    assert decoded.rows.to_pylist() == [
        {"client": "Ann", "total": 0.0},
        {"client": None, "total": 0.0},
        {"client": "Cid", "total": 2.5},
    ]


def test_mixed_schemas_with_bad_messages_and_tombstones(registry: Any, options: RegistryOptions, subject: str) -> None:
    messages = evolved(registry, subject)
    columns = pa.schema([("id", pa.int64())])
    items: list[bytes | None] = []
    for number in range(300):
        good = messages[number % 3]
        items.append([good, None, good[:-1], good, b"", good, good[:5], b"\0\x7f\0\0\1" + good[5:]][number % 8])
    decoded = AvroConfluentFormat(options).decoder(columns).decode(Payloads(items))
    expected = {n: [1, 2**40, 3][n % 3] for n in range(300) if n % 8 in (0, 3, 5)}
    assert dict(zip(decoded.message_index.to_pylist(), decoded.rows.column(0).to_pylist(), strict=True)) == expected
    assert [error.index for error in decoded.errors] == [n for n in range(300) if n % 8 in (2, 4, 6, 7)]


def test_errors_of_messages_name_the_schema_and_the_field(
    registry: Any, options: RegistryOptions, subject: str
) -> None:
    schema_id = registry.register(subject, VERSIONS[0])
    good = framed(schema_id, VERSIONS[0], WRITTEN[0])
    columns = pa.schema([("id", pa.int64()), ("customer", pa.int32())])
    items = [good, b"\0\x7f\xff\xff\xffx", b"{}", good[:6]]
    reasons = [error.reason for error in AvroConfluentFormat(options).decoder(columns).decode(Payloads(items)).errors]
    assert reasons == [
        "field customer: the writer's string cannot be read as INT",
        f"schema 2147483647 is not in the registry at {registry.url}",
        "expected the frame of a schema registry, a zero byte and four bytes of a schema's id, found 7b 7d",
        "field customer: the writer's string cannot be read as INT",
    ]


def test_a_column_that_must_be_there(registry: Any, options: RegistryOptions, subject: str) -> None:
    schema_id = registry.register(subject, VERSIONS[1])
    columns = pa.schema([pa.field("missing", pa.string(), False)])
    item = framed(schema_id, VERSIONS[1], WRITTEN[1])
    (error,) = AvroConfluentFormat(options).decoder(columns).decode(Payloads([item])).errors
    assert error.reason == (
        f"schema {schema_id}: the writer's record shop.Order has no field 'missing', which is NOT NULL"
    )


def test_schemas_may_refer_to_others(registry: Any, options: RegistryOptions, subject: str) -> None:
    currency = {"type": "enum", "name": "Currency", "namespace": "shop", "symbols": ["EUR", "USD"]}
    money = record({"name": "cents", "type": "long"}, {"name": "currency", "type": "shop.Currency"}, name="Money")
    order = record({"name": "price", "type": "shop.Money"}, {"name": "again", "type": "shop.Money"})
    registry.register(f"{subject}-currency", currency)
    of_currency = [{"name": "shop.Currency", "subject": f"{subject}-currency", "version": 1}]
    registry.register(f"{subject}-money", money, references=of_currency)
    of_money = [{"name": "shop.Money", "subject": f"{subject}-money", "version": 1}]
    schema_id = registry.register(subject, order, references=of_money)
    struct = pa.struct([("cents", pa.int64()), ("currency", pa.string())])
    columns = pa.schema([("price", struct), ("again", struct)])
    message = b"\0" + schema_id.to_bytes(4, "big") + b"\x0a\x02\x0e\x00"
    decoded = AvroConfluentFormat(options).decoder(columns).decode(Payloads([message]))
    assert decoded.rows.to_pylist() == [
        {"price": {"cents": 5, "currency": "USD"}, "again": {"cents": 7, "currency": "EUR"}}
    ]


def test_a_schema_of_another_kind_is_told(registry: Any, options: RegistryOptions, subject: str) -> None:
    schema = json.dumps({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"})
    answer = registry.ask("POST", f"subjects/{subject}/versions", {"schema": schema, "schemaType": "JSON"})
    item = b"\0" + int(answer["id"]).to_bytes(4, "big") + b"x"
    (error,) = AvroConfluentFormat(options).decoder(pa.schema([("a", pa.int32())])).decode(Payloads([item])).errors
    assert error.reason == f"schema {answer['id']} is of type JSON, expected AVRO"


ROWS = pa.RecordBatch.from_pylist(
    [{"id": 1, "at": dt.datetime(2024, 5, 1, 12, 30, 15, 250_000), "amount": Decimal("1.50")}],
    schema=pa.schema([pa.field("id", pa.int64(), False), ("at", pa.timestamp("us")), ("amount", pa.decimal128(10, 2))]),
)


def test_the_schema_is_registered_as_the_reference_derives_it(
    registry: Any, options: RegistryOptions, subject: str
) -> None:
    side = SerializationContext(subject.removesuffix("-value"))
    (message,) = AvroConfluentFormat(options).encoder_for(ROWS.schema, side).encode(ROWS).to_list()
    (schema,) = registry.schemas(subject)
    assert schema == {
        "type": "record",
        "name": "record",
        "namespace": "org.apache.flink.avro.generated",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "at", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}], "default": None},
            {
                "name": "amount",
                "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}],
                "default": None,
            },
        ],
    }
    assert message[:1] == b"\0"
    assert message[5:] == encoded(schema, {"id": 1, "at": 1_714_566_615_250, "amount": b"\x00\x96"}, logical=False)


def test_keys_and_values_of_a_topic_have_subjects_of_their_own(registry: Any, options: RegistryOptions) -> None:
    for is_key, name in ((True, "two-sides-key"), (False, "two-sides-value")):
        encoder = AvroConfluentFormat(options).encoder_for(ROWS.schema, SerializationContext("two-sides", is_key))
        encoder.encode(ROWS)
        assert len(registry.schemas(name)) == 1


def test_a_schema_that_is_not_compatible_is_refused_in_the_registrys_words(
    registry: Any, options: RegistryOptions, subject: str
) -> None:
    registry.register(subject, record({"name": "id", "type": "string"}, name="record"))
    registry.keep_compatible(subject)
    encoder = AvroConfluentFormat(options).encoder_for(
        ROWS.schema, SerializationContext(subject.removesuffix("-value"))
    )
    with pytest.raises(RegistryError) as caught:
        encoder.encode(ROWS)
    assert f"does not accept the schema of the rows for subject '{subject}'" in str(caught.value)
    assert "reader type: LONG not compatible with writer type: STRING at /fields/0/type" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_without_registration_the_subject_must_have_the_schema(registry: Any, subject: str) -> None:
    options = RegistryOptions(url=registry.url, subject=subject, auto_register=False)
    with pytest.raises(RegistryError, match=r"Register it first, or set option 'auto.register.schemas' to true"):
        AvroConfluentFormat(options).encoder(ROWS.schema).encode(ROWS)
    AvroConfluentFormat(RegistryOptions(url=registry.url, subject=subject)).encoder(ROWS.schema).encode(ROWS)
    (message,) = AvroConfluentFormat(options).encoder(ROWS.schema).encode(ROWS).to_list()
    assert AvroConfluentFormat(options).decoder(ROWS.schema).decode(Payloads([message])).rows.equals(ROWS)


def test_a_given_schema_is_written_by(registry: Any, subject: str) -> None:
    schema = record(
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]}},
        {"name": "amount", "type": {"type": "fixed", "name": "F", "size": 5, "logicalType": "decimal", "precision": 10,
                                    "scale": 4}},
        {"name": "note", "type": ["null", "string"], "default": None},
    )  # fmt: skip
    options = RegistryOptions(url=registry.url, subject=subject, schema=json.dumps(schema))
    columns = pa.schema([("amount", pa.decimal128(10, 2)), ("kind", pa.string())])
    rows = pa.RecordBatch.from_pylist([{"amount": Decimal("-1.25"), "kind": "B"}], schema=columns)
    (message,) = AvroConfluentFormat(options).encoder(columns).encode(rows).to_list()
    assert registry.schemas(subject) == [schema]
    assert value_of(schema, message[5:]) == {
        "kind": "B", "amount": Decimal("-1.2500"), "note": None,
    }  # fmt: skip
    assert AvroConfluentFormat(options).decoder(columns).decode(Payloads([message])).rows.equals(rows)
    for wrong, reason in (
        (
            {"amount": Decimal("99999999.00"), "kind": "A"},
            "column amount, row 0: 99999999.00 does not fit decimal(10,4)",
        ),
        ({"amount": Decimal("1.00"), "kind": "C"}, "column kind, row 0: 'C' is not a symbol of enum shop.Kind"),
        ({"amount": None, "kind": "A"}, "column amount, row 0: NULL in a NOT NULL column"),
    ):
        with pytest.raises(MessageError) as caught:
            AvroConfluentFormat(options).encoder(columns).encode(pa.RecordBatch.from_pylist([wrong], schema=columns))
        assert str(caught.value) == reason


def test_a_given_schema_that_does_not_fit_the_columns(registry: Any) -> None:
    options = RegistryOptions(url=registry.url, schema=json.dumps(VERSIONS[2]))
    columns = pa.schema([("id", pa.string()), ("other", pa.int32())])
    with pytest.raises(SchemaError) as caught:
        AvroConfluentFormat(options).encoder(columns)
    for part in (
        "column id of type STRING is long in the schema",
        "column other is not in the schema",
        "column total is missing, but its field in the schema must not be null",
    ):
        assert part in str(caught.value)
    with pytest.raises(SchemaError, match=r"column id: the writer's long cannot be read as STRING"):
        AvroConfluentFormat(options).decoder(pa.schema([("id", pa.string())]))


def test_without_topic_and_subject_a_write_is_refused(options: RegistryOptions) -> None:
    with pytest.raises(OptionsError, match=r"option 'subject' is required where rows are not written to a topic"):
        AvroConfluentFormat(options).encoder(ROWS.schema).encode(ROWS)


def read(url: str, item: bytes, **more: Any) -> list[dict[str, Any]]:
    options = RegistryOptions(url=url, properties=(("max.retries", "0"), ("timeout", "5")), **more)
    rows = AvroConfluentFormat(options).decoder(pa.schema([("id", pa.int64())])).decode(Payloads([item])).rows
    found: list[dict[str, Any]] = rows.to_pylist()
    return found


@pytest.fixture
def item(registry: Any, subject: str) -> bytes:
    return framed(registry.register(subject, VERSIONS[0]), VERSIONS[0], WRITTEN[0])


def test_a_registry_that_cannot_be_reached(item: bytes) -> None:
    with pytest.raises(RegistryError) as caught:
        read("http://user:hush@127.0.0.1:1", item)
    assert "the schema registry at http://127.0.0.1:1 (option 'avro-confluent.url') cannot be reached" in str(
        caught.value
    )
    assert "hush" not in str(caught.value)


def test_an_address_that_is_no_registry(registry: Any, item: bytes) -> None:
    with pytest.raises(RegistryError, match=r"answers 404: .*; is this its whole address\?"):
        read(registry.url.removesuffix("/apis/ccompat/v7"), item)


def test_several_registries_are_tried_in_turn(registry: Any, item: bytes) -> None:
    assert read(f"http://127.0.0.1:1,{registry.url}", item) == [{"id": 1}]


def test_basic_auth(registry: Any, item: bytes) -> None:
    with gate(registry.url, "Basic " + base64.b64encode(b"ann:p@ss:word").decode()) as url:
        assert read(url, item, basic_user_info="ann:p@ss:word") == [{"id": 1}]
        with_login = url.replace("http://", "http://ann:p%40ss%3Aword@")
        assert read(with_login, item) == read(with_login, item, basic_source="URL") == [{"id": 1}]
        for more in ({}, {"basic_user_info": "ann:hush"}):
            with pytest.raises(RegistryError) as caught:
                read(url, item, **more)
            assert "refuses to answer without a valid login (401: Unauthorized)" in str(caught.value)
            assert "'avro-confluent.basic-auth.*'" in str(caught.value)
            assert "hush" not in str(caught.value)


def test_bearer_auth(registry: Any, item: bytes) -> None:
    with gate(registry.url, "Bearer t0ken") as url:
        assert read(url, item, bearer_token="t0ken", bearer_source="STATIC_TOKEN") == [{"id": 1}]
        with pytest.raises(RegistryError, match="refuses to answer without a valid login"):
            read(url, item, bearer_token="other")


def test_tls_with_stores(registry: Any, item: bytes, tmp_path: Any) -> None:
    root = authority("root")
    server, client = issue("registry", root, ["127.0.0.1"]), issue("client", root)
    (tmp_path / "root.pem").write_text(root.certificate_pem)
    (tmp_path / "server.pem").write_text(server.chain_pem + server.key_pem())
    (tmp_path / "client.p12").write_bytes(client.pkcs12("secret"))
    java_truststore(tmp_path / "trust.jks", tmp_path / "root.pem", "changeit", "JKS")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "server.pem")
    context.load_verify_locations(tmp_path / "root.pem")
    context.verify_mode = ssl.CERT_REQUIRED
    trust = {"truststore": str(tmp_path / "trust.jks"), "truststore_password": "changeit"}
    own = {"keystore": str(tmp_path / "client.p12"), "keystore_password": "secret"}
    with gate(registry.url, tls=context) as url:
        assert read(url, item, **trust, **own) == [{"id": 1}]
        with pytest.raises(RegistryError, match=r"cannot be reached.*ssl.truststore.location"):
            read(url, item, **own)
        with pytest.raises(RegistryError, match="cannot be reached"):
            read(url, item, **trust)
    with pytest.raises(OptionsError, match=r"option 'avro-confluent.ssl.keystore.location': the password is wrong"):
        read(registry.url, item, **trust, **own | {"keystore_password": "hush"})
    with pytest.raises(OptionsError, match=r"'avro-confluent.ssl.truststore.location': there is no file 'nowhere.jks'"):
        read(registry.url, item, truststore="nowhere.jks")


def test_changes_of_debezium(registry: Any, options: RegistryOptions, subject: str) -> None:
    schema_id = registry.register(subject, ENVELOPE)
    other = ROW | {"weight": 2.0}
    items = [
        envelope(schema_id, None, ROW, "c"),
        envelope(schema_id, None, ROW, "r", None),
        None,
        b"",
        envelope(schema_id, ROW, other, "u"),
        envelope(schema_id, None, other, "u"),
        envelope(schema_id, other, None, "d"),
        envelope(schema_id, None, None, "d"),
        envelope(schema_id, None, None, "c"),
        envelope(schema_id, None, None, "t"),
    ]
    keys = [
        "source.table",
        "ingestion-timestamp",
        "source.timestamp",
        "source.database",
        "source.schema",
        "source.properties",
    ]
    decoded = DebeziumAvroConfluentFormat(options).decoder(COLUMNS, keys).decode(Payloads(items))
    assert decoded.row_kinds.to_pylist() == ["+I", "+I", "-U", "+U", "-D"]
    assert decoded.rows.to_pylist() == [ROW, ROW, ROW, other, other]
    assert decoded.message_index.to_pylist() == [0, 1, 4, 4, 6]
    assert [(error.index, error.reason) for error in decoded.errors] == [
        (5, "field before: it is null, though the operation is 'u', an update: the database does not tell the old "
            "row. In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL"),
        (7, "field before: it is null, though the operation is 'd', a deletion: the database does not tell the old "
            "row. In Postgres, run ALTER TABLE ... REPLICA IDENTITY FULL"),
        (8, "field after: it is null, though the operation is 'c', an insertion"),
        (9, "field op: expected one of c, r, u, d, found 't'"),
    ]  # fmt: skip
    told = {
        "source.table": "products",
        "ingestion-timestamp": dt.datetime(2020, 5, 13, 9, 32, 11, tzinfo=dt.UTC),
        "source.timestamp": dt.datetime(2020, 5, 13, 9, 32, 10, 904_000, tzinfo=dt.UTC),
        "source.database": "shop",
        "source.schema": None,
        "source.properties": [
            ("version", "1.9"), ("ts_ms", "1589362330904"), ("snapshot", None), ("db", "shop"), ("table", "products"),
            ("pos", "5"),
        ],
    }  # fmt: skip
    assert decoded.metadata.to_pylist() == [told, told | {"ingestion-timestamp": None}, told, told, told]


def test_changes_are_written_as_the_reference_writes_them(
    registry: Any, options: RegistryOptions, subject: str
) -> None:
    format_ = DebeziumAvroConfluentFormat(options)
    rows = pa.RecordBatch.from_pylist([ROW] * 4, schema=COLUMNS)
    kinds = pa.array(["+I", "-U", "+U", "-D"])
    messages = (
        format_.encoder_for(COLUMNS, SerializationContext(subject.removesuffix("-value"))).encode(rows, kinds).to_list()
    )
    (schema,) = registry.schemas(subject)
    row = {
        "type": "record",
        "name": "record_before",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "name", "type": ["null", "string"], "default": None},
            {"name": "weight", "type": ["null", "double"], "default": None},
        ],
    }
    assert schema == [
        "null",
        {
            "type": "record",
            "name": "record",
            "namespace": "org.apache.flink.avro.generated",
            "fields": [
                {"name": "before", "type": ["null", row], "default": None},
                {"name": "after", "type": ["null", row | {"name": "record_after"}], "default": None},
                {"name": "op", "type": ["null", "string"], "default": None},
            ],
        },
    ]
    inserted, deleted = ({"before": None, "after": ROW, "op": "c"}, {"before": ROW, "after": None, "op": "d"})
    assert [value_of(schema, message[5:]) for message in messages] == [
        inserted, deleted, inserted, deleted,
    ]  # fmt: skip
