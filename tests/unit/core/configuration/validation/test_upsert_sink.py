"""Options of writes to upsert tables."""

from __future__ import annotations

import pytest

from millrace.configuration.build import configure_sink
from millrace.errors import OptionsError

UPSERT = {
    "properties.bootstrap.servers": "h:1",
    "connector": "upsert-kafka",
    "topic": "orders",
    "key.format": "json",
    "key.fields": "id",
    "value.format": "json",
}
MAX_ROWS, INTERVAL = "sink.buffer-flush.max-rows", "sink.buffer-flush.interval"
EXACTLY_ONCE = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": "orders"}


def problems(given: dict[str, str]) -> tuple[str, ...]:
    with pytest.raises(OptionsError) as error:
        configure_sink(given)
    return tuple(error.value.problems)


@pytest.mark.parametrize("guarantee", [{}, {"sink.delivery-guarantee": "none"}, EXACTLY_ONCE])
@pytest.mark.parametrize("buffer", [{}, {MAX_ROWS: "0", INTERVAL: "0"}, {MAX_ROWS: "100", INTERVAL: "1 s"}])
def test_a_write_has_any_guarantee_and_a_buffer_or_none(guarantee: dict[str, str], buffer: dict[str, str]) -> None:
    options = configure_sink({**UPSERT, **guarantee, **buffer}).options
    assert options.is_upsert
    assert options.is_buffered == (buffer.get(MAX_ROWS) == "100")


@pytest.mark.parametrize("single", [{MAX_ROWS: "100"}, {INTERVAL: "1 s"}, {MAX_ROWS: "100", INTERVAL: "0"}])
def test_a_buffer_needs_both_limits(single: dict[str, str]) -> None:
    (problem,) = problems({**UPSERT, **single})
    assert problem.startswith(f"options {MAX_ROWS!r} and {INTERVAL!r} belong together: set both above 0, or neither")


@pytest.mark.parametrize("name", [MAX_ROWS, INTERVAL])
def test_other_tables_have_no_buffer(name: str) -> None:
    (problem,) = problems({**UPSERT, "connector": "kafka", name: "10"})
    assert problem.startswith(f"option {name!r} requires 'connector' = 'upsert-kafka'")


def test_no_partitioner_can_be_chosen() -> None:
    (problem,) = problems({**UPSERT, "sink.partitioner": "fixed"})
    assert problem.startswith("option 'sink.partitioner' cannot be used with 'connector' = 'upsert-kafka'")


def test_records_of_a_buffer_cannot_be_compared() -> None:
    in_doubt = {**EXACTLY_ONCE, "sink.exactly-once.if-in-doubt": "compare"}
    assert configure_sink({**UPSERT, **in_doubt}).options.is_upsert
    (problem,) = problems({**UPSERT, **in_doubt, MAX_ROWS: "100", INTERVAL: "1 s"})
    assert problem.startswith("option 'sink.exactly-once.if-in-doubt' = 'compare' requires a write without a buffer")
