"""Digests of records: equal for the same records in any order and division, different for others."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pytest

from millrace.contracts import Payloads
from millrace.records.producer_records import ProducerRecords
from millrace.sink.committer.record_digest import RecordDigest, is_other

VALUES = [b"121", b"202", b"", None]
KEYS = [b"a", None, b"c", b"a"]
RECORDS = ProducerRecords("orders", Payloads(VALUES), Payloads(KEYS))


def digest(*parts: ProducerRecords) -> str:
    found = RecordDigest()
    for part in parts:
        found.add(part)
    return str(found)


def test_order_and_batches_do_not_matter() -> None:
    first = ProducerRecords("orders", Payloads(VALUES[2:]), Payloads(KEYS[2:]))
    second = ProducerRecords("orders", Payloads(VALUES[:2]), Payloads(KEYS[:2]))
    assert digest(first, second) == digest(RECORDS)


@pytest.mark.parametrize(
    "other",
    [
        replace(RECORDS, topic="payments"),
        replace(RECORDS, keys=None),
        replace(RECORDS, keys=Payloads([b"c", None, b"a", b"a"])),
        replace(RECORDS, values=Payloads([b"121", b"202", None, b""])),
        replace(RECORDS, values=Payloads([b"121", b"121", b"", None])),
        replace(RECORDS, timestamps=pa.array([1, None, 2, 3], pa.int64())),
        replace(RECORDS, headers=[[("name", b"x")], [], [], []]),
    ],
)
def test_other_records_have_another_digest(other: ProducerRecords) -> None:
    assert is_other(digest(other), digest(RECORDS))


def test_a_digest_of_another_hash_says_nothing() -> None:
    assert not is_other("crc32:0000000000000000", "siphash13:1111111111111111")
    assert not is_other("crc32:0000000000000000", "")
    assert not is_other("", "crc32:0000000000000000")


@pytest.mark.parametrize("seed", ["0", "random"])
def test_processes_agree_where_spark_has_set_the_seed_and_where_it_has_not(seed: str) -> None:
    program = (
        "from millrace.contracts import Payloads\n"
        "from millrace.records.producer_records import ProducerRecords\n"
        "from millrace.sink.committer.record_digest import RecordDigest\n"
        "found = RecordDigest()\n"
        "found.add(ProducerRecords('t', Payloads([b'some value', b'another'])))\n"
        "print(found)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    texts = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
        ).stdout
        for _ in range(2)
    }
    (text,) = texts
    assert text.startswith("crc32:" if seed == "random" else "siphash")
