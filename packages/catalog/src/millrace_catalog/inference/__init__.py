"""Schemas inferred from what messages hold: bytes in, tables with their evidence out. Nothing here knows of Kafka."""

from millrace_catalog.inference.canal_reader import CanalReader
from millrace_catalog.inference.debezium_reader import DebeziumReader
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.key_inference import InferredKey, KeyInference
from millrace_catalog.inference.observation import Observation, Position
from millrace_catalog.inference.options import (
    CanalInferenceOptions,
    DebeziumInferenceOptions,
    FormatOptions,
    InferenceOptions,
    JsonInferenceOptions,
    JsonSchemaOptions,
)
from millrace_catalog.inference.reader import PayloadReader
from millrace_catalog.inference.result import Evidence, Inferred, InferredColumn, InferredTable, Skipped
from millrace_catalog.inference.topic_inference import Inference

__all__ = [
    "CanalInferenceOptions",
    "CanalReader",
    "DebeziumInferenceOptions",
    "DebeziumReader",
    "Evidence",
    "FormatOptions",
    "Inference",
    "InferenceOptions",
    "Inferred",
    "InferredColumn",
    "InferredKey",
    "InferredTable",
    "JsonInferenceOptions",
    "JsonReader",
    "JsonSchemaOptions",
    "KeyInference",
    "Observation",
    "PayloadReader",
    "Position",
    "Skipped",
]
