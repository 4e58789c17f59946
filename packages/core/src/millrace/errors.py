"""The errors that millrace raises, each with one message that says what, where, and what to do.

Those that users see::

    MillraceError
    ├── OptionsError            a configuration is wrong; carries every problem found, not only the first
    ├── PluginError
    │   ├── UnknownPluginError      no installed package offers the name
    │   ├── DuplicatePluginError    two installed packages offer the same name
    │   ├── PluginLoadError         the name is known but its class cannot be used
    │   ├── PluginVersionError      driver and executor have different versions of a plugin
    │   └── PluginFailedError       a plugin has raised an exception that it should not raise
    ├── SchemaError             a format does not support the columns of a read or write
    │   └── SchemaChangedError      a message does not fit the columns of a query that follows its messages' schema
    ├── MessageError            a message could not be decoded, or a row not encoded
    │   ├── MalformedMessageError   the bytes of one message are not what its format and columns allow
    │   │   └── MissingValueError       a NULL in a NOT NULL column
    │   ├── TableFailedError        a row does not fit its table in the sink of a pipeline
    │   └── SchemaMismatchError     a well-formed message does not fit the columns, which must change to read it
    ├── ClientError             Kafka refused or could not be reached
    │   ├── UnreachableError        no bootstrap server answered
    │   ├── UnknownTopicError       a topic does not exist, or may not be seen
    │   ├── DataLossError           offsets that were asked for are no longer there
    │   ├── GroupInUseError         a consumer group is someone else's
    │   ├── DeliveryError           records were not acknowledged by the brokers
    │   ├── FencedError             a transactional producer was replaced, or its transaction took too long
    │   └── LedgerError             whether a micro-batch was written is not known
    ├── StateError              the durable state of a table cannot be read or written, or is missing
    ├── RegistryError           a schema registry refused a request, or could not be reached
    └── MachineError            something this machine lacks (Java, a library, a free port)

Every class pickles, since errors cross from Python workers to the driver.

A `MalformedMessageError` and a `SchemaMismatchError` are raised by formats and caught by the source, which adds the
message's place: the former follows the error policy of the read, the latter ends it as a `SchemaChangedError`.

The other exceptions of millrace's packages never reach a user, unless drawn under `MillraceError` or an exception of
click::

    millrace
        Exception
        ├── NotKafkaError           what listens on a port does not answer as a broker does
        └── AbandonedTaskError      nobody waits any more for the result of a task that another worker has sent
        ValueError
        ├── ShownValueError         an option's value is wrong, in a message that shows the value already
        ├── UnresolvedReferenceError  a reference in an option, such as ${name}, has no value
        ├── JaasError               a JAAS configuration cannot be translated
        └── StoreError              a truststore or keystore cannot be read
            ├── StorePasswordError      its password is wrong or missing
            └── KeyPasswordError        the password of a key in it is wrong or missing

    millrace_broker
        MachineError
        └── PortTakenError          another process listens on a broker's port

    millrace_catalog
        MillraceError
        └── TableSinkError          the database of a sink could not be reached, or refused a statement
        ValueError
        ├── ExpressionError         an expression is wrong; says at which character
        ├── FunctionError           a user-defined function is wrong; names the key of its definition
        └── UnknownTypeError        the meaning of an expression depends on a type that is not known

    millrace_cdc
        MillraceError
        └── PipelineError           the definition of a pipeline is wrong; says where, all problems at once
        MessageError
        └── FunctionFailedError     a user-defined function of a pipeline has failed for a row
        MalformedMessageError
        └── MalformedKeyError       the key of a message is not what the columns of keys need
        Exception
        ├── RowError                a row does not fit the columns of its table in a sink
        └── ChangeError             a change is one that its table in a sink cannot have

    millrace_cli
        ClickException
        └── CommandError            a command cannot do what was asked

    millrace_formats
        Exception
        ├── PyruhvroError               pyruhvro refuses a schema or a message
        ├── UnsupportedByPyruhvroError  an avro schema has a part that pyruhvro is not given
        ├── SchemaNotFoundError         a schema registry has no schema of an id or subject
        ├── RegistryRefusalError        a schema registry answered with an error
        └── UnsupportedError            a protobuf type has a part that ptars is not given

    millrace_sql
        MillraceError
        └── SqlError                a statement cannot be executed; says where in its script
            └── SqlSyntaxError          a script is not SQL that millrace understands
                └── UnfinishedSqlError      a script ends within a statement
"""

from __future__ import annotations

from collections.abc import Mapping


class MillraceError(Exception):
    """Base of all errors that millrace raises on purpose.

    Attributes:
        failed_table: The id of the table of a pipeline's sink that alone is to blame; None for any other error.
        is_transient: Whether the same may succeed after a while, as where a database is away.
    """

    failed_table: str | None = None
    is_transient: bool = False

    @classmethod
    def message_in(cls, failure: BaseException) -> str | None:
        """Find an error of this class in what Spark makes of one that a Python worker raised: text with its traceback.

        Returns:
            The first line of its message; None where the failure is another one.
        """
        _, separator, rest = str(failure).partition(f"{cls.__module__}.{cls.__qualname__}: ")
        return rest.partition("\n")[0] if separator else None


