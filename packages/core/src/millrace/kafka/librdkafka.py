"""Functions of librdkafka that confluent-kafka does not offer, in the library that it brings.

They are described in librdkafka's rdkafka.h.
"""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p
from functools import cache
from typing import Any

from confluent_kafka import cimpl

PRODUCER = 0
CONFIGURATION_OK = 0
ERROR_TEXT_BYTES = 512

COPY_PAYLOADS = 0x2
PARTITION_OF_EACH_MESSAGE = 0x8
PARTITION_UNASSIGNED = -1

DELIVERY_REPORTS = 0x1
LOG_LINE = 0x4
ERROR = 0x8
STATISTICS = 0x40


class MessageStruct(Structure):
    """``rd_kafka_message_t``."""

    _fields_ = (
        ("err", c_int),
        ("rkt", c_void_p),
        ("partition", c_int32),
        ("payload", c_void_p),
        ("len", c_size_t),
        ("key", c_void_p),
        ("key_len", c_size_t),
        ("offset", c_int64),
        ("private", c_void_p),
    )


class PartitionStruct(Structure):
    """``rd_kafka_metadata_partition_t``."""

    _fields_ = (
        ("id", c_int32),
        ("err", c_int),
        ("leader", c_int32),
        ("replica_cnt", c_int),
        ("replicas", POINTER(c_int32)),
        ("isr_cnt", c_int),
        ("isrs", POINTER(c_int32)),
    )


class TopicStruct(Structure):
    """``rd_kafka_metadata_topic_t``."""

    _fields_ = (
        ("topic", c_char_p),
        ("partition_cnt", c_int),
        ("partitions", POINTER(PartitionStruct)),
        ("err", c_int),
    )


class MetadataStruct(Structure):
    """``rd_kafka_metadata_t``."""

    _fields_ = (
        ("broker_cnt", c_int),
        ("brokers", c_void_p),
        ("topic_cnt", c_int),
        ("topics", POINTER(TopicStruct)),
        ("orig_broker_id", c_int32),
        ("orig_broker_name", c_char_p),
    )


_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "rd_kafka_conf_destroy": (None, (c_void_p,)),
    "rd_kafka_conf_new": (c_void_p, ()),
    "rd_kafka_conf_set": (c_int, (c_void_p, c_char_p, c_char_p, c_char_p, c_size_t)),
    "rd_kafka_conf_set_events": (None, (c_void_p, c_int)),
    "rd_kafka_destroy": (None, (c_void_p,)),
    "rd_kafka_event_destroy": (None, (c_void_p,)),
    "rd_kafka_event_error": (c_int, (c_void_p,)),
    "rd_kafka_event_error_string": (c_char_p, (c_void_p,)),
    "rd_kafka_event_log": (c_int, (c_void_p, POINTER(c_char_p), POINTER(c_char_p), POINTER(c_int))),
    "rd_kafka_event_message_next": (POINTER(MessageStruct), (c_void_p,)),
    "rd_kafka_event_stats": (c_char_p, (c_void_p,)),
    "rd_kafka_event_type": (c_int, (c_void_p,)),
    "rd_kafka_fatal_error": (c_int, (c_void_p, c_char_p, c_size_t)),
    "rd_kafka_flush": (c_int, (c_void_p, c_int)),
    "rd_kafka_last_error": (c_int, ()),
    "rd_kafka_metadata": (c_int, (c_void_p, c_int, c_void_p, POINTER(POINTER(MetadataStruct)), c_int)),
    "rd_kafka_metadata_destroy": (None, (POINTER(MetadataStruct),)),
    "rd_kafka_name": (c_char_p, (c_void_p,)),
    "rd_kafka_new": (c_void_p, (c_int, c_void_p, c_char_p, c_size_t)),
    "rd_kafka_outq_len": (c_int, (c_void_p,)),
    "rd_kafka_produce_batch": (c_int, (c_void_p, c_int32, c_int, c_void_p, c_int)),
    "rd_kafka_queue_destroy": (None, (c_void_p,)),
    "rd_kafka_queue_get_main": (c_void_p, (c_void_p,)),
    "rd_kafka_queue_poll": (c_void_p, (c_void_p, c_int)),
    "rd_kafka_set_log_queue": (c_int, (c_void_p, c_void_p)),
    "rd_kafka_topic_destroy": (None, (c_void_p,)),
    "rd_kafka_topic_name": (c_char_p, (c_void_p,)),
    "rd_kafka_topic_new": (c_void_p, (c_void_p, c_char_p, c_void_p)),
}


@cache
def load_library() -> ctypes.CDLL | None:
    """Load the library that confluent-kafka is linked to; None where its functions cannot be called from here."""
    try:
        # A name is looked up in all libraries that the extension module is linked to
        library = ctypes.CDLL(cimpl.__file__)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError):
        return None
    return library
