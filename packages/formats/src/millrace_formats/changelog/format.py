"""Base class of the formats of changes in JSON."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import pyarrow as pa

from millrace.contracts import ChangelogFormat, Decoder, Encoder
from millrace_formats.changelog.decoder import ChangeDecoder
from millrace_formats.changelog.dialect import Dialect
from millrace_formats.changelog.encoder import ChangeEncoder
from millrace_formats.changelog.metadata import MetadataKey
from millrace_formats.changelog.options import ChangeOptions
from millrace_formats.shared.sql_types import check_schema, nested_problem


class ChangelogJsonFormat(ChangelogFormat):
    """A format of changes in JSON, with the types and conversions of json."""

    Options = ChangeOptions
    options: ChangeOptions

    name: ClassVar[str]
    keys: ClassVar[Mapping[str, MetadataKey]]

    @property
    @abstractmethod
    def dialect(self) -> Dialect:
        """The layout of its messages, and the options of reading them."""

    @property
    def upserts(self) -> bool:
        """True where an update without its old row is its new row alone: see `ChangelogFormat.upserts`."""
        return self.options.updates_without_old_row == "upsert"

    def metadata(self) -> Mapping[str, pa.DataType]:
        """Return the types of the metadata that messages have beside their rows."""
        return {name: key.reader.type for name, key in self.keys.items()}

    def decoder(self, schema: pa.Schema, metadata: Sequence[str] = ()) -> Decoder:
        """Make a decoder to rows of ``schema`` with row kinds; SchemaError when a column's type is not supported."""
        check_schema(self.name, schema, nested_problem)
        return ChangeDecoder.of(schema, {key: self.keys[key] for key in metadata}, self.dialect, self.options.json)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Make an encoder of rows of ``schema``; SchemaError when a column's type is not supported."""
        check_schema(self.name, schema, nested_problem)
        return ChangeEncoder(schema, self.dialect.layout, self.options.json)