class OptionsError(MillraceError):
    """A configuration is wrong.

    Args:
        side: What was configured, such as ``"source"``; named in the message.
        problems: One sentence for each problem, all of them at once.
    """

    def __init__(self, side: str, problems: tuple[str, ...]) -> None:
        self.side = side
        self.problems = problems
        super().__init__(side, problems)

    def __str__(self) -> str:
        if len(self.problems) == 1:
            return f"wrong {self.side} options: {self.problems[0]}"
        lines = "".join(f"\n  - {problem}" for problem in self.problems)
        return f"wrong {self.side} options, {len(self.problems)} problems:{lines}"


class PluginError(MillraceError):
    """A plugin cannot be used."""


class UnknownPluginError(PluginError):
    """No installed package offers a plugin of that name."""


class DuplicatePluginError(PluginError):
    """Two installed packages offer a plugin of the same kind and name."""


class PluginLoadError(PluginError):
    """A plugin's module or class cannot be imported, or is not of its kind."""


class PluginVersionError(PluginError):
    """Driver and executor have different versions of a plugin's package."""


class PluginFailedError(PluginError):
    """A plugin has raised an exception that its contract does not allow; names the plugin and where it failed."""


class SchemaError(MillraceError):
    """A format does not support the columns of a read or write."""


class SchemaChangedError(SchemaError):
    """A message does not fit the columns of a query that follows the schema of its messages."""


class MessageError(MillraceError):
    """A message could not be decoded, or a row could not be encoded."""


class MalformedMessageError(MessageError):
    """The bytes of a message are not what its format and the columns of the read allow.

    Args:
        reason: Why, without the field.
        path: The path of the field that is wrong, such as ``address.lines[2]``; empty for the whole message.
    """

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.path = path

    def within(self, step: str) -> MalformedMessageError:
        """Prepend a step to the path, and return the error."""
        joint = "." if step and self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{joint}{self.path}"
        return self

    def __str__(self) -> str:
        return f"field {self.path}: {self.reason}" if self.path else self.reason


class MissingValueError(MalformedMessageError):
    """A NULL in a NOT NULL column; an error even where a format's option ignores parse errors."""

    def __init__(self, path: str) -> None:
        super().__init__("NULL in a NOT NULL column", path)


class TableFailedError(MessageError):
    """A row does not fit its table in the sink of a pipeline.

    Args:
        table: The id of the table.
        reason: Why, and what to do.
    """

    def __init__(self, table: str, reason: str) -> None:
        super().__init__(table, reason)
        self.failed_table = table
        self.reason = reason

    @classmethod
    def table_in(cls, failure: BaseException) -> str | None:
        """Return the id of the table that such an error of a Python worker names; None for another failure of Spark."""
        _, start, rest = (cls.message_in(failure) or "").partition(_TABLE)
        table, end, _ = rest.partition(_OF_SINK)
        return table if start and end else None

    def __str__(self) -> str:
        return f"{_TABLE}{self.failed_table}{_OF_SINK}{self.reason}"


_TABLE, _OF_SINK = "table '", "' of the sink: "


class SchemaMismatchError(MessageError):
    """A message is well-formed, but the columns must change before it is read; ends a read, whatever it tolerates.

    Only the decoder of a format that follows the schema of its messages raises it.

    Args:
        index: The message's index in the batch.
        reason: What it has that the columns lack, in words for a person.
    """

    def __init__(self, index: int, reason: str) -> None:
        super().__init__(index, reason)
        self.index = index
        self.reason = reason


class ClientError(MillraceError):
    """Kafka refused a request, or could not be reached."""


class UnreachableError(ClientError):
    """No bootstrap server answered in time.

    Args:
        message: What happened, and what to do.
        advertised: The ids of brokers by the addresses that they advertise and at which none answered, if these are
            the cause: a bootstrap server has answered then.
    """

    is_transient = True

    def __init__(self, message: str, advertised: Mapping[str, int] | None = None) -> None:
        super().__init__(message)
        self.advertised = dict(advertised or {})


class UnknownTopicError(ClientError):
    """A topic does not exist, or this client may not see it."""


class DataLossError(ClientError):
    """Offsets that were asked for are no longer in the log."""


class GroupInUseError(ClientError):
    """A consumer group is used by other consumers, or by another query."""


class DeliveryError(ClientError):
    """Records were not acknowledged by the brokers."""


class FencedError(ClientError):
    """A transactional producer was replaced, by a newer attempt or another query, or its transaction took too long."""


class LedgerError(ClientError):
    """millrace cannot tell whether a micro-batch is already written, or it is written with other rows."""


class StateError(MillraceError):
    """The durable state of a table cannot be read or written, or is missing."""


class RegistryError(MillraceError):
    """A schema registry refused a request, or could not be reached."""


class MachineError(MillraceError):
    """Something that is needed is missing on the machine, such as Java or an extra's library."""
