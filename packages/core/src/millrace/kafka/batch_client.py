"""A Kafka producer that takes columns of records, without a Python object for each."""

from __future__ import annotations

import ctypes
import logging
import os
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from millrace.kafka import librdkafka
from millrace.kafka.librdkafka import ERROR_TEXT_BYTES, MessageStruct, MetadataStruct, load_library

_CALLBACKS = frozenset({"error_cb", "logger", "on_delivery", "stats_cb"})
_MECHANISMS = ("sasl.mechanism", "sasl.mechanisms")
_MESSAGE = np.dtype(MessageStruct)

_LOG_LEVELS = (logging.CRITICAL,) * 3 + (logging.ERROR, logging.WARNING, logging.INFO, logging.INFO, logging.DEBUG)
"""Python's levels of syslog's severities, which librdkafka uses."""


class UndeliveredMessage(NamedTuple):
    """A message whose delivery failed, with the methods of `confluent_kafka.Message` that tell what was sent where."""

    topic_name: str
    partition_number: int
    key_bytes: bytes | None = None
    value_bytes: bytes | None = None

    def topic(self) -> str:
        """Return its topic."""
        return self.topic_name

    def partition(self) -> int:
        """Return its partition; negative where none was chosen yet."""
        return self.partition_number

    def key(self) -> bytes | None:
        """Return its key, if it was too large."""
        return self.key_bytes

    def value(self) -> bytes | None:
        """Return its value, if it was too large."""
        return self.value_bytes


class MessageArray:
    """Records for one topic as librdkafka takes them: structs that point into Arrow's buffers.

    Args:
        values: The values, null for a tombstone.
        keys: The keys, null for a record without a key; None when no record has one.
        partitions: The partitions, int32, null where the client chooses; None when no record has its own.

    Attributes:
        structs: The structs.
        flags: The flags to produce them with.
        value_offsets: Arrow's offsets of the values, one more than there are values.
    """

    def __init__(
        self, values: pa.BinaryArray, keys: pa.BinaryArray | None = None, partitions: pa.Int32Array | None = None
    ) -> None:
        # The structs hold bare addresses
        self._buffers = values, keys
        self.value_offsets = _offsets(values)
        self.structs = np.zeros(len(values), _MESSAGE)
        self.flags = librdkafka.COPY_PAYLOADS
        self._point_to(values, "payload", "len")
        if keys is not None:
            self._point_to(keys, "key", "key_len")
        if partitions is not None:
            self.flags |= librdkafka.PARTITION_OF_EACH_MESSAGE
            self.structs["partition"] = partitions.fill_null(librdkafka.PARTITION_UNASSIGNED).to_numpy()

    def _point_to(self, payloads: pa.BinaryArray, address: str, size: str) -> None:
        if not len(payloads):
            return
        _, offsets, data = payloads.buffers()
        ends = _offsets(payloads).astype(np.uintp)
        # A payload without bytes has an address all the same: none is a null payload
        start = (data.address if data is not None else 0) or offsets.address
        self.structs[address] = ends[:-1] + np.uintp(start)
        self.structs[size] = np.diff(ends)
        if payloads.null_count:
            nulls = payloads.is_null().to_numpy(zero_copy_only=False)
            self.structs[address][nulls] = 0
            self.structs[size][nulls] = 0

    def __len__(self) -> int:
        return len(self.structs)


@dataclass(frozen=True, slots=True)
class TopicPartitions:
    """The partitions of a topic.

    Attributes:
        count: Their number.
        available: The numbers of those that have a leader, in order.
    """

    count: int
    available: tuple[int, ...]

    @classmethod
    def of(cls, leaders: Mapping[int, int]) -> TopicPartitions:
        """Return the partitions with these leaders by their numbers; the leader is -1 where there is none."""
        return cls(len(leaders), tuple(sorted(number for number, leader in leaders.items() if leader >= 0)))


