"""Check that messages fit the columns: most by a fast prefilter, the others by the rules of schema evolution."""

from __future__ import annotations

from collections.abc import Sequence

from millrace.errors import MalformedMessageError, SchemaMismatchError
from millrace.row_arrays import rows_in
from millrace_catalog.evolution.evolving_json.fit_prefilter import FitPrefilter
from millrace_catalog.evolution.schema_diff import SchemaDiff
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.options import JsonSchemaOptions
from millrace_catalog.inference.topic_inference import to_inference_options
from millrace_catalog.types import NULL, Schema

_MAX_NULL_FIELDS = 1_000


class SchemaGuard:
    """Check the messages of a query against its columns.

    Args:
        columns: Columns of the query, named as the fields of messages.
        options: Options by which columns are inferred.
    """

    def __init__(self, columns: Schema, options: JsonSchemaOptions) -> None:
        self._columns = columns.types
        self._options = options
        self._reader = JsonReader("", to_inference_options(options))
        self._diff = SchemaDiff(self._columns)
        self._null_fields: set[str] = set()
        self._prefilter = FitPrefilter(self._columns, options)

    def check(self, items: Sequence[bytes | None]) -> None:
        """Check a batch of messages. Malformed ones fit, since they hold nothing that columns could.

        Raises:
            SchemaMismatchError: A message does not fit.
        """
        before = len(self._null_fields)
        for index in self._prefilter.uncertain(items):
            for row in rows_in(items[index]):
                self._check_one(index, row)
        if len(self._null_fields) > before:
            self._prefilter = FitPrefilter(self._columns, self._options, self._null_fields)

    def is_object(self, payload: bytes) -> bool:
        """Return whether a payload is a JSON object."""
        try:
            return self._reader.read(payload) is not None
        except MalformedMessageError:
            return False

    def _check_one(self, index: int, item: bytes | None) -> None:
        try:
            observation = self._reader.read(item)
        except MalformedMessageError:
            return
        if observation is None:
            return
        required = self._diff.required_by(observation.columns)
        if required is not None:
            raise SchemaMismatchError(index, str(required))
        if len(self._null_fields) < _MAX_NULL_FIELDS:
            # A field that is always null must not make every message uncertain
            nulls = {name for name, type_ in observation.columns.items() if type_ == NULL}
            self._null_fields |= nulls - self._columns.keys()
