"""The conformance suite for formats."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import pyarrow as pa

from millrace.contracts import ROW_KINDS, Decoded, Decoder, Format, Payloads
from millrace.testing.plugin_options import PluginOptionsSuite


class FormatSuite(PluginOptionsSuite):
    r"""Tests that a format keeps its contract.

    Subclass it in a test module, with a name that pytest collects, and override `make_format`, `schema` and `rows`;
    override `bad` too, so that the tests can put payloads that are errors between others::

        class TestShout(FormatSuite):
            bad = (b"\xff",)

            def make_format(self):
                return ShoutFormat()

            def schema(self):
                return pa.schema([("text", pa.string())])

            def rows(self):
                return pa.record_batch([["A", "B", None]], schema=self.schema())

    The rows of single payloads, and the payloads of single rows, are for tests of your own.

    Rules that the tests check:

    - A decoder gives rows of exactly its schema: the names, types, order and NOT NULL of the columns, also of no rows.
    - Rows are read as they were written. A payload depends on its row alone, and rows on their payload alone: not on
      others of the batch, nor on those of earlier batches.
    - ``message_index`` (int32, never decreasing) says for each row which message it is of; None only where each
      message gave one row. ``errors`` are by ascending index, one a message, with a reason, and such a message has no
      rows.
    - No bytes raise. What cannot be read is an error, and shifts no other row.
    - A null payload, which is a tombstone, and an empty one give no row and are no error, unless `null_gives_a_row`,
      `empty_gives_a_row` or `bad` says otherwise.
    - Insertions (``+I``) are written as rows without row kinds are.
    - Payloads come as lists or as Arrow arrays, and are left as they were.
    """

    bad: ClassVar[Sequence[bytes]] = ()
    """Payloads that are errors."""

    null_gives_a_row: ClassVar[bool] = False
    """True when a null payload gives a row, as for a format whose one column can be NULL."""

    empty_gives_a_row: ClassVar[bool] = False
    """True when an empty payload gives a row; if it is an error, list it in `bad`."""

    @abstractmethod
    def make_format(self) -> Format:
        """Make a new format."""

    @abstractmethod
    def schema(self) -> pa.Schema:
        """Return columns that the format supports."""

    @abstractmethod
    def rows(self) -> pa.RecordBatch:
        """Return rows of `schema`, at least two, that are read as they are written."""

    def make_plugin(self) -> Format:
        """Make the format for the tests of its options."""
        return self.make_format()

    def test_is_a_format(self) -> None:
        assert isinstance(self.make_format(), Format), "subclass millrace.contracts.Format"

    def test_default_schema_can_be_decoded(self) -> None:
        schema = self.make_format().default_schema()
        if schema is not None:
            decoded = self.make_format().decoder(schema).decode(Payloads([]))
            check_decoded(decoded, schema, 0)

    def test_rows_are_read_as_they_are_written(self) -> None:
        decoded = self._decode(self._payloads())
        assert not decoded.errors, "what the encoder has written must be read without errors"
        assert decoded.rows.to_pylist() == self.rows().to_pylist(), "rows must be read as they were written"
        assert indexes(decoded) == list(range(self.rows().num_rows)), "each payload must give its row, in order"

    def test_each_row_is_a_payload(self) -> None:
        rows, encoder = self.rows(), self.make_format().encoder(self.schema())
        alone = [list(encoder.encode(rows.slice(index, 1)).to_list()) for index in range(rows.num_rows)]
        assert alone == [[payload] for payload in self._payloads()], (
            "a row must be written alone, and in a slice of a batch, as among others: one payload a row"
        )

    def test_insertions_are_written_with_row_kinds_too(self) -> None:
        kinds = pa.array(["+I"] * self.rows().num_rows, pa.string())
        encoded = self.make_format().encoder(self.schema()).encode(self.rows(), kinds)
        assert list(encoded.to_list()) == self._payloads(), "row kinds that are all +I must change nothing"

    def test_no_rows(self) -> None:
        encoded = self.make_format().encoder(self.schema()).encode(self.rows().slice(0, 0))
        assert list(encoded.to_list()) == [], "no rows must give no payloads"

    def test_no_messages(self) -> None:
        assert self._decode([]).rows.num_rows == 0, "no messages must give no rows, of the decoder's schema"

    def test_null_payloads(self) -> None:
        self._check_between_others(None, gives_a_row=self.null_gives_a_row)

    def test_empty_payloads(self) -> None:
        if b"" in self.bad:
            return
        self._check_between_others(b"", gives_a_row=self.empty_gives_a_row)

    def test_bad_payloads_are_errors_and_shift_no_row(self) -> None:
        good = self._payloads()
        for bad in self.bad:
            for place in range(len(good) + 1):
                decoded = self._decode([*good[:place], bad, *good[place:]])
                assert [error.index for error in decoded.errors] == [place], f"expected an error for {bad!r}"
                assert decoded.rows.to_pylist() == self.rows().to_pylist(), f"{bad!r} must change no other row"
                assert indexes(decoded) == [index for index in range(len(good) + 1) if index != place], (
                    f"message_index must leave out {bad!r}, an error, and keep each other row with its message"
                )

    def test_many_bad_payloads(self) -> None:
        good = self._payloads()
        messages = [*good, *self.bad] * 50
        decoded = self._decode(messages)
        period = len(good) + len(self.bad)
        assert [error.index for error in decoded.errors] == [
            index for index in range(len(messages)) if index % period >= len(good)
        ], "each payload of `bad` must be an error wherever it is in a batch, and no other one"
        assert decoded.rows.to_pylist() == self.rows().to_pylist() * 50, "errors must change no other row"

    def test_garbage_never_raises(self) -> None:
        for messages in garbage(self._payloads()):
            self._decode(messages)

    def test_garbage_changes_no_other_row(self) -> None:
        good = self._payloads()
        for messages in garbage(good):
            mixed = [*good, *messages, *good]
            decoded = self._decode(mixed)
            own = dict(zip(indexes(decoded), decoded.rows.to_pylist(), strict=True))
            first = [own.get(index) for index in range(len(good))]
            last = [own.get(index) for index in range(len(mixed) - len(good), len(mixed))]
            assert first == last == self.rows().to_pylist(), (
                "payloads that are not the format's must change no other row"
            )

    def test_both_forms_of_payloads_give_the_same_rows(self) -> None:
        messages: list[bytes | None] = [*self._payloads(), None, b"", *self.bad]
        decoder = self.make_format().decoder(self.schema())
        as_list, as_array = (
            decoder.decode(Payloads(messages)),
            decoder.decode(Payloads(pa.array(messages, pa.binary()))),
        )
        assert as_list.rows.to_pylist() == as_array.rows.to_pylist(), (
            "payloads that come as a list and as an Arrow array must give the same rows"
        )
        assert as_list.errors == as_array.errors, "payloads that come as a list and as an Arrow array must fail alike"

    def test_payloads_are_left_as_they_were(self) -> None:
        messages = [*self._payloads(), None, b"", *self.bad]
        original = list(messages)
        self._decode(messages)
        assert messages == original, "payloads belong to the caller: change a copy"

    def test_decoder_keeps_nothing_from_batch_to_batch(self) -> None:
        decoder = self.make_format().decoder(self.schema())
        expected = self._decode(self._payloads(), decoder).rows
        for messages in garbage(self._payloads()):
            self._decode(messages, decoder)
        assert self._decode(self._payloads(), decoder).rows.to_pylist() == expected.to_pylist(), (
            "a decoder must read a batch as if it were its first: payloads of earlier ones must leave nothing behind"
        )

    def test_an_executor_reads_and_writes_the_same(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, Format), "an executor makes the format of its class and its options"
        encoded = list(remade.encoder(self.schema()).encode(self.rows()).to_list())
        assert encoded == self._payloads(), "a format made of pickled options must write the same payloads"
        assert self._decode(encoded, remade.decoder(self.schema())).rows.to_pylist() == self.rows().to_pylist(), (
            "a format made of pickled options must read the same rows"
        )

    def _payloads(self) -> list[bytes | None]:
        return list(self.make_format().encoder(self.schema()).encode(self.rows()).to_list())

    def _decode(self, messages: Sequence[bytes | None], decoder: Decoder | None = None) -> Decoded:
        decoder = self.make_format().decoder(self.schema()) if decoder is None else decoder
        decoded = decoder.decode(Payloads(messages))
        check_decoded(decoded, self.schema(), len(messages))
        return decoded

    def _check_between_others(self, payload: bytes | None, gives_a_row: bool) -> None:
        good, rows = self._payloads(), self.rows().to_pylist()
        for place in range(len(good) + 1):
            decoded = self._decode([*good[:place], payload, *good[place:]])
            assert not decoded.errors, f"{payload!r} must be no error; if an empty one is, list b'' in `bad`"
            decoded_rows = decoded.rows.to_pylist()
            expected = [index for index in range(len(good) + 1) if gives_a_row or index != place]
            assert indexes(decoded) == expected, (
                f"{payload!r} must give {'one row' if gives_a_row else 'no row'}, in its place, as "
                f"null_gives_a_row and "
                f"empty_gives_a_row say; message_index holds the messages of the other rows"
            )
            if gives_a_row:
                del decoded_rows[place]
            assert decoded_rows == rows, f"{payload!r} must change no other row"


def check_decoded(decoded: Decoded, schema: pa.Schema, message_count: int) -> None:
    """Check the form of what a decoder answered for a batch of ``message_count`` messages."""
    assert decoded.rows.schema.equals(schema, check_metadata=True), f"expected the schema {schema}"
    decoded.rows.validate(full=True)
    of_rows = indexes(decoded)
    assert len(of_rows) == decoded.rows.num_rows, "message_index must have an entry for each row"
    assert of_rows == sorted(of_rows), "message_index must never decrease"
    assert all(0 <= index < message_count for index in of_rows), "message_index counts the messages of the batch from 0"
    if decoded.message_index is None:
        assert decoded.rows.num_rows == message_count, "without message_index each message gives one row"
    else:
        assert decoded.message_index.type == pa.int32(), (
            f"message_index must be int32, not {decoded.message_index.type}"
        )
    of_errors = [error.index for error in decoded.errors]
    assert of_errors == sorted(set(of_errors)), "errors must be in order, one a message"
    assert all(0 <= index < message_count for index in of_errors), "errors count the messages of the batch from 0"
    assert not set(of_errors) & set(of_rows), "a message is an error or has rows"
    assert all(error.reason for error in decoded.errors), "an error must have a reason"
    if decoded.row_kinds is not None:
        assert decoded.row_kinds.type == pa.string(), f"row_kinds must be strings, not {decoded.row_kinds.type}"
        assert len(decoded.row_kinds) == decoded.rows.num_rows, "row_kinds must have an entry for each row"
        assert set(decoded.row_kinds.to_pylist()) <= set(ROW_KINDS), f"row kinds are {', '.join(ROW_KINDS)}, never null"
    if decoded.metadata is not None:
        decoded.metadata.validate(full=True)
        assert decoded.metadata.num_rows == decoded.rows.num_rows, "metadata must have a row for each row"


def indexes(decoded: Decoded) -> list[int]:
    """For each row the index of its message."""
    if decoded.message_index is None:
        return list(range(decoded.rows.num_rows))
    message_index: list[int] = decoded.message_index.to_pylist()
    return message_index


def garbage(payloads: Sequence[bytes | None]) -> list[list[bytes]]:
    """Batches of bytes that no encoder has written: random ones, and damaged payloads."""
    chance = random.Random(20_260_101)  # noqa: S311 - the same garbage every time
    known = [payload for payload in payloads if payload]
    batches = [
        [bytes([value]) for value in range(256)],
        [chance.randbytes(chance.randrange(1, 60)) for _ in range(200)],
        [b"[" * 100_000, b"{" * 100_000, b'{"a":' * 100_000, b'"' * 99_999, b"\x00" * 10_000, b"," * 10_000],
    ]
    for payload in known:
        batches.append([payload[:cut] for cut in range(1, len(payload))])
        batches.append([_damaged(payload, chance) for _ in range(100)])
        batches.append([payload + other for other in known] + [payload + b"\n" + other for other in known])
    return batches


def _damaged(payload: bytes, chance: random.Random) -> bytes:
    data = bytearray(payload)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(data))
        data[place : place + chance.randrange(2)] = chance.choice([b'"', b"\n", b"\x00", b"\xff", b",", b"-", b"9"])
    return bytes(data)
