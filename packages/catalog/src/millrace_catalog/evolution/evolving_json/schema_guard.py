"""Telling which messages do not fit the columns: most at once, those in doubt by the rules that make the columns."""

from __future__ import annotations

from collections.abc import Sequence

from millrace.errors import MalformedMessageError, SchemaMismatchError
from millrace_catalog.evolution.evolving_json.fit_prefilter import FastFit
from millrace_catalog.evolution.schema_diff import Needs
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.options import JsonSchemaOptions
from millrace_catalog.inference.sampled import all_options
from millrace_catalog.types import NULL, Schema

_MOST_NULLS = 1_000


class Watch:
    """Watches the messages of a query.

    Args:
        columns: The columns that it has, by the names of their fields.
        options: How they are inferred.
    """

    def __init__(self, columns: Schema, options: JsonSchemaOptions) -> None:
        self._columns = columns.types
        self._options = options
        self._reader = JsonReader("", all_options(options))
        self._needs = Needs(self._columns)
        self._nulls: set[str] = set()
        self._fast = FastFit(self._columns, options)

    def check(self, items: Sequence[bytes | None]) -> None:
        """Return when all messages fit; malformed ones do, since there is nothing in them that columns could hold.

        Raises:
            SchemaMismatchError: One does not.
        """
        before = len(self._nulls)
        for index in self._fast.doubtful(items):
            self._check_one(index, items[index])
        if len(self._nulls) > before:
            self._fast = FastFit(self._columns, self._options, self._nulls)

    def is_object(self, payload: bytes) -> bool:
        """Whether a payload is a JSON object."""
        try:
            return self._reader.read(payload) is not None
        except MalformedMessageError:
            return False

    def _check_one(self, index: int, item: bytes | None) -> None:
        try:
            said = self._reader.read(item)
        except MalformedMessageError:
            return
        if said is None:
            return
        needed = self._needs.of(said.columns)
        if needed is not None:
            raise SchemaMismatchError(index, str(needed))
        if len(self._nulls) < _MOST_NULLS:
            # A field that is always null must not put all messages in doubt
            self._nulls |= {name for name, type_ in said.columns.items() if type_ == NULL} - self._columns.keys()
