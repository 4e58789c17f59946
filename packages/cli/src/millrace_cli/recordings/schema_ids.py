"""The schemas of a registry that messages name by ids, kept in a recording, and registered in another registry.

Confluent's wire format: https://docs.confluent.io/platform/current/schema-registry/fundamentals/serdes-develop/index.html.
Ids are in front of payloads, or in headers. They are those of one registry: another one gives others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from millrace.errors import RegistryError
from millrace_cli.recordings.contents import RecordedMessage, RecordedSchema, RegisteredSchema
from millrace_cli.schema_registry import RegistryCall, call_registry

PARTS = ("key", "value")

_FRAME_SIZE = 5
_MAGIC, _GUID_MAGIC = b"\0", b"\1"
_ENCRYPTING = ("ENCRYPT", "ENCRYPT_PAYLOAD")


class SchemaCollector:
    """Collect the schemas that messages name.

    Args:
        url: The URL of the registry.
        topic: The topic of the messages.
        call: Asks the registry, as `call_registry` does.
    """

    def __init__(self, url: str, topic: str, call: RegistryCall = call_registry) -> None:
        self._url = url.rstrip("/")
        self._topic = topic
        self._call = call
        self._known: dict[str, dict[int, RegisteredSchema | None]] = {part: {} for part in PARTS}

    def collect(self, rows: pa.Table) -> Iterator[RecordedSchema]:
        """Yield the schemas that these messages name, and none before.

        Args:
            rows: Messages, with the columns of a recording.

        Raises:
            RegistryError: The registry does not answer, or a message names its schema by a GUID.
        """
        for part in PARTS:
            for number in sorted(set(_schema_ids(rows, part)) - self._known[part].keys()):
                schema = self._known[part][number] = self._find(part, number)
                if schema is not None:
                    yield RecordedSchema(part, number, schema)

    def check(self, note: Callable[[str], None] = lambda _: None) -> None:
        """Check that the registry has all schemas of keys, or none, and those of values, too.

        Keys and values that begin with a zero byte, such as numbers, are no messages of a registry where it has none.

        Args:
            note: Gets what is worth telling people: that there was no schema at all.

        Raises:
            RegistryError: Some are missing.
        """
        for part in PARTS:
            missing = sorted(number for number, schema in self._known[part].items() if schema is None)
            if missing and len(missing) < len(self._known[part]):
                raise RegistryError(
                    f"the {part}s name schemas of the registry, but it does not have schema {missing[0]} for them: "
                    f"register it, or record without --registry"
                )
        named = [(part, number) for part in PARTS for number in self._known[part]]
        if named and not any(schema for known in self._known.values() for schema in known.values()):
            part, number = named[-1]
            note(
                f"no schemas were recorded: messages seem to name some, such as {number} of {part}s, but the schema "
                f"registry has none of them for this topic; is --registry its whole address?"
            )

    def _find(self, part: str, number: int) -> RegisteredSchema | None:
        content = self._call(f"{self._url}/schemas/ids/{number}")
        subject = None if content is None else self._subject(part, number)
        return None if subject is None else self._schema(subject, content)

    def _subject(self, part: str, number: int) -> str | None:
        """Return a subject that has a schema; None if only other parts of messages, or other topics, have it.

        Keys that are numbers of eight bytes may begin as if they named a schema, often one of the first ids.
        """
        versions = self._call(f"{self._url}/schemas/ids/{number}/versions")
        own = f"{self._topic}-{part}"
        subjects = sorted(version["subject"] for version in versions or ())
        if not subjects or own in subjects:
            return own
        return next((subject for subject in subjects if not subject.endswith(("-key", "-value"))), None)

    def _schema(self, subject: str, content: Mapping[str, Any]) -> RegisteredSchema:
        _check_clear(subject, content)
        references = []
        for reference in content.get("references") or ():
            subject_of_it, version = reference["subject"], reference["version"]
            referred = self._call(f"{self._url}/subjects/{_quoted(subject_of_it)}/versions/{version}")
            if referred is None:
                raise RegistryError(f"the schema registry lacks version {version} of subject {subject_of_it!r}")
            references.append((reference["name"], self._schema(subject_of_it, referred)))
        return RegisteredSchema(subject, content.get("schemaType") or "AVRO", content["schema"], tuple(references))


class SchemaIds:
    """Give messages the ids of a registry in the place of those of the recording.

    Args:
        frames: By part, the frames with the recording's ids, and those with the registry's.
    """

    def __init__(self, frames: Mapping[str, Mapping[bytes, bytes]]) -> None:
        self._frames = frames

    @classmethod
    def registered(
        cls,
        schemas: Iterable[RecordedSchema],
        url: str,
        recorded_topic: str | None,
        topic: str,
        call: RegistryCall = call_registry,
    ) -> SchemaIds:
        """Register schemas, and return their ids; a schema that the registry has keeps its id.

        Args:
            schemas: The schemas of a recording.
            url: The URL of the registry.
            recorded_topic: The topic of the recording: subjects that are named after it get the name of the other.
            topic: The topic of the messages.
            call: Asks the registry, as `call_registry` does.

        Raises:
            RegistryError: The registry does not accept a schema, or does not answer.
        """
        frames: dict[str, dict[bytes, bytes]] = {part: {} for part in PARTS}
        # Versions of a subject in the order in which they came to be
        for recorded in sorted(schemas, key=lambda recorded: recorded.id):
            subject = _renamed(recorded.schema.subject, recorded_topic, topic)
            number, _ = _register(call, url.rstrip("/"), subject, recorded.schema)
            frames[recorded.part][_frame(recorded.id)] = _frame(number)
        return cls(frames)

    def rewrite(self, message: RecordedMessage) -> RecordedMessage:
        """Return a message with the registry's ids."""
        key = self._rewrite("key", message.key, message)
        value = self._rewrite("value", message.value, message)
        names = {_header_name(part): self._frames[part] for part in PARTS}
        headers = [
            (name, names[name].get(payload, payload) if name in names and payload is not None else payload)
            for name, payload in message.headers
        ]
        return message._replace(key=key, value=value, headers=headers)

    def _rewrite(self, part: str, payload: bytes | None, message: RecordedMessage) -> bytes | None:
        frame = None if payload is None else self._frames[part].get(payload[:_FRAME_SIZE])
        if payload is None or frame is None or any(name == _header_name(part) for name, _ in message.headers):
            return payload
        return frame + payload[_FRAME_SIZE:]


