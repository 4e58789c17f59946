"""The conformance suite for formats of changes."""
# ruff: noqa: D102, S101 - tests are made of assertions, and their names say what the contract asks

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pyarrow as pa

from millrace.contracts import ROW_KINDS, ChangelogFormat, Decoded, Payloads
from millrace.errors import MessageError
from millrace.testing.format import FormatSuite, check_decoded, indexes
from millrace.testing.refusals import must_refuse


class ChangelogFormatSuite(FormatSuite):
    r"""Tests that a format of changes keeps its contract: all of `FormatSuite`, and row kinds and metadata.

    Override `changes` too, so that the tests can put messages with several rows, and with metadata, between others::

        class TestDiary(ChangelogFormatSuite):
            bad = (b"\xff",)
            changes = (b"changed A to B at 12:00",)
            kinds_read = {"-U": "-D", "+U": "+I"}

            def make_format(self):
                return DiaryFormat()

            def schema(self):
                return pa.schema([("text", pa.string())])

            def rows(self):
                return pa.record_batch([["A", "B"]], schema=self.schema())

    Rules that the tests check, beside those of `FormatSuite`:

    - A row of any kind can be written, alone and among others, and is read with that kind, or the one of
      `kinds_read`; other kinds, and null, raise a MessageError that names the row by its index.
    - The rows of a message are beside each other, in the order in which they must be applied, and share its index.
    - ``metadata()`` gives Arrow types by key, the same on driver and executors. A decoder that is asked for keys, in
      any order, gives a column for each in ``Decoded.metadata``, and a value for each row; that changes no row.
    """

    changes: ClassVar[Sequence[bytes]] = ()
    """Payloads that can be read by `schema` and give two rows or more each."""

    kinds_read: ClassVar[Mapping[str, str]] = {}
    """The row kinds that are read as others than they were written, such as the halves of an update."""

    @abstractmethod
    def make_format(self) -> ChangelogFormat:
        """Make a new format."""

    def test_is_a_changelog_format(self) -> None:
        assert isinstance(self.make_format(), ChangelogFormat), "subclass millrace.contracts.ChangelogFormat"

    def test_metadata_is_named_and_typed(self) -> None:
        for key, kind in self.make_format().metadata().items():
            assert key, "a key of metadata is a text, which queries name after value."
            assert isinstance(kind, pa.DataType), f"{key} must have an Arrow type"

    def test_insertions_are_read_as_insertions(self) -> None:
        assert row_kinds(self._decode(self._payloads())) == ["+I"] * self.rows().num_rows, (
            "rows that are written without row kinds must be read as insertions, +I"
        )

    def test_row_kinds_are_read_as_they_are_written(self) -> None:
        for kind in ROW_KINDS:
            self._check_kinds([kind] * self.rows().num_rows)

    def test_row_kinds_stay_with_their_rows(self) -> None:
        count = self.rows().num_rows
        for start in range(len(ROW_KINDS)):
            self._check_kinds([ROW_KINDS[(start + row) % len(ROW_KINDS)] for row in range(count)])
        for place in range(count):
            self._check_kinds(["-D" if row == place else "+I" for row in range(count)])

    def test_row_kinds_that_are_none_are_refused(self) -> None:
        encoder, count = self.make_format().encoder(self.schema()), self.rows().num_rows
        for wrong in ("I", "", None):
            rule = f"a row of kind {wrong!r}, number {count - 1} of the batch, must be refused"
            with must_refuse(MessageError, str(count - 1), rule):
                encoder.encode(self.rows(), pa.array(["+I"] * (count - 1) + [wrong], pa.string()))

    def test_messages_with_several_rows_shift_no_other(self) -> None:
        good = self._payloads()
        for change in self.changes:
            alone = self._facts([change])
            assert len(alone) > 1, f"expected several rows of {change!r}"
            for place in range(len(good) + 1):
                decoded = self._decode([*good[:place], change, None, *self.bad, *good[place:]])
                behind = place + 2 + len(self.bad)
                expected = [*range(place), *[place] * len(alone), *range(behind, behind + len(good) - place)]
                assert indexes(decoded) == expected, (
                    "message_index must repeat the index of a message with several rows"
                )
                rows = facts(decoded)
                assert rows[place : place + len(alone)] == alone, f"{change!r} must give the rows that it gives alone"
                assert rows[:place] + rows[place + len(alone) :] == self._facts(good), (
                    f"{change!r} must shift no other row"
                )

    def test_metadata_can_be_asked_for(self) -> None:
        messages = [*self._payloads(), None, *self.changes, *self.bad]
        expected, keys = self._facts(messages), list(self.make_format().metadata())
        for asked in ([], keys, keys[::-1], *([key] for key in keys)):
            decoded = self._decode_with(messages, asked)
            assert facts(decoded) == expected, f"metadata that is asked for ({asked}) must change no row"

    def test_metadata_is_of_the_types_that_the_format_says(self) -> None:
        types = self.make_format().metadata()
        if types:
            schema = self._metadata([*self._payloads(), *self.changes], list(types)).schema
            assert schema.types == list(types.values()), (
                "metadata must be of the types that `metadata()` says, in that order"
            )

    def test_metadata_stays_with_its_rows(self) -> None:
        messages = [*self.changes, *self._payloads(), None, *self.bad, *self.changes]
        keys = list(self.make_format().metadata())
        if keys:
            alone = [row for message in messages for row in self._metadata([message], keys).to_pylist()]
            assert self._metadata(messages, keys).to_pylist() == alone, (
                "the metadata of a row must be that of its message, whatever is before it in the batch"
            )

    def test_an_executor_tells_the_same(self) -> None:
        remade = self.remake_plugin()
        assert isinstance(remade, ChangelogFormat), "subclass millrace.contracts.ChangelogFormat"
        assert remade.metadata() == self.make_format().metadata(), "`metadata()` may depend on the options alone"

    def _check_kinds(self, kinds: list[str]) -> None:
        encoded = self.make_format().encoder(self.schema()).encode(self.rows(), pa.array(kinds, pa.string()))
        decoded = self._decode(encoded.to_list())
        assert not decoded.errors, f"rows of the kinds {kinds} must be read without errors as they were written"
        assert decoded.rows.to_pylist() == self.rows().to_pylist(), f"rows of the kinds {kinds} must be read as written"
        assert row_kinds(decoded) == [self.kinds_read.get(kind, kind) for kind in kinds], (
            "row kinds must be read as they were written; where the format cannot tell two apart, say so in "
            "`kinds_read`"
        )

    def _facts(self, messages: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        return facts(self._decode(messages))

    def _metadata(self, messages: Sequence[bytes | None], keys: list[str]) -> pa.RecordBatch:
        metadata = self._decode_with(messages, keys).metadata
        assert metadata is not None, "metadata was asked for"
        return metadata

    def _decode_with(self, messages: Sequence[bytes | None], keys: list[str]) -> Decoded:
        decoded = self.make_format().decoder(self.schema(), keys).decode(Payloads(messages))
        check_decoded(decoded, self.schema(), len(messages))
        if keys:
            assert decoded.metadata is not None, "metadata was asked for"
            assert decoded.metadata.num_columns == len(keys), (
                "expected a column of metadata for each key, in that order"
            )
        return decoded


def row_kinds(decoded: Decoded) -> list[str]:
    """The kind of each row."""
    if decoded.row_kinds is None:
        return ["+I"] * decoded.rows.num_rows
    kinds: list[str] = decoded.row_kinds.to_pylist()
    return kinds


def facts(decoded: Decoded) -> list[tuple[Any, ...]]:
    """For each row its kind and its values."""
    return list(zip(row_kinds(decoded), decoded.rows.to_pylist(), strict=True))
