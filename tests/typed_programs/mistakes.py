"""Mistakes in options that a type checker finds: each is refused, or its comment would be an error."""

from __future__ import annotations

from millrace.typed_options import JsonSinkOptions, JsonSourceOptions

UNKNOWN: JsonSourceOptions = {"topik": "orders"}  # pyright: ignore[reportAssignmentType]
OF_ANOTHER_FORMAT: JsonSourceOptions = {"csv.field-delimiter": ";"}  # pyright: ignore[reportAssignmentType]
OF_THE_SINK: JsonSourceOptions = {"sink.partitioner": "fixed"}  # pyright: ignore[reportAssignmentType]
NO_CHOICE: JsonSinkOptions = {"sink.delivery-guarantee": "exactly_once"}  # pyright: ignore[reportAssignmentType]
NO_NUMBER: JsonSourceOptions = {"scan.max-records-per-batch": 1.5}  # pyright: ignore[reportAssignmentType]