def _check_clear(subject: str, content: Mapping[str, Any]) -> None:
    """Refuse a schema with rules that encrypt messages: without them, these would be read as ciphertext."""
    rules = content.get("ruleSet") or {}
    for rule in (*(rules.get("domainRules") or ()), *(rules.get("encodingRules") or ())):
        if str(rule.get("type")).upper() in _ENCRYPTING:
            raise RegistryError(
                f"the rule {rule.get('name')!r} of subject {subject!r} encrypts messages, and recordings keep no "
                f"rules: record without --registry, and replay where the same registry is used"
            )


def names_schema(payload: bytes | None) -> bool:
    """Return whether a payload may begin with the id of a schema."""
    return payload is not None and payload[:1] == _MAGIC and len(payload) >= _FRAME_SIZE


def _schema_ids(rows: pa.Table, part: str) -> Iterator[int]:
    """Yield the ids that keys or values name, in headers or in front of them."""
    in_headers = _header_name(part)
    for own in rows["headers"].to_pylist() if rows["headers"].null_count < rows.num_rows else ():
        for header in own or ():
            if header["key"] == in_headers and header["value"] is not None:
                yield _header_id(header["value"], in_headers)
    for frame in pc.unique(pc.binary_slice(rows[part], 0, _FRAME_SIZE)).to_pylist():
        if names_schema(frame):
            yield int.from_bytes(frame[1:_FRAME_SIZE], "big")


def _header_id(frame: bytes, name: str) -> int:
    if frame[:1] == _GUID_MAGIC:
        raise RegistryError(
            f"header {name!r} names a schema by a GUID, which recordings do not keep: record without --registry, since "
            f"a GUID is the same in every registry, and register the schemas there yourself"
        )
    return int.from_bytes(frame[1:_FRAME_SIZE], "big")


def _header_name(part: str) -> str:
    return f"__{part}_schema_id"


def _frame(number: int) -> bytes:
    return _MAGIC + number.to_bytes(_FRAME_SIZE - 1, "big")


def _renamed(subject: str, recorded_topic: str | None, topic: str) -> str:
    """Return the subject for another topic: those of all strategies but that of records begin with a topic's name."""
    prefix = f"{recorded_topic}-"
    return f"{topic}-{subject.removeprefix(prefix)}" if recorded_topic and subject.startswith(prefix) else subject


def _register(call: RegistryCall, url: str, subject: str, schema: RegisteredSchema) -> tuple[int, dict[str, Any]]:
    """Register a schema and those that it refers to; returns its id, and the request that describes it."""
    references = [_registered_reference(call, url, name, referred) for name, referred in schema.references]
    body: dict[str, Any] = {"schema": schema.text}
    if schema.type != "AVRO":
        body["schemaType"] = schema.type
    if references:
        body["references"] = references
    return int(_post(call, f"{url}/subjects/{_quoted(subject)}/versions", body)["id"]), body


def _registered_reference(call: RegistryCall, url: str, name: str, schema: RegisteredSchema) -> dict[str, Any]:
    _, body = _register(call, url, schema.subject, schema)
    version = _post(call, f"{url}/subjects/{_quoted(schema.subject)}", body)["version"]
    return {"name": name, "subject": schema.subject, "version": version}


def _post(call: RegistryCall, url: str, body: Mapping[str, Any]) -> Any:
    answer = call(url, body)
    if answer is None:
        raise RegistryError("--registry: there is no schema registry at this URL; is it its whole address?")
    return answer


def _quoted(subject: str) -> str:
    return quote(subject, safe="")
