"""The handling of each property of Kafka's Java consumer and producer, from Kafka 2.8 on.

The page client-properties.md of the documentation is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from millrace.kafka.java_values import (
    Convert,
    addresses,
    cipher_suites,
    clamped,
    dns_lookup,
    group_name,
    kilobytes,
    kinit_command,
    one_of,
)
from millrace.kafka.security.sasl import MECHANISMS, PROTOCOLS

_INT = 2_147_483_647
_STORE_TYPES = ("JKS", "PKCS12", "PEM")


@dataclass(frozen=True)
class Passed:
    """A property that librdkafka has, under the same name or other ones.

    Attributes:
        names: librdkafka's names; none for the same one.
        convert: Converts the value; raises a `ValueError` if it is wrong.
        note: What else to know.
        is_bounded: Whether librdkafka knows fewer numbers than Java, so that others are moved into its range.
    """

    names: tuple[str, ...] = ()
    convert: Convert = str
    note: str = ""
    is_bounded: bool = False


@dataclass(frozen=True)
class OtherMeans:
    """A property that millrace itself honours; librdkafka does not get it as it is.

    Attributes:
        means: What honours it.
    """

    means: str


@dataclass(frozen=True)
class Ignored:
    """A property without effect: a warning says why.

    Attributes:
        reason: Why, and what to use instead.
        fitting: Values that ask for what happens anyway, in lower case; they cause no warning.
    """

    reason: str
    fitting: frozenset[str] = frozenset()


@dataclass(frozen=True)
class JavaClass:
    """A property that names classes: Kafka's own ones are accepted, others refused, since they cannot be run.

    Attributes:
        reason: What to do instead of a class of one's own.
        known: The last parts of the names of classes that do what happens anyway.
    """

    reason: str
    known: frozenset[str] = frozenset()


Handling = Passed | OtherMeans | Ignored | JavaClass


def _translated(*names: str, convert: Convert = str, note: str = "") -> Passed:
    return Passed(names, convert, note)


def _number(lowest: int, highest: int, name: str = "", note: str = "", minus_1: int | None = None) -> Passed:
    """Return the handling of a number; Java's -1 may have another number as its counterpart."""
    convert = clamped(lowest, highest, {} if minus_1 is None else {-1: minus_1})
    return Passed((name,) if name else (), convert, note, is_bounded=True)


def _ignored(reason: str, *fitting: str) -> Ignored:
    return Ignored(reason, frozenset(fitting))


_NO_GROUP = "millrace's consumers are assigned their partitions and are in no group that could expel them"
_CHECKPOINT = (
    "Spark's checkpoint keeps the offsets; for a group that follows the stream see 'commit.offsets.on.checkpoint'"
)
_METRICS = (
    "there are no Java metrics; millrace reports metrics by the statistics of the client, see "
    "'properties.statistics.interval.ms'"
)
_DECODES = "millrace reads bytes, and the format decodes them"
_ENCODES = "the format encodes, and millrace writes bytes"
_PARTITIONER = "the option 'sink.partitioner' chooses partitions"
_BROKERS_CHECK = "the brokers check tokens, not the client"
_LOGIN_TIMES = "the client's own times for requests of tokens are fixed"
_LOGIN_REFRESH = "the client asks for a new token after four fifths of the old one's life"
_TICKETS = "'properties.sasl.kerberos.min.time.before.relogin' says how often a ticket is renewed"
_OPENSSL = "OpenSSL has no such choice"
_OPENSSL_VERSION = "OpenSSL chooses the newest version of TLS that both sides know"
_INTERNAL = "it is internal to Java's client"
STORE = OtherMeans("millrace reads the store, see [security](security.md)")
"""The handling of the properties of stores, which are kept for the process that creates a client."""

_OIDC = Passed(note="with the login callback handler OAuthBearerLoginCallbackHandler")