class BatchClient:
    """A producer as `confluent_kafka.Producer`, except that it takes many records at once, without headers and times.

    It is a client of librdkafka of its own, since records that are handed over in this way to confluent-kafka's get no
    delivery reports.

    Args:
        settings: Those of `confluent_kafka.Producer`, such that `accepts` is true for them.

    Raises:
        KafkaException: A property is unknown or has an invalid value.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        library = load_library()
        if library is None:
            raise RuntimeError("confluent-kafka does not show the functions of its librdkafka: use its own Producer")
        self._library = library
        self._settings = settings
        self._topics: dict[str, int] = {}
        self._handle = _create(library, settings)
        self._queue = library.rd_kafka_queue_get_main(self._handle)
        library.rd_kafka_set_log_queue(self._handle, None)
        self._name = _text(library.rd_kafka_name(self._handle))
        finalizer = weakref.finalize(self, _destroy, library, self._handle, self._queue, self._topics, os.getpid())
        # At exit the operating system is quicker, and whoever waits for records has flushed them
        finalizer.atexit = False

    @staticmethod
    def accepts(settings: Mapping[str, Any]) -> bool:
        """Return whether this class can create a client with these settings.

        Tokens are refreshed by confluent-kafka's client alone, as is whatever else needs a callback.
        """
        values = [value for name, value in settings.items() if name not in _CALLBACKS]
        has_tokens = any(
            str(settings.get(name)).upper() == "OAUTHBEARER" for name in ("sasl.mechanism", "sasl.mechanisms")
        )
        return load_library() is not None and not has_tokens and not any(map(callable, values))

    def produce_batch(
        self, topic: str, messages: MessageArray, first: int = 0, stop: int | None = None, partition: int | None = None
    ) -> int:
        """Hand messages over, until the queue is full.

        Args:
            topic: Their topic.
            messages: The messages.
            first: The index of the first one to hand over.
            stop: The index after the last one; None for all.
            partition: Their partition, if they have none of their own; None to let the client choose.

        Returns:
            The index of the first one that the queue had no room for; ``stop`` if it had room for all.

        Raises:
            KafkaException: A message is refused.
        """
        run = messages.structs[first:stop]
        chosen = librdkafka.PARTITION_UNASSIGNED if partition is None else partition
        produced = self._library.rd_kafka_produce_batch(
            self._topic(topic), chosen, messages.flags, run.ctypes.data, len(run)
        )
        if produced == len(run):
            return first + len(run)
        errors = run["err"]
        refused = np.flatnonzero((errors != 0) & (errors != KafkaError._QUEUE_FULL))
        if len(refused):
            raise KafkaException(self._error(int(errors[refused[0]])))
        return first + int(np.flatnonzero(errors)[0])

    def poll(self, timeout_s: float = 0) -> None:
        """Call the callbacks of what has happened, waiting for the first event.

        Args:
            timeout_s: How long to wait for it, in seconds.
        """
        event = self._library.rd_kafka_queue_poll(self._queue, _ms(timeout_s))
        while event:
            try:
                self._report(event)
            finally:
                self._library.rd_kafka_event_destroy(event)
            event = self._library.rd_kafka_queue_poll(self._queue, 0)

    def flush(self, timeout_s: float) -> int:
        """Send waiting records without lingering, until all are delivered or the time is over, in seconds.

        Returns:
            The number of records that are not delivered.
        """
        self._library.rd_kafka_flush(self._handle, _ms(timeout_s))
        self.poll()
        return len(self)

    def topic_partitions(self, topic: str, timeout_s: float) -> TopicPartitions:
        """Ask a broker for a topic's partitions.

        Raises:
            KafkaException: There is no such topic, or no answer within this time, in seconds.
        """
        metadata = ctypes.POINTER(MetadataStruct)()
        code = self._library.rd_kafka_metadata(
            self._handle, 0, self._topic(topic), ctypes.byref(metadata), _ms(timeout_s)
        )
        if code:
            raise KafkaException(self._error(code))
        try:
            described = metadata.contents.topics[0]
            if described.err:
                raise KafkaException(self._error(described.err))
            leaders = {partition.id: partition.leader for partition in described.partitions[: described.partition_cnt]}
            return TopicPartitions.of(leaders)
        finally:
            self._library.rd_kafka_metadata_destroy(metadata)

    def __len__(self) -> int:
        """Return the number of records that are not delivered yet, and of events that wait for `poll`."""
        return int(self._library.rd_kafka_outq_len(self._handle))

    def _topic(self, name: str) -> int:
        if name not in self._topics:
            handle = self._library.rd_kafka_topic_new(self._handle, name.encode(), None)
            if not handle:
                raise KafkaException(KafkaError(self._library.rd_kafka_last_error()))
            self._topics[name] = handle
        return self._topics[name]

    def _error(self, code: int, reason: str | None = None) -> KafkaError:
        if code != KafkaError._FATAL:
            return KafkaError(code, reason) if reason else KafkaError(code)
        text = ctypes.create_string_buffer(ERROR_TEXT_BYTES)
        cause = self._library.rd_kafka_fatal_error(self._handle, text, ERROR_TEXT_BYTES)
        return KafkaError(cause, _text(text.value), fatal=True)

    def _report(self, event: int) -> None:
        match self._library.rd_kafka_event_type(event):
            case librdkafka.DELIVERY_REPORTS:
                self._report_deliveries(event)
            case librdkafka.ERROR:
                self._report_error(event)
            case librdkafka.LOG_LINE:
                self._report_log_line(event)
            case librdkafka.STATISTICS:
                self._settings["stats_cb"](_text(self._library.rd_kafka_event_stats(event)))

    def _report_deliveries(self, event: int) -> None:
        while message := self._library.rd_kafka_event_message_next(event):
            report = message.contents
            if report.err:
                topic = _text(self._library.rd_kafka_topic_name(report.rkt))
                # Others are many when brokers are away, and their payloads say nothing
                is_too_large = report.err == KafkaError.MSG_SIZE_TOO_LARGE
                payloads = _payloads(report) if is_too_large else ()
                undelivered = UndeliveredMessage(topic, report.partition, *payloads)
                self._settings["on_delivery"](self._error(report.err), undelivered)

    def _report_error(self, event: int) -> None:
        reason = _text(self._library.rd_kafka_event_error_string(event))
        self._settings["error_cb"](self._error(self._library.rd_kafka_event_error(event), reason))

    def _report_log_line(self, event: int) -> None:
        facility, line, severity = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_int()
        self._library.rd_kafka_event_log(event, facility, line, severity)
        texts = _text(facility.value), self._name, _text(line.value)
        self._settings["logger"].log(_LOG_LEVELS[severity.value & 7], "%s [%s] %s", *texts)


def _offsets(payloads: pa.BinaryArray) -> npt.NDArray[np.int32]:
    buffer = payloads.buffers()[1]
    if buffer is None:
        return np.zeros(1, np.int32)
    return np.frombuffer(buffer, np.int32)[payloads.offset : payloads.offset + len(payloads) + 1]


def _create(library: ctypes.CDLL, settings: Mapping[str, Any]) -> int:
    text = ctypes.create_string_buffer(ERROR_TEXT_BYTES)
    configuration = library.rd_kafka_conf_new()
    properties = {name: value for name, value in settings.items() if name not in _CALLBACKS}
    for name, value in {**properties, "log.queue": "true"}.items():
        setting = (str(value).lower() if isinstance(value, bool) else str(value)).encode()
        result = library.rd_kafka_conf_set(configuration, name.encode(), setting, text, ERROR_TEXT_BYTES)
        if result != librdkafka.CONFIGURATION_OK:
            library.rd_kafka_conf_destroy(configuration)
            raise KafkaException(KafkaError(KafkaError._INVALID_ARG, _text(text.value)))
    events = librdkafka.DELIVERY_REPORTS | librdkafka.ERROR | librdkafka.LOG_LINE | librdkafka.STATISTICS
    library.rd_kafka_conf_set_events(configuration, events)
    handle = library.rd_kafka_new(librdkafka.PRODUCER, configuration, text, ERROR_TEXT_BYTES)
    if not handle:
        code = library.rd_kafka_last_error()
        library.rd_kafka_conf_destroy(configuration)
        raise KafkaException(KafkaError(code, _text(text.value)))
    return int(handle)


def _destroy(library: ctypes.CDLL, handle: int, queue: int, topics: Mapping[str, int], process: int) -> None:
    # The client's threads do not exist in a fork, which would wait for them
    if os.getpid() != process:
        return
    library.rd_kafka_queue_destroy(queue)
    for topic in topics.values():
        library.rd_kafka_topic_destroy(topic)
    library.rd_kafka_destroy(handle)


def _payloads(report: MessageStruct) -> tuple[bytes | None, bytes | None]:
    """Return key and value of a message."""
    key = None if report.key is None else ctypes.string_at(report.key, report.key_len)
    return key, None if report.payload is None else ctypes.string_at(report.payload, report.len)


def _ms(seconds: float) -> int:
    return int(seconds * 1000)


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")
