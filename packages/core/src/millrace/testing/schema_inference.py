"""The conformance suite for schema inferences."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

import pyarrow as pa

from millrace.contracts import SampledMessage, SchemaInference
from millrace.errors import MessageError, SchemaError
from millrace.testing.plugin_options import PluginOptionsSuite
from millrace.testing.refusals import must_refuse

_MANY = 1_000


class SchemaInferenceSuite(PluginOptionsSuite):
    """Tests that a schema inference keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override three methods::

        class TestXmlColumns(SchemaInferenceSuite):
            def make_inference(self):
                return XmlColumns()

            def messages(self):
                return [b"<a><b>1</b></a>", b"<a><c>x</c></a>"]

            def malformed(self):
                return b"<a>"

    The right types are for tests of your own.

    Rules that the tests check:

    - Each column has a name of its own and may be NULL, since the next message may lack it.
    - Types do not depend on the order of messages, nor on how they are divided into topics. No messages, and
      tombstones, say nothing: without any other the schema is empty.
    - A malformed message is a MessageError that names its topic; with ``skip_malformed`` it counts as if it were not
      there.
    - More columns than ``max_columns``, fields within columns included, are a SchemaError that names the topic.
    """

    @abstractmethod
    def make_inference(self) -> SchemaInference:
        """Make a new schema inference, for which a malformed message is an error."""

    @abstractmethod
    def messages(self) -> Sequence[bytes]:
        """Return the values of two messages or more, not all with the same columns."""

    @abstractmethod
    def malformed(self) -> bytes:
        """Return a value that is malformed in the format."""

    def make_plugin(self) -> SchemaInference:
        """Make the schema inference for the tests of its options."""
        return self.make_inference()

    def infer(self, payloads: Iterable[bytes | None], max_columns: int = _MANY, *, skip: bool = False) -> pa.Schema:
        """Infer the columns of some messages of topic ``orders``."""
        return self.make_inference().infer({"orders": sampled(payloads)}, max_columns, skip_malformed=skip)

    def types(self, schema: pa.Schema) -> dict[str, pa.DataType]:
        """Return the types of a schema's columns."""
        return {field.name: field.type for field in schema}

    def test_is_a_schema_inference(self) -> None:
        assert isinstance(self.make_inference(), SchemaInference), "subclass millrace.contracts.SchemaInference"

    def test_messages_have_columns(self) -> None:
        names = self.infer(self.messages()).names
        assert names, "messages that `messages` gives must have columns"
        assert len(set(names)) == len(names), "each column must have a name of its own"

    def test_columns_may_be_null(self) -> None:
        assert all(field.nullable for field in self.infer(self.messages())), "the next message may lack it"

    def test_no_messages_have_no_columns(self) -> None:
        assert self.infer([]).names == [], "no messages must give the empty schema"

    def test_messages_without_a_value_say_nothing(self) -> None:
        assert self.infer([None]).names == [], "a message without a value must give no column"
        assert self.infer([None, *self.messages()]) == self.infer(self.messages()), (
            "a message without a value must change no column"
        )

    def test_types_do_not_depend_on_the_order_of_messages(self) -> None:
        messages = list(self.messages())
        assert self.types(self.infer(messages)) == self.types(self.infer(reversed(messages))), (
            "a column must get the type that holds all its values, in whatever order messages come"
        )

    def test_columns_of_several_topics_hold_the_messages_of_all(self) -> None:
        first, *others = self.messages()
        topics = {"orders": sampled([first]), "audit": sampled(others), "empty": sampled([None])}
        assert self.types(self.make_inference().infer(topics, _MANY)) == self.types(self.infer(self.messages())), (
            "the columns of several topics must be those of one topic with all their messages"
        )
        assert self.make_inference().infer({}, _MANY).names == [], (
            "without topics there are the columns of the options alone"
        )

    def test_a_malformed_message_is_told_with_its_topic(self) -> None:
        with must_refuse(MessageError, "orders", "a malformed message must be reported with its topic"):
            self.infer([*self.messages(), self.malformed()])

    def test_malformed_messages_can_be_skipped(self) -> None:
        assert self.infer([*self.messages(), self.malformed()], skip=True) == self.infer(self.messages()), (
            "with skip_malformed, a malformed message must change no column"
        )

    def test_too_many_columns_are_refused(self) -> None:
        with must_refuse(SchemaError, "orders", "more columns than max_columns must be refused with their topic"):
            self.infer(self.messages(), max_columns=1)

    def test_a_remade_one_infers_the_same(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, SchemaInference), "the class and its options make the inference"
        assert remade.infer({"orders": sampled(self.messages())}, _MANY) == self.infer(self.messages()), (
            "an inference of the same options must find the same columns"
        )


def sampled(payloads: Iterable[bytes | None]) -> list[SampledMessage]:
    """Messages of one partition."""
    return [SampledMessage(0, offset, None, payload) for offset, payload in enumerate(payloads)]