_COMMON: dict[str, Handling] = {
    "auto.include.jmx.reporter": _ignored(_METRICS, "false"),
    "bootstrap.servers": Passed(convert=addresses),
    "client.dns.lookup": _translated("client.dns.lookup", convert=dns_lookup),
    "client.id": Passed(note="by default `millrace`, host and process"),
    "config.providers": JavaClass("references to other files are not looked up; give the values themselves"),
    "connections.max.idle.ms": _number(0, _INT, minus_1=0),
    "enable.metrics.push": Passed(),
    "interceptor.classes": JavaClass("transform the rows instead"),
    "metadata.max.age.ms": _number(1, 86_400_000),
    "metadata.recovery.rebootstrap.trigger.ms": _number(0, _INT),
    "metadata.recovery.strategy": Passed(),
    "metric.reporters": _ignored(_METRICS, "", "org.apache.kafka.common.metrics.jmxreporter"),
    "metrics.num.samples": _ignored(_METRICS),
    "metrics.recording.level": _ignored(_METRICS),
    "metrics.sample.window.ms": _ignored(_METRICS),
    "receive.buffer.bytes": _number(0, 100_000_000, "socket.receive.buffer.bytes", minus_1=0),
    "reconnect.backoff.max.ms": _number(0, 3_600_000),
    "reconnect.backoff.ms": _number(0, 3_600_000),
    "request.timeout.ms": OtherMeans("`socket.timeout.ms`, and in producers `request.timeout.ms`"),
    "retry.backoff.max.ms": _number(1, 300_000),
    "retry.backoff.ms": _number(1, 300_000),
    "send.buffer.bytes": _number(0, 100_000_000, "socket.send.buffer.bytes", minus_1=0),
    "socket.connection.setup.timeout.max.ms": _ignored(
        "the time to connect does not grow; it is 'properties.socket.connection.setup.timeout.ms'"
    ),
    "socket.connection.setup.timeout.ms": _number(1000, _INT),
}

