"""The Java client, to compare with what millrace does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from millrace_broker.folders import cache_folder
from millrace_broker.installation import DEFAULT_VERSION


@contextmanager
def java_client(spark: SparkSession, servers: str) -> Iterator[JavaClient]:
    """The Java client in the JVM of Spark, out of the jars that the embedded broker runs by; once in a session.

    Args:
        spark: The session.
        servers: The brokers.
    """
    context = spark.sparkContext
    jvm = context._jvm
    jars = sorted((cache_folder() / "kafka" / DEFAULT_VERSION).glob("*.jar"))
    urls = context._gateway.new_array(jvm.java.net.URL, len(jars))
    for index, jar in enumerate(jars):
        urls[index] = jvm.java.io.File(str(jar)).toURI().toURL()
    thread = jvm.java.lang.Thread.currentThread()
    sparks_own = thread.getContextClassLoader()
    # Python finds classes by the loader of its thread, and so does the Java client
    thread.setContextClassLoader(jvm.java.net.URLClassLoader(urls, sparks_own))
    try:
        yield JavaClient(jvm, servers)
    finally:
        thread.setContextClassLoader(sparks_own)


class JavaClient:
    """A partitioner with the default settings of the Java client.

    Args:
        jvm: A JVM that finds the client's classes.
        servers: The brokers.
    """

    def __init__(self, jvm: Any, servers: str) -> None:
        self._kafka = jvm.org.apache.kafka
        self._settings = jvm.java.util.HashMap()
        self._settings.put("bootstrap.servers", servers)

    def partition_of(self, key: bytes, partitions: int) -> int:
        """Return the partition of a key in a topic with some number of partitions."""
        chosen: int = self._kafka.clients.producer.internals.BuiltInPartitioner.partitionForKey(key, partitions)
        return chosen

    def write(self, topic: str, keys: Iterable[bytes]) -> None:
        """Write a record with each of these keys, and wait for the brokers."""
        serializer = self._kafka.common.serialization.ByteArraySerializer
        record = self._kafka.clients.producer.ProducerRecord
        producer = self._kafka.clients.producer.KafkaProducer(self._settings, serializer(), serializer())
        try:
            for result in [producer.send(record(topic, key, b"by Java")) for key in keys]:
                result.get()
        finally:
            producer.close()
