"""Decrypt messages that rules of a schema registry encrypt, fields or whole payloads, by Confluent's rule executors.

See https://docs.confluent.io/platform/current/security/protect-data/csfle/overview.html. Other rules are not applied.
"""

from __future__ import annotations

import functools
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from millrace.errors import MachineError, MalformedMessageError, MillraceError, RegistryError
from millrace_formats.registry.client import RegistryClient, RegistryRefusalError
from millrace_formats.registry.frame import SchemaId
from millrace_formats.registry.options import RULE_PARAMETERS, rule_parameters

_RULE_TYPES = frozenset({"ENCRYPT", "ENCRYPT_PAYLOAD"})
_EXECUTED_BY_CLIENTS = frozenset({None, "ALL", "CLIENT"})

_PACKAGE = "confluent_kafka.schema_registry.rules.encryption"
_KMS_DRIVERS = (
    ("awskms.aws_driver", "AwsKmsDriver"),
    ("azurekms.azure_driver", "AzureKmsDriver"),
    ("gcpkms.gcp_driver", "GcpKmsDriver"),
    ("hcvault.hcvault_driver", "HcVaultKmsDriver"),
    ("localkms.local_driver", "LocalKmsDriver"),
)


def encrypting_rules(schema: Any, mode: str) -> tuple[str, ...]:
    """Return the names of the rules that encrypt messages of a schema.

    Args:
        schema: The schema, of the class of Confluent's client.
        mode: READ for rules that decrypt what was written, WRITE for those that encrypt what is written.
    """
    rules = schema.rule_set
    if rules is None or getattr(rules, "enable_at", None) not in _EXECUTED_BY_CLIENTS:
        return ()
    return tuple(
        str(rule.name)
        for rule in (*(rules.domain_rules or ()), *(getattr(rules, "encoding_rules", None) or ()))
        if (rule.type or "").upper() in _RULE_TYPES and rule.mode in (mode, "WRITEREAD") and not rule.disabled
    )


class EncryptedSchema(NamedTuple):
    """A schema with rules that encrypt its messages.

    Attributes:
        client: The client of its registry.
        schema_id: Its id or GUID.
        schema: The schema, of the class of Confluent's client.
        rules: The names of the rules.
    """

    client: RegistryClient
    schema_id: SchemaId
    schema: Any
    rules: tuple[str, ...]

    def describe(self) -> str:
        """Name its messages and rules, for errors."""
        names = ", ".join(map(repr, self.rules))
        return (
            f"messages of schema {self.schema_id} are encrypted by {'rules' if len(self.rules) > 1 else 'rule'} {names}"
        )

    def subjects(self) -> list[str]:
        """Return the subjects that may have the keys of messages.

        Raises:
            RegistryError: They are not known.
        """
        if self.client.options.subject is not None:
            return [self.client.options.subject]
        if not isinstance(self.schema_id, int):
            raise RegistryError(f"{self.describe()}: name the subject that has the key by option 'subject'")
        number = self.schema_id
        try:
            return list(
                self.client.call(
                    lambda client: client.get_subjects_by_schema_id(number), f"subjects of schema {number}"
                )
            )
        except RegistryRefusalError as error:
            raise RegistryError(f"{self.describe()}, of which the registry knows no subject: {error}") from None


