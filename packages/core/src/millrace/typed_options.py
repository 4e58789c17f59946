"""Types of the data source's options, for editors and type checkers.

Generated from the options' declarations by ``tox -e docs``. There is a type for each format of a read and a write, and
one for those without a format or with one of another package::

    from millrace.typed_options import JsonSourceOptions

    orders: JsonSourceOptions = {"topic": "orders", "format": "json", "scan.startup.mode": "earliest-offset"}
    spark.readStream.format("millrace").options(**orders)

An option that a type lacks, such as one of librdkafka's own properties, is given by ``.option(name, value)``.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from typing_extensions import TypedDict

Boolean: TypeAlias = bool | Literal["true", "false"]
Integer: TypeAlias = int | str
Value: TypeAlias = str | float | bool

_Both = TypedDict(
    "_Both",
    {
        "changelog.row-kind-column": str,
        "columns": str,
        "connector": str,
        "format": str,
        "key.fields": str,
        "key.fields-prefix": str,
        "key.format": str,
        "metadata.columns": str,
        "metadata.list": str,
        "properties.bootstrap.servers": Value,
        "properties.client.dns.lookup": Value,
        "properties.client.id": Value,
        "properties.config.providers": Value,
        "properties.connections.max.idle.ms": Value,
        "properties.enable.metrics.push": Value,
        "properties.interceptor.classes": Value,
        "properties.metadata.max.age.ms": Value,
        "properties.metadata.recovery.rebootstrap.trigger.ms": Value,
        "properties.metadata.recovery.strategy": Value,
        "properties.receive.buffer.bytes": Value,
        "properties.reconnect.backoff.max.ms": Value,
        "properties.reconnect.backoff.ms": Value,
        "properties.request.timeout.ms": Value,
        "properties.retry.backoff.max.ms": Value,
        "properties.retry.backoff.ms": Value,
        "properties.sasl.client.callback.handler.class": Value,
        "properties.sasl.jaas.config": Value,
        "properties.sasl.kerberos.kinit.cmd": Value,
        "properties.sasl.kerberos.min.time.before.relogin": Value,
        "properties.sasl.kerberos.service.name": Value,
        "properties.sasl.login.callback.handler.class": Value,
        "properties.sasl.login.class": Value,
        "properties.sasl.mechanism": Value,
        "properties.sasl.oauthbearer.assertion.algorithm": Value,
        "properties.sasl.oauthbearer.assertion.claim.aud": Value,
        "properties.sasl.oauthbearer.assertion.claim.exp.seconds": Value,
        "properties.sasl.oauthbearer.assertion.claim.iss": Value,
        "properties.sasl.oauthbearer.assertion.claim.jti.include": Value,
        "properties.sasl.oauthbearer.assertion.claim.nbf.seconds": Value,
        "properties.sasl.oauthbearer.assertion.claim.sub": Value,
        "properties.sasl.oauthbearer.assertion.file": Value,
        "properties.sasl.oauthbearer.assertion.private.key.file": Value,
        "properties.sasl.oauthbearer.assertion.private.key.passphrase": Value,
        "properties.sasl.oauthbearer.assertion.template.file": Value,
        "properties.sasl.oauthbearer.client.credentials.client.id": Value,
        "properties.sasl.oauthbearer.client.credentials.client.secret": Value,
        "properties.sasl.oauthbearer.jwt.retriever.class": Value,
        "properties.sasl.oauthbearer.jwt.validator.class": Value,
        "properties.sasl.oauthbearer.provider": str,
        "properties.sasl.oauthbearer.provider.authority": str,
        "properties.sasl.oauthbearer.provider.awsProfileName": str,
        "properties.sasl.oauthbearer.provider.awsRoleArn": str,
        "properties.sasl.oauthbearer.provider.awsRoleExternalId": str,
        "properties.sasl.oauthbearer.provider.awsRoleSessionName": str,
        "properties.sasl.oauthbearer.provider.awsStsRegion": str,
        "properties.sasl.oauthbearer.provider.client-id": str,
        "properties.sasl.oauthbearer.provider.client-secret": str,
        "properties.sasl.oauthbearer.provider.disable-instance-discovery": Boolean,
        "properties.sasl.oauthbearer.provider.principal": str,
        "properties.sasl.oauthbearer.provider.profile": str,
        "properties.sasl.oauthbearer.provider.region": str,
        "properties.sasl.oauthbearer.provider.role-arn": str,
        "properties.sasl.oauthbearer.provider.role-external-id": str,
        "properties.sasl.oauthbearer.provider.role-session-name": str,
        "properties.sasl.oauthbearer.provider.scope": str,
        "properties.sasl.oauthbearer.provider.service-account-file": str,
        "properties.sasl.oauthbearer.provider.sts-region": str,
        "properties.sasl.oauthbearer.provider.tenant-id": str,
        "properties.sasl.oauthbearer.scope": Value,
        "properties.sasl.oauthbearer.sub.claim.name": Value,
        "properties.sasl.oauthbearer.token.endpoint.url": Value,
        "properties.security.protocol": Value,
        "properties.security.providers": Value,
        "properties.send.buffer.bytes": Value,
        "properties.socket.connection.setup.timeout.ms": Value,
        "properties.ssl.cipher.suites": Value,
        "properties.ssl.endpoint.identification.algorithm": Value,
        "properties.ssl.engine.factory.class": Value,
        "properties.ssl.key.password": Value,
        "properties.ssl.keystore.certificate.chain": Value,
        "properties.ssl.keystore.key": Value,
        "properties.ssl.keystore.location": Value,
        "properties.ssl.keystore.password": Value,
        "properties.ssl.keystore.type": Value,
        "properties.ssl.truststore.certificates": Value,
        "properties.ssl.truststore.location": Value,
        "properties.ssl.truststore.password": Value,
        "properties.ssl.truststore.type": Value,
        "topic": str,
        "topic-pattern": str,
        "value.fields-include": Literal["ALL", "EXCEPT_KEY"],
        "value.fields-prefix": str,
        "value.format": str,
    },
    total=False,
)
_Source = TypedDict(
    "_Source",
    {
        "changelog.mode": Literal["retract", "upsert"],
        "changelog.primary-key": str,
        "client.id.prefix": str,
        "commit.offsets.on.checkpoint": Boolean,
        "dirty-data.collector": str,
        "dirty-data.collector.topic": str,
        "dirty-data.collector.type": str,
        "dirty-data.max-consecutive": Integer,
        "dirty-data.max-ratio": str,
        "failOnDataLoss": Boolean,
        "includeHeaders": Boolean,
        "infer-schema.max-columns": Integer,
        "ingestion.error-tolerance.max-count": Integer,
        "ingestion.ignore-errors": Boolean,
        "maxBytesPerTrigger": Integer,
        "maxOffsetsPerTrigger": Integer,
        "maxRecordsPerPartition": Integer,
        "maxTriggerDelay": Integer,
        "minOffsetsPerTrigger": Integer,
        "minPartitions": Integer,
        "partition.discovery.interval.ms": Integer,
        "properties.auto.offset.reset": Literal["earliest", "latest", "none"],
        "properties.check.crcs": Value,
        "properties.client.id.prefix": str,
        "properties.client.rack": Value,
        "properties.commit.offsets.on.checkpoint": Boolean,
        "properties.fetch.max.bytes": Value,
        "properties.fetch.max.wait.ms": Value,
        "properties.fetch.min.bytes": Value,
        "properties.group.id": Value,
        "properties.isolation.level": Value,
        "properties.max.partition.fetch.bytes": Value,
        "properties.partition.discovery.interval.ms": Integer,
        "properties.register.consumer.metrics": Boolean,
        "register.consumer.metrics": Boolean,
        "scan.bounded.all-partitions-named": Boolean,
        "scan.bounded.mode": str,
        "scan.bounded.partition-timestamps": str,
        "scan.bounded.specific-offsets": str,
        "scan.bounded.specific-offsets.others": Literal["earliest", "latest"],
        "scan.bounded.timestamp": Integer,
        "scan.bounded.timestamp-millis": Integer,
        "scan.bounded.timestamp-no-match": Literal["latest", "error"],
        "scan.check.duplicated.group.id": Boolean,
        "scan.fail-on-data-loss": Boolean,
        "scan.filter-pushdown": Boolean,
        "scan.filter-pushdown.key-partitioner": str,
        "scan.filter-pushdown.max-disorder": Integer,
        "scan.filter-pushdown.report": str,
        "scan.filter.language": str,
        "scan.header-filter": str,
        "scan.max-batch-delay": Integer,
        "scan.max-bytes-per-batch": Integer,
        "scan.max-records-per-batch": Integer,
        "scan.max.pre.fetch.records": Integer,
        "scan.metrics.address": str,
        "scan.min-records-per-batch": Integer,
        "scan.parallelism": Integer,
        "scan.split.max-records": Integer,
        "scan.startup.all-partitions-named": Boolean,
        "scan.startup.mode": str,
        "scan.startup.partition-timestamps": str,
        "scan.startup.specific-offsets": str,
        "scan.startup.specific-offsets.others": Literal["earliest", "latest"],
        "scan.startup.timestamp": Integer,
        "scan.startup.timestamp-millis": Integer,
        "scan.startup.timestamp-no-match": Literal["latest", "error"],
        "scan.topic-partition-discovery.interval": Integer,
        "scan.watermark.alignment.max-drift": Integer,
        "scan.watermark.idle-timeout": Integer,
        "state.backend": str,
        "state.backend.local-dir": str,
        "state.backend.max-size": Integer,
        "state.backend.type": str,
        "state.checkpoints.dir": str,
        "state.checkpoints.num-retained": Integer,
        "table-name": str,
        "table.exec.source.idle-timeout": Integer,
        "topic-partitions": str,
    },
    total=False,
)
_Sink = TypedDict(
    "_Sink",
    {
        "properties.acks": Value,
        "properties.batch.size": Value,
        "properties.buffer.memory": Value,
        "properties.compression.gzip.level": Value,
        "properties.compression.lz4.level": Value,
        "properties.compression.type": Value,
        "properties.compression.zstd.level": Value,
        "properties.delivery.timeout.ms": Value,
        "properties.enable.idempotence": Value,
        "properties.linger.ms": Value,
        "properties.max.in.flight.requests.per.connection": Value,
        "properties.max.request.size": Value,
        "properties.partitioner.class": Value,
        "properties.register.producer.metrics": Boolean,
        "properties.retries": Value,
        "properties.transaction.timeout.ms": Value,
        "register.producer.metrics": Boolean,
        "sink.buffer-flush.interval": Integer,
        "sink.buffer-flush.max-rows": Integer,
        "sink.delivery-guarantee": Literal["none", "at-least-once", "exactly-once"],
        "sink.exactly-once.compare-by": Literal["records", "count"],
        "sink.exactly-once.if-in-doubt": Literal["fail", "compare", "write", "skip"],
        "sink.metrics.address": str,
        "sink.metrics.secret": str,
        "sink.partitioner": str,
        "sink.partitioner.ignore-keys": Boolean,
        "sink.topic.create": Boolean,
        "sink.topic.create.partitions": Integer,
        "sink.topic.create.replication-factor": Integer,
        "sink.transactional-id-prefix": str,
    },
    total=False,
)
_Avro = TypedDict(
    "_Avro",
    {
        "avro.encoding": Literal["binary", "json"],
        "avro.schema": str,
        "avro.timestamp_mapping.legacy": Boolean,
    },
    total=False,
)
_AvroConfluent = TypedDict(
    "_AvroConfluent",
    {
        "avro-confluent.auto.register.schemas": Boolean,
        "avro-confluent.basic-auth.credentials-source": Literal["USER_INFO", "URL"],
        "avro-confluent.basic-auth.user-info": str,
        "avro-confluent.bearer-auth.credentials-source": Literal["STATIC_TOKEN", "OAUTHBEARER"],
        "avro-confluent.bearer-auth.token": str,
        "avro-confluent.schema": str,
        "avro-confluent.schema-registry.schema": str,
        "avro-confluent.schema-registry.subject": str,
        "avro-confluent.schema-registry.url": str,
        "avro-confluent.ssl.keystore.location": str,
        "avro-confluent.ssl.keystore.password": str,
        "avro-confluent.ssl.truststore.location": str,
        "avro-confluent.ssl.truststore.password": str,
        "avro-confluent.subject": str,
        "avro-confluent.subject-name-strategy": Literal["topic", "record", "topic-record", "associated"],
        "avro-confluent.timestamp_mapping.legacy": Boolean,
        "avro-confluent.url": str,
    },
    total=False,
)
_CanalJson = TypedDict(
    "_CanalJson",
    {
        "canal-json.database.include": str,
        "canal-json.encode.decimal-as-plain-number": Boolean,
        "canal-json.encode.ignore-null-fields": Boolean,
        "canal-json.ignore-parse-errors": Boolean,
        "canal-json.ignore-parse-errors.scope": Literal["field", "row"],
        "canal-json.infer-schema.primitive-as-string": Boolean,
        "canal-json.infer-schema.strategy": Literal["AUTO", "SQL_TYPE", "MYSQL_TYPE"],
        "canal-json.map-null-key.literal": str,
        "canal-json.map-null-key.mode": Literal["FAIL", "DROP", "LITERAL"],
        "canal-json.mysql.treat-mysql-timestamp-as-datetime-enabled": Boolean,
        "canal-json.mysql.treat-tinyint1-as-boolean.enabled": Boolean,
        "canal-json.table.include": str,
        "canal-json.timestamp-format.standard": Literal["SQL", "ISO-8601"],
        "canal-json.updates-without-old-row": Literal["fail", "upsert"],
    },
    total=False,
)
_Csv = TypedDict(
    "_Csv",
    {
        "csv.allow-comments": Boolean,
        "csv.array-element-delimiter": str,
        "csv.disable-quote-character": Boolean,
        "csv.escape-character": str,
        "csv.field-delimiter": str,
        "csv.ignore-parse-errors": Boolean,
        "csv.null-literal": str,
        "csv.quote-character": str,
        "csv.write-bigdecimal-in-scientific-notation": Boolean,
    },
    total=False,
)
_DebeziumAvroConfluent = TypedDict(
    "_DebeziumAvroConfluent",
    {
        "debezium-avro-confluent.auto.register.schemas": Boolean,
        "debezium-avro-confluent.basic-auth.credentials-source": Literal["USER_INFO", "URL"],
        "debezium-avro-confluent.basic-auth.user-info": str,
        "debezium-avro-confluent.bearer-auth.credentials-source": Literal["STATIC_TOKEN", "OAUTHBEARER"],
        "debezium-avro-confluent.bearer-auth.token": str,
        "debezium-avro-confluent.schema": str,
        "debezium-avro-confluent.schema-registry.schema": str,
        "debezium-avro-confluent.schema-registry.subject": str,
        "debezium-avro-confluent.schema-registry.url": str,
        "debezium-avro-confluent.ssl.keystore.location": str,
        "debezium-avro-confluent.ssl.keystore.password": str,
        "debezium-avro-confluent.ssl.truststore.location": str,
        "debezium-avro-confluent.ssl.truststore.password": str,
        "debezium-avro-confluent.subject": str,
        "debezium-avro-confluent.subject-name-strategy": Literal["topic", "record", "topic-record", "associated"],
        "debezium-avro-confluent.timestamp_mapping.legacy": Boolean,
        "debezium-avro-confluent.updates-without-old-row": Literal["fail", "upsert"],
        "debezium-avro-confluent.url": str,
    },
    total=False,
)
_DebeziumJson = TypedDict(
    "_DebeziumJson",
    {
        "debezium-json.encode.decimal-as-plain-number": Boolean,
        "debezium-json.encode.ignore-null-fields": Boolean,
        "debezium-json.ignore-parse-errors": Boolean,
        "debezium-json.ignore-parse-errors.scope": Literal["field", "row"],
        "debezium-json.infer-schema.primitive-as-string": Boolean,
        "debezium-json.map-null-key.literal": str,
        "debezium-json.map-null-key.mode": Literal["FAIL", "DROP", "LITERAL"],
        "debezium-json.schema-include": Boolean,
        "debezium-json.timestamp-format.standard": Literal["SQL", "ISO-8601"],
        "debezium-json.updates-without-old-row": Literal["fail", "upsert"],
    },
    total=False,
)
_Json = TypedDict(
    "_Json",
    {
        "json.decode.parser-table-id.fields": str,
        "json.encode.decimal-as-plain-number": Boolean,
        "json.encode.ignore-null-fields": Boolean,
        "json.fail-on-missing-field": Boolean,
        "json.ignore-parse-errors": Boolean,
        "json.ignore-parse-errors.scope": Literal["field", "row"],
        "json.infer-schema.fixed-types": str,
        "json.infer-schema.flatten-nested-columns.enable": Boolean,
        "json.infer-schema.nested": Literal["string", "flatten", "struct"],
        "json.infer-schema.primitive-as-string": Boolean,
        "json.map-null-key.literal": str,
        "json.map-null-key.mode": Literal["FAIL", "DROP", "LITERAL"],
        "json.rescued-data-column": str,
        "json.table.include": str,
        "json.timestamp-format.standard": Literal["SQL", "ISO-8601"],
    },
    total=False,
)
_JsonConfluent = TypedDict(
    "_JsonConfluent",
    {
        "json-confluent.auto.register.schemas": Boolean,
        "json-confluent.basic-auth.credentials-source": Literal["USER_INFO", "URL"],
        "json-confluent.basic-auth.user-info": str,
        "json-confluent.bearer-auth.credentials-source": Literal["STATIC_TOKEN", "OAUTHBEARER"],
        "json-confluent.bearer-auth.token": str,
        "json-confluent.encode.ignore-null-fields": Boolean,
        "json-confluent.schema": str,
        "json-confluent.schema-registry.subject": str,
        "json-confluent.schema-registry.url": str,
        "json-confluent.ssl.keystore.location": str,
        "json-confluent.ssl.keystore.password": str,
        "json-confluent.ssl.truststore.location": str,
        "json-confluent.ssl.truststore.password": str,
        "json-confluent.subject": str,
        "json-confluent.subject-name-strategy": Literal["topic", "record", "topic-record", "associated"],
        "json-confluent.url": str,
    },
    total=False,
)
_MaxwellJson = TypedDict(
    "_MaxwellJson",
    {
        "maxwell-json.encode.decimal-as-plain-number": Boolean,
        "maxwell-json.encode.ignore-null-fields": Boolean,
        "maxwell-json.ignore-parse-errors": Boolean,
        "maxwell-json.ignore-parse-errors.scope": Literal["field", "row"],
        "maxwell-json.infer-schema.primitive-as-string": Boolean,
        "maxwell-json.map-null-key.literal": str,
        "maxwell-json.map-null-key.mode": Literal["FAIL", "DROP", "LITERAL"],
        "maxwell-json.timestamp-format.standard": Literal["SQL", "ISO-8601"],
        "maxwell-json.updates-without-old-row": Literal["fail", "upsert"],
    },
    total=False,
)
_OggJson = TypedDict(
    "_OggJson",
    {
        "ogg-json.encode.decimal-as-plain-number": Boolean,
        "ogg-json.encode.ignore-null-fields": Boolean,
        "ogg-json.ignore-parse-errors": Boolean,
        "ogg-json.ignore-parse-errors.scope": Literal["field", "row"],
        "ogg-json.infer-schema.primitive-as-string": Boolean,
        "ogg-json.map-null-key.literal": str,
        "ogg-json.map-null-key.mode": Literal["FAIL", "DROP", "LITERAL"],
        "ogg-json.timestamp-format.standard": Literal["SQL", "ISO-8601"],
        "ogg-json.updates-without-old-row": Literal["fail", "upsert"],
    },
    total=False,
)
_Protobuf = TypedDict(
    "_Protobuf",
    {
        "protobuf.descriptor-set": str,
        "protobuf.ignore-parse-errors": Boolean,
        "protobuf.message-class-name": str,
        "protobuf.read-default-values": Boolean,
        "protobuf.write-null-string-literal": str,
    },
    total=False,
)
_ProtobufConfluent = TypedDict(
    "_ProtobufConfluent",
    {
        "protobuf-confluent.auto.register.schemas": Boolean,
        "protobuf-confluent.basic-auth.credentials-source": Literal["USER_INFO", "URL"],
        "protobuf-confluent.basic-auth.user-info": str,
        "protobuf-confluent.bearer-auth.credentials-source": Literal["STATIC_TOKEN", "OAUTHBEARER"],
        "protobuf-confluent.bearer-auth.token": str,
        "protobuf-confluent.message-name": str,
        "protobuf-confluent.read-default-values": Boolean,
        "protobuf-confluent.schema": str,
        "protobuf-confluent.schema-registry.subject": str,
        "protobuf-confluent.schema-registry.url": str,
        "protobuf-confluent.ssl.keystore.location": str,
        "protobuf-confluent.ssl.keystore.password": str,
        "protobuf-confluent.ssl.truststore.location": str,
        "protobuf-confluent.ssl.truststore.password": str,
        "protobuf-confluent.subject": str,
        "protobuf-confluent.subject-name-strategy": Literal["topic", "record", "topic-record", "associated"],
        "protobuf-confluent.url": str,
        "protobuf-confluent.write-null-string-literal": str,
    },
    total=False,
)
_Raw = TypedDict(
    "_Raw",
    {
        "raw.charset": str,
        "raw.endianness": Literal["big-endian", "little-endian"],
    },
    total=False,
)


class PlainSourceOptions(_Both, _Source, closed=True):
    """Options of a read, without those of a format."""


class PlainSinkOptions(_Both, _Sink, closed=True):
    """Options of a write, without those of a format."""


class AvroSourceOptions(_Both, _Source, _Avro, closed=True):
    """Options of a read of avro."""


class AvroSinkOptions(_Both, _Sink, _Avro, closed=True):
    """Options of a write of avro."""


class AvroConfluentSourceOptions(_Both, _Source, _AvroConfluent, closed=True):
    """Options of a read of avro-confluent."""


class AvroConfluentSinkOptions(_Both, _Sink, _AvroConfluent, closed=True):
    """Options of a write of avro-confluent."""


class CanalJsonSourceOptions(_Both, _Source, _CanalJson, closed=True):
    """Options of a read of canal-json."""


class CanalJsonSinkOptions(_Both, _Sink, _CanalJson, closed=True):
    """Options of a write of canal-json."""


class CsvSourceOptions(_Both, _Source, _Csv, closed=True):
    """Options of a read of csv."""


class CsvSinkOptions(_Both, _Sink, _Csv, closed=True):
    """Options of a write of csv."""


class DebeziumAvroConfluentSourceOptions(_Both, _Source, _DebeziumAvroConfluent, closed=True):
    """Options of a read of debezium-avro-confluent."""


class DebeziumAvroConfluentSinkOptions(_Both, _Sink, _DebeziumAvroConfluent, closed=True):
    """Options of a write of debezium-avro-confluent."""


class DebeziumJsonSourceOptions(_Both, _Source, _DebeziumJson, closed=True):
    """Options of a read of debezium-json."""


class DebeziumJsonSinkOptions(_Both, _Sink, _DebeziumJson, closed=True):
    """Options of a write of debezium-json."""


class JsonSourceOptions(_Both, _Source, _Json, closed=True):
    """Options of a read of json."""


class JsonSinkOptions(_Both, _Sink, _Json, closed=True):
    """Options of a write of json."""


class JsonConfluentSourceOptions(_Both, _Source, _JsonConfluent, closed=True):
    """Options of a read of json-confluent."""


class JsonConfluentSinkOptions(_Both, _Sink, _JsonConfluent, closed=True):
    """Options of a write of json-confluent."""


class MaxwellJsonSourceOptions(_Both, _Source, _MaxwellJson, closed=True):
    """Options of a read of maxwell-json."""


class MaxwellJsonSinkOptions(_Both, _Sink, _MaxwellJson, closed=True):
    """Options of a write of maxwell-json."""


class OggJsonSourceOptions(_Both, _Source, _OggJson, closed=True):
    """Options of a read of ogg-json."""


class OggJsonSinkOptions(_Both, _Sink, _OggJson, closed=True):
    """Options of a write of ogg-json."""


class ProtobufSourceOptions(_Both, _Source, _Protobuf, closed=True):
    """Options of a read of protobuf."""


class ProtobufSinkOptions(_Both, _Sink, _Protobuf, closed=True):
    """Options of a write of protobuf."""


class ProtobufConfluentSourceOptions(_Both, _Source, _ProtobufConfluent, closed=True):
    """Options of a read of protobuf-confluent."""


class ProtobufConfluentSinkOptions(_Both, _Sink, _ProtobufConfluent, closed=True):
    """Options of a write of protobuf-confluent."""


class RawSourceOptions(_Both, _Source, _Raw, closed=True):
    """Options of a read of raw."""


class RawSinkOptions(_Both, _Sink, _Raw, closed=True):
    """Options of a write of raw."""
