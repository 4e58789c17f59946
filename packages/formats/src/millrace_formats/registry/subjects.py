"""The subjects of schemas, named by the strategies of Confluent's clients.

See https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html#subject-name-strategy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from millrace.contracts import SerializationContext
from millrace.errors import OptionsError, RegistryError
from millrace_formats.registry.client import registry_client
from millrace_formats.registry.options import RegistryOptions

_NOT_FOUND = 404
_ANY_CLUSTER = "-"


@dataclass(frozen=True)
class SubjectName:
    """The name of the subject of keys or values.

    Attributes:
        format_name: The format.
        options: Its options.
        context: The topic of the keys or values; None where they are written to none.
    """

    format_name: str
    options: RegistryOptions
    context: SerializationContext | None = None

    def of(self, record: str | None) -> str:
        """Return the subject.

        Args:
            record: The name of the schema: the full name of an Avro record or a protobuf message, or the title of a
                JSON Schema; None if it is not known.

        Raises:
            OptionsError: The options do not say the subject.
            RegistryError: The registry associates several subjects with the topic, or could not be asked.
        """
        if self.options.subject is not None:
            return self.options.subject
        strategy = self.options.subject_name_strategy
        if strategy == "record":
            return self._require(record)
        if self.context is None:
            raise OptionsError(
                self.format_name, ("option 'subject' is required where rows are not written to a topic",)
            )
        if strategy == "topic-record":
            return f"{self.context.topic}-{self._require(record)}"
        return (self._associated(self.context) if strategy == "associated" else None) or self.context.subject

    def _require(self, record: str | None) -> str:
        if record:
            return record
        raise OptionsError(
            self.format_name,
            (
                f"option 'subject-name-strategy' is {self.options.subject_name_strategy}, and the record's name is not "
                f"known: name the subject by option 'subject', or give the columns or option 'schema'",
            ),
        )

    def _associated(self, context: SerializationContext) -> str | None:
        kind = "key" if context.is_key else "value"
        client = registry_client(self.format_name, self.options)
        associations = client.call(
            lambda library: _associations(library, context.topic, kind),
            f"the {kind}'s subject of topic {context.topic!r}",
        )
        if len(associations) > 1:
            names = ", ".join(sorted(association.subject for association in associations))
            raise RegistryError(
                f"the schema registry at {client.address} associates several subjects with the {kind}s of topic "
                f"{context.topic!r} ({names}): name one by option 'subject'"
            )
        return associations[0].subject if associations else None


def _associations(library: Any, topic: str, kind: str) -> list[Any]:
    from confluent_kafka.schema_registry.error import SchemaRegistryError

    try:
        return list(library.get_associations_by_resource_name(topic, _ANY_CLUSTER, "topic", [kind]))
    except SchemaRegistryError as error:
        # The topic has none, or the registry knows none
        if error.http_status_code == _NOT_FOUND:
            return []
        raise