class Decryption(ABC):
    """Decrypt messages of one schema: Confluent's deserializer reads them, and they are written again in clear.

    Args:
        encrypted: The schema.

    Raises:
        MachineError: The rule executors are not installed.
        RegistryError: The subject whose key encrypts the messages is not known.
    """

    extras: str
    """The extras of confluent-kafka that the deserializer needs, separated by commas."""

    def __init__(self, encrypted: EncryptedSchema) -> None:
        self._encrypted = encrypted
        try:
            executors = _executors(encrypted.client)
            self._deserializers = [self._open(subject, executors) for subject in encrypted.subjects()]
        except ImportError as error:
            raise MachineError(
                f"{encrypted.describe()}, and what decrypts them is not installed ({error}): "
                f"pip install 'confluent-kafka[{self.extras}]' on the driver and all executors"
            ) from None

    def __call__(self, message: bytes) -> bytes:
        """Return a message without its frame, in clear.

        Raises:
            MalformedMessageError: It is not what the rule's key encrypts.
            RegistryError: There is no key.
        """
        problem: MillraceError | None = None
        for number, deserialize in enumerate(self._deserializers):
            try:
                body = self._serialize(deserialize(message, _context()))
            except Exception as error:
                # The libraries of formats, and of key services, have errors of their own
                problem = self._error(error)
            else:
                # The next message has probably the same subject
                self._deserializers.insert(0, self._deserializers.pop(number))
                return body
        raise problem or RegistryError(f"{self._encrypted.describe()}, which no subject has")

    @abstractmethod
    def _deserializer(self, client: Any, conf: dict[str, Any], rules: Any) -> Callable[[bytes, Any], Any]:
        """Make Confluent's deserializer.

        Args:
            client: The library's client.
            conf: Its settings.
            rules: Its rule executors.
        """

    @abstractmethod
    def _serialize(self, value: Any) -> bytes:
        """Write what the deserializer has read, without a frame."""

    def _open(self, subject: str, executors: list[Any]) -> Callable[[bytes, Any], Any]:
        from confluent_kafka.schema_registry.rule_registry import RuleOverride, RuleRegistry

        rules = RuleRegistry()
        conf = {"subject.name.strategy": lambda *_: subject}
        deserializer = self._deserializer(self._encrypted.client.library, conf, rules)
        # Registered now, since the deserializer would configure them with files of certificates that are gone
        for executor in executors:
            rules.register_executor(executor)
            # Rules may let a reader without the key have what is encrypted
            rules.register_override(RuleOverride(executor.type(), None, "ERROR", None))
        for kind in _other_types(self._encrypted.schema):
            rules.register_override(RuleOverride(kind, None, None, True))
        return deserializer

    def _error(self, error: Exception) -> MillraceError:
        from confluent_kafka.schema_registry.serde import RuleError

        cause = error.__cause__ or error
        if not isinstance(cause, RuleError):
            return MalformedMessageError(f"{self._encrypted.describe()}, and this one cannot be decrypted: {cause}")
        option = f"{self._encrypted.client.format_name}.properties.{RULE_PARAMETERS}*"
        return RegistryError(
            f"{self._encrypted.describe()}, and there is no key to decrypt them: {cause.__cause__ or cause}; let "
            f"executors use the key by their environment, or by options {option!r}"
        )


def _other_types(schema: Any) -> set[str]:
    rules = schema.rule_set
    lists = (rules.domain_rules, getattr(rules, "encoding_rules", None))
    return {rule.type for part in lists for rule in part or () if rule.type and rule.type.upper() not in _RULE_TYPES}


def _executors(client: RegistryClient) -> list[Any]:
    """Return Confluent's rule executors that decrypt; ImportError where they are not installed."""
    from confluent_kafka.schema_registry.rules.encryption.encrypt_executor import (
        EncryptionExecutor,
        FieldEncryptionExecutor,
    )

    _register_kms_drivers()
    executors = [FieldEncryptionExecutor(), EncryptionExecutor()]
    for executor in executors:
        inner = getattr(executor, "executor", executor)
        inner.client, inner.config = client.keys, rule_parameters(client.options.properties)
    return executors


@functools.cache
def _register_kms_drivers() -> None:
    for module, name in _KMS_DRIVERS:
        # The library of a key service may be missing
        with suppress(ImportError):
            getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name).register()


@functools.cache
def _context() -> Any:
    from confluent_kafka.serialization import MessageField, SerializationContext

    # The frame is in front of the message, and the subject is known: neither headers nor the topic matter
    return SerializationContext("", MessageField.VALUE)
