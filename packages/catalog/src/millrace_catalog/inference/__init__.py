"""Schema inference, and the readers of changes for pipelines: message bytes in, tables and rows out, without Kafka."""

from millrace_catalog.inference.canal_reader import CanalReader
from millrace_catalog.inference.debezium_reader import DebeziumReader
from millrace_catalog.inference.json_reader import JsonReader
from millrace_catalog.inference.key_inference import InferredKey, KeyInference
from millrace_catalog.inference.maxwell_reader import MaxwellReader
from millrace_catalog.inference.observation import MessageReader, Observation, Position
from millrace_catalog.inference.ogg_reader import OggReader
from millrace_catalog.inference.options import (
    CanalInferenceOptions,
    DebeziumInferenceOptions,
    EvolutionOptions,
    FormatOptions,
    InferenceOptions,
    JsonInferenceOptions,
    JsonSchemaOptions,
)
from millrace_catalog.inference.result import Evidence, InferenceResult, InferredColumn, InferredTable, SkippedMessage
from millrace_catalog.inference.topic_inference import TopicInference

__all__ = [
    "CanalInferenceOptions",
    "CanalReader",
    "DebeziumInferenceOptions",
    "DebeziumReader",
    "Evidence",
    "EvolutionOptions",
    "FormatOptions",
    "InferenceOptions",
    "InferenceResult",
    "InferredColumn",
    "InferredKey",
    "InferredTable",
    "JsonInferenceOptions",
    "JsonReader",
    "JsonSchemaOptions",
    "KeyInference",
    "MaxwellReader",
    "MessageReader",
    "Observation",
    "OggReader",
    "Position",
    "SkippedMessage",
    "TopicInference",
]
