"""The partition that a Kafka client chooses for a key, as ``org.apache.kafka.common.utils.Utils.murmur2`` does."""

from __future__ import annotations

import struct

_SEED, _MULTIPLIER, _ROTATION = 0x9747B28C, 0x5BD1E995, 24
_UINT32, _POSITIVE = 0xFFFFFFFF, 0x7FFFFFFF


def partition_of_key(key: bytes, partition_count: int) -> int:
    """Return the partition of a key by Kafka's default partitioner.

    Java's producers, and librdkafka's with ``partitioner = murmur2_random``, choose the same.
    """
    return (murmur2(key) & _POSITIVE) % partition_count


def murmur2(data: bytes) -> int:
    """Return the hash of some bytes, 32 bits without a sign."""
    whole = len(data) & ~3
    value = (_SEED ^ len(data)) & _UINT32
    for (block,) in struct.iter_unpack("<I", data[:whole]):
        mixed = (block * _MULTIPLIER) & _UINT32
        mixed ^= mixed >> _ROTATION
        value = ((value * _MULTIPLIER) & _UINT32) ^ ((mixed * _MULTIPLIER) & _UINT32)
    if rest := data[whole:]:
        value = ((value ^ int.from_bytes(rest, "little")) * _MULTIPLIER) & _UINT32
    value = ((value ^ (value >> 13)) * _MULTIPLIER) & _UINT32
    return value ^ (value >> 15)
