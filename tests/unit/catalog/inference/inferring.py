"""Inferring from payloads in a test: one partition, offsets from 0 on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from millrace_catalog.inference import (
    InferenceOptions,
    InferenceResult,
    InferredTable,
    JsonInferenceOptions,
    JsonReader,
    MessageReader,
    Position,
    TopicInference,
)
from millrace_catalog.inference.options import parse_fixed_types


def infer_with(
    reader: MessageReader, payloads: Iterable[bytes | None], options: InferenceOptions | None = None
) -> InferenceResult:
    """Return the table that a reader infers from messages."""
    inference = TopicInference("orders", reader, options)
    for offset, payload in enumerate(payloads):
        inference.add(Position(0, offset), payload)
    return inference.result()


def infer(*texts: str, fixed: str = "", most: int = InferenceOptions.max_columns, **options: Any) -> InferredTable:
    """The table that json messages make, which are all of one table."""
    if fixed:
        options["fixed_types"] = parse_fixed_types(fixed)
    reader = JsonReader("orders", JsonInferenceOptions(**options))
    inferred = infer_with(reader, [text.encode() for text in texts], InferenceOptions(max_columns=most))
    (table,) = inferred.tables.values()
    return table