_SECURITY: dict[str, Handling] = {
    "sasl.client.callback.handler.class": JavaClass(
        "give the login by 'properties.sasl.jaas.config', or here the handler of AWS MSK"
    ),
    "sasl.jaas.config": OtherMeans("its login module is translated, see [security](security.md)"),
    "sasl.kerberos.kinit.cmd": _translated("sasl.kerberos.kinit.cmd", convert=kinit_command),
    "sasl.kerberos.min.time.before.relogin": _number(0, 86_400_000),
    "sasl.kerberos.service.name": Passed(),
    "sasl.kerberos.ticket.renew.jitter": _ignored(_TICKETS),
    "sasl.kerberos.ticket.renew.window.factor": _ignored(_TICKETS),
    "sasl.login.callback.handler.class": OtherMeans(
        "Kafka's own two and those of AWS, Azure and Google, for tokens of OAuth, are translated, see "
        "[security](security.md); a class of your own is refused"
    ),
    "sasl.login.class": JavaClass(
        "give the login by 'properties.sasl.jaas.config'", frozenset({"defaultlogin", "kerberoslogin"})
    ),
    "sasl.login.connect.timeout.ms": _ignored(_LOGIN_TIMES),
    "sasl.login.read.timeout.ms": _ignored(_LOGIN_TIMES),
    "sasl.login.refresh.buffer.seconds": _ignored(_LOGIN_REFRESH),
    "sasl.login.refresh.min.period.seconds": _ignored(_LOGIN_REFRESH),
    "sasl.login.refresh.window.factor": _ignored(_LOGIN_REFRESH, "0.8"),
    "sasl.login.refresh.window.jitter": _ignored(_LOGIN_REFRESH),
    "sasl.login.retry.backoff.max.ms": _ignored(_LOGIN_TIMES),
    "sasl.login.retry.backoff.ms": _ignored(_LOGIN_TIMES),
    "sasl.mechanism": _translated("sasl.mechanism", convert=one_of(*MECHANISMS)),
    **{
        f"sasl.oauthbearer.{name}": _OIDC
        for name in (
            "assertion.algorithm",
            "assertion.claim.aud",
            "assertion.claim.exp.seconds",
            "assertion.claim.iss",
            "assertion.claim.jti.include",
            "assertion.claim.nbf.seconds",
            "assertion.claim.sub",
            "assertion.file",
            "assertion.private.key.file",
            "assertion.private.key.passphrase",
            "client.credentials.client.id",
            "client.credentials.client.secret",
            "scope",
            "sub.claim.name",
            "token.endpoint.url",
        )
    },
    "sasl.oauthbearer.assertion.template.file": _translated("sasl.oauthbearer.assertion.jwt.template.file"),
    "sasl.oauthbearer.clock.skew.seconds": _ignored(_BROKERS_CHECK),
    "sasl.oauthbearer.expected.audience": _ignored(_BROKERS_CHECK, ""),
    "sasl.oauthbearer.expected.issuer": _ignored(_BROKERS_CHECK, ""),
    "sasl.oauthbearer.header.urlencode": _ignored("the client sends its id and secret as they are", "false"),
    "sasl.oauthbearer.jwks.endpoint.refresh.ms": _ignored(_BROKERS_CHECK),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms": _ignored(_BROKERS_CHECK),
    "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms": _ignored(_BROKERS_CHECK),
    "sasl.oauthbearer.jwks.endpoint.url": _ignored(_BROKERS_CHECK),
    "sasl.oauthbearer.jwt.retriever.class": JavaClass(
        "give the token's endpoint by 'properties.sasl.oauthbearer.token.endpoint.url', and the kind of grant by "
        "'properties.sasl.oauthbearer.grant.type'",
        frozenset({"defaultjwtretriever", "clientcredentialsjwtretriever"}),
    ),
    "sasl.oauthbearer.jwt.validator.class": JavaClass(
        _BROKERS_CHECK, frozenset({"defaultjwtvalidator", "clientjwtvalidator", "brokerjwtvalidator"})
    ),
    "sasl.oauthbearer.scope.claim.name": _ignored(_BROKERS_CHECK),
    "security.protocol": _translated("security.protocol", convert=one_of(*PROTOCOLS)),
    "security.providers": JavaClass("the client uses OpenSSL"),
    "ssl.cipher.suites": _translated(
        "ssl.cipher.suites", convert=cipher_suites, note="Java's names become OpenSSL's; TLS 1.3 has all its suites"
    ),
    "ssl.enabled.protocols": _ignored(_OPENSSL_VERSION),
    "ssl.endpoint.identification.algorithm": _translated(
        "ssl.endpoint.identification.algorithm", convert=lambda algorithm: algorithm or "none"
    ),
    "ssl.engine.factory.class": JavaClass("the client uses OpenSSL", frozenset({"defaultsslenginefactory"})),
    "ssl.key.password": Passed(),
    "ssl.keymanager.algorithm": _ignored(_OPENSSL),
    "ssl.keystore.certificate.chain": STORE,
    "ssl.keystore.key": STORE,
    "ssl.keystore.location": STORE,
    "ssl.keystore.password": STORE,
    "ssl.keystore.type": _translated("ssl.keystore.type", convert=one_of(*_STORE_TYPES), note="read by millrace"),
    "ssl.protocol": _ignored(_OPENSSL_VERSION),
    "ssl.provider": _ignored(_OPENSSL, ""),
    "ssl.secure.random.implementation": _ignored(_OPENSSL, ""),
    "ssl.trustmanager.algorithm": _ignored(_OPENSSL),
    "ssl.truststore.certificates": STORE,
    "ssl.truststore.location": STORE,
    "ssl.truststore.password": STORE,
    "ssl.truststore.type": _translated("ssl.truststore.type", convert=one_of(*_STORE_TYPES), note="read by millrace"),
}

