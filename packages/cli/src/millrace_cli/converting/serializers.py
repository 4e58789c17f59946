"""Java's classes that read and write messages, and the formats of millrace that do the same.

Kafka's clients name deserializers and serializers, Kafka Connect converters. Those of Confluent have settings for the
schema registry, which are options of the format here.
"""

from __future__ import annotations

from dataclasses import dataclass

from millrace_cli.converting.declared_options import take
from millrace_cli.converting.dialect import Omission, TranslationStep, implied, undecided

FORMAT = "value.format"
_ENVELOPE = "schemas.enable"
_KAFKA, _CONNECT, _CONFLUENT = "org.apache.kafka.common.serialization", "org.apache.kafka.connect", "io.confluent"


@dataclass(frozen=True)
class SerializerClasses:
    """The classes for one format.

    Attributes:
        format: The format; empty for bytes, which need none.
        deserializer: The class for consumers.
        serializer: The class for producers.
        converter: The class for Kafka Connect.
        others: More classes that do the same.
    """

    format: str
    deserializer: str
    serializer: str
    converter: str
    others: tuple[str, ...] = ()


def _confluent(format_: str, stem: str, converter: str) -> SerializerClasses:
    package = f"{_CONFLUENT}.kafka.serializers.{stem}"
    return SerializerClasses(
        format_, f"{package}Deserializer", f"{package}Serializer", f"{_CONFLUENT}.connect.{converter}"
    )


_CLASSES = (
    SerializerClasses(
        "",
        f"{_KAFKA}.ByteArrayDeserializer",
        f"{_KAFKA}.ByteArraySerializer",
        f"{_CONNECT}.converters.ByteArrayConverter",
        tuple(f"{_KAFKA}.{name}{kind}" for name in ("Bytes", "ByteBuffer") for kind in ("Deserializer", "Serializer")),
    ),
    SerializerClasses(
        "raw", f"{_KAFKA}.StringDeserializer", f"{_KAFKA}.StringSerializer", f"{_CONNECT}.storage.StringConverter"
    ),
    SerializerClasses(
        "json",
        f"{_CONNECT}.json.JsonDeserializer",
        f"{_CONNECT}.json.JsonSerializer",
        f"{_CONNECT}.json.JsonConverter",
        (
            "org.springframework.kafka.support.serializer.JsonDeserializer",
            "org.springframework.kafka.support.serializer.JsonSerializer",
            f"{_CONFLUENT}.kafka.serializers.KafkaJsonDeserializer",
            f"{_CONFLUENT}.kafka.serializers.KafkaJsonSerializer",
        ),
    ),
    _confluent("avro-confluent", "KafkaAvro", "avro.AvroConverter"),
    _confluent("protobuf-confluent", "protobuf.KafkaProtobuf", "protobuf.ProtobufConverter"),
    _confluent("json-confluent", "json.KafkaJsonSchema", "json.JsonSchemaConverter"),
)
_BY_CLASS = {
    name: classes
    for classes in _CLASSES
    for name in (classes.deserializer, classes.serializer, classes.converter, *classes.others)
}
_BY_FORMAT = {classes.format: classes for classes in _CLASSES if classes.format}

_REGISTRY = {
    "schema.registry.url": "url",
    "basic.auth.credentials.source": "basic-auth.credentials-source",
    "basic.auth.user.info": "basic-auth.user-info",
    "bearer.auth.credentials.source": "bearer-auth.credentials-source",
    "bearer.auth.token": "bearer-auth.token",
    "auto.register.schemas": "auto.register.schemas",
    **{
        f"schema.registry.ssl.{store}.{what}": f"ssl.{store}.{what}"
        for store in ("truststore", "keystore")
        for what in ("location", "password")
    },
}
"""The registry's settings of Confluent's serializers, with the options of the formats ``*-confluent``."""


@dataclass(frozen=True)
class ClassOption:
    """The option that names the class for values.

    Attributes:
        name: Its name, such as ``value.deserializer``.
        kind: The attribute of `SerializerClasses` with its classes.
        prefix: The prefix of the class's own settings.
    """

    name: str
    kind: str
    prefix: str = ""

    def to_millrace(self, options: dict[str, str]) -> list[TranslationStep]:
        """Translate the class and its settings, which are removed from the options."""
        if self.name not in options:
            return []
        name = options.pop(self.name)
        classes = _BY_CLASS.get(name.strip())
        if classes is None:
            return [
                undecided(self.name, name, "millrace runs no Java class: choose a format that reads the same bytes")
            ]
        if not classes.format:
            return [implied({self.name: name}, "without a format, values are bytes")]
        registry = self._registry(options, classes.format) if classes.format.endswith("-confluent") else []
        return [self._format_step(name, classes, options), *registry]

    def from_millrace(self, options: dict[str, str]) -> list[TranslationStep]:
        """Translate the format and its registry, which are removed from the options."""
        chosen = take(options, FORMAT)
        if not chosen:
            return []
        format_ = next(iter(chosen.values()))
        classes = _BY_FORMAT.get(format_)
        if classes is None:
            return [
                TranslationStep(
                    chosen, loss=Omission.UNDECIDED, reason=f"no class of Kafka's own reads the format {format_!r}"
                )
            ]
        after = {self.name: getattr(classes, self.kind)}
        if format_ == "json" and self.prefix:
            after[self.prefix + _ENVELOPE] = "false"
        registry = {f"{start}{format_}.{own}": java for java, own in _REGISTRY.items() for start in ("", "value.")}
        settings = [
            TranslationStep({name: options.pop(name)}, {self.prefix + registry[name]: value})
            for name, value in list(options.items())
            if name in registry
        ]
        return [TranslationStep(chosen, after), *settings]

    def _format_step(self, name: str, classes: SerializerClasses, options: dict[str, str]) -> TranslationStep:
        before = {self.name: name}
        envelope = self.prefix + _ENVELOPE
        if classes.format == "json" and self.prefix:
            if envelope in options:
                before[envelope] = options.pop(envelope)
            # Kafka Connect's own default is true
            if before.get(envelope, "true").strip().lower() != "false":
                reason = (
                    f"with {envelope} = true, as by default, a message holds its schema beside its fields: set it to "
                    "false, or for changes take debezium-json with debezium-json.schema-include = true"
                )
                return TranslationStep(before, loss=Omission.UNDECIDED, reason=reason)
        return TranslationStep(before, {"format": classes.format})

    def _registry(self, options: dict[str, str], format_: str) -> list[TranslationStep]:
        return [
            TranslationStep({self.prefix + java: value}, {f"{format_}.{own}": value})
            for java, own in _REGISTRY.items()
            if (value := options.pop(self.prefix + java, None)) is not None
        ]


def key_class_to_millrace(options: dict[str, str], name: str) -> list[TranslationStep]:
    """Translate the class for keys, which is removed from the options.

    Args:
        options: The options.
        name: The option that names it.
    """
    if name not in options:
        return []
    value = options.pop(name)
    classes = _BY_CLASS.get(value.strip())
    if classes is not None and classes.format in ("", "raw"):
        return [implied({name: value}, "keys are bytes: CAST(key AS STRING) makes them text")]
    return [undecided(name, value, "choose key.format, and name the columns of the key by key.fields")]