_CONSUMER: dict[str, Handling] = {
    "allow.auto.create.topics": _ignored(
        "a topic that does not exist is an error; 'sink.topic.create' creates those that a write needs", "false"
    ),
    "auto.commit.interval.ms": _ignored(_CHECKPOINT),
    "auto.offset.reset": OtherMeans("the source's option of this name: `earliest`, `latest` or `none`"),
    "check.crcs": Passed(),
    "client.rack": Passed(),
    "default.api.timeout.ms": _ignored(
        "requests are tried again for a minute; 'properties.request.timeout.ms' bounds a single one"
    ),
    "enable.auto.commit": _ignored(_CHECKPOINT, "false"),
    "exclude.internal.topics": _ignored(
        "internal topics never match a pattern, and are read when the option 'topic' names them", "true"
    ),
    "fetch.max.bytes": _number(1_000, 2_147_483_135),
    "fetch.max.wait.ms": _number(0, 300_000, "fetch.wait.max.ms"),
    "fetch.min.bytes": _number(1, 100_000_000),
    "group.id": Passed(convert=group_name, note="also where a query starts, see [reading](reading.md)"),
    "group.instance.id": _ignored(_NO_GROUP),
    "group.protocol": _ignored(_NO_GROUP),
    "group.remote.assignor": _ignored(_NO_GROUP),
    "heartbeat.interval.ms": _ignored(_NO_GROUP),
    "internal.leave.group.on.close": _ignored(_INTERNAL),
    "internal.throw.on.fetch.stable.offset.unsupported": _ignored(_INTERNAL),
    "isolation.level": Passed(convert=one_of("read_committed", "read_uncommitted"), note="by default `read_committed`"),
    "key.deserializer": _ignored(_DECODES),
    "max.partition.fetch.bytes": _number(1, 1_000_000_000),
    "max.poll.interval.ms": _ignored(_NO_GROUP),
    "max.poll.records": _ignored(
        "'scan.max-records-per-batch' bounds a micro-batch, and records are fetched in batches by size"
    ),
    "partition.assignment.strategy": _ignored("partitions are assigned to Spark's tasks"),
    "session.timeout.ms": _ignored(_NO_GROUP),
    "share.acknowledgement.mode": _ignored("millrace has no share consumers"),
    "share.acquire.mode": _ignored("millrace has no share consumers"),
    "value.deserializer": _ignored(_DECODES),
}

_LEVEL = OtherMeans("`compression.level`, at most 12, when `compression.type` (by default `lz4`) is of that name")

_PRODUCER: dict[str, Handling] = {
    "acks": Passed(
        convert=one_of("all", "-1", "0", "1"),
        note="`0` and `1` turn idempotence off, with a warning; refused with `exactly-once`",
    ),
    "batch.size": _number(1, _INT),
    "buffer.memory": _translated("queue.buffering.max.kbytes", convert=kilobytes),
    "compression.gzip.level": _LEVEL,
    "compression.lz4.level": _LEVEL,
    "compression.type": Passed(convert=one_of("none", "gzip", "snappy", "lz4", "zstd"), note="by default `lz4`"),
    "compression.zstd.level": _LEVEL,
    "delivery.timeout.ms": Passed(),
    "enable.idempotence": Passed(
        note="by default `true`, unless `sink.delivery-guarantee` is `none` or `acks`, `retries` or the requests in "
        "flight say otherwise"
    ),
    "internal.auto.downgrade.txn.commit": _ignored(_INTERNAL),
    "key.serializer": _ignored(_ENCODES),
    "linger.ms": _number(0, 900_000),
    "max.block.ms": _ignored(
        "a task waits while the queue is full, until records fail by 'properties.delivery.timeout.ms'"
    ),
    "max.in.flight.requests.per.connection": _number(
        1,
        1_000_000,
        "max.in.flight",
        note="more than 5 turn idempotence off, with a warning; refused with `exactly-once`",
    ),
    "max.request.size": _number(1_000, 1_000_000_000, "message.max.bytes"),
    "metadata.max.idle.ms": _ignored("metadata of a topic is kept as long as its producer"),
    "partitioner.adaptive.partitioning.enable": _ignored(_PARTITIONER),
    "partitioner.availability.timeout.ms": _ignored(_PARTITIONER),
    "partitioner.class": JavaClass(
        "use the option 'sink.partitioner': default, round-robin, or a class of Python as module:Class",
        frozenset({"defaultpartitioner", "builtinpartitioner"}),
    ),
    "partitioner.ignore.keys": _ignored(_PARTITIONER, "false"),
    "retries": Passed(note="`0` turns idempotence off, with a warning; refused with `exactly-once`"),
    "transaction.timeout.ms": _number(1_000, _INT),
    "transaction.two.phase.commit.enable": _ignored("'sink.delivery-guarantee' decides on transactions", "false"),
    "transactional.id": _ignored("'sink.delivery-guarantee' and 'sink.transactional-id-prefix' decide on transactions"),
    "value.serializer": _ignored(_ENCODES),
}

JAVA_PROPERTIES: dict[str, Handling] = {**_COMMON, **_SECURITY, **_CONSUMER, **_PRODUCER}
"""The handling of each property, by its name."""

CONSUMER_PROPERTIES, PRODUCER_PROPERTIES = frozenset(_CONSUMER), frozenset(_PRODUCER)
"""The properties that only one of the two clients has."""
