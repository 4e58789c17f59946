"""What becomes of malformed messages: an error, or they are counted, up to a limit."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from millrace.configuration.build import configure_source
from millrace.contracts import TopicPartition
from millrace.errors import MessageError
from millrace.records.messages import Messages
from millrace.source.reader.dead_letters import collector_for
from millrace.source.reader.error_policy import ErrorPolicy, MalformedRecord
from millrace.source.reader.split_metrics import SplitMetrics

Make = Callable[..., Messages]
Take = Callable[..., None]


def tolerant_policy(metrics: SplitMetrics | None = None, **options: str) -> ErrorPolicy:
    names = {"max_count": "ingestion.error-tolerance.max-count", "collector": "dirty-data.collector"}
    tolerant = {"ingestion.ignore-errors": "true", **{names[name]: value for name, value in options.items()}}
    return policy(tolerant, metrics)


def policy(options: dict[str, str], metrics: SplitMetrics | None = None) -> ErrorPolicy:
    config = configured(options)
    return ErrorPolicy(config.options, metrics or SplitMetrics(), collector_for(config))


def configured(options: dict[str, str]):  # type: ignore[no-untyped-def]
    return configure_source({"properties.bootstrap.servers": "h:1", "format": "json", **options})


@pytest.fixture
def take(messages: Make) -> Take:
    """Lets somebody take a batch of messages, the last ones of which are malformed."""

    def give(to: ErrorPolicy, bad: int, good: int = 0, lenient: str | None = None) -> None:
        read = messages(*[{"value": b"{oops"}] * (bad + good))
        to.handle(
            read, [MalformedRecord(item, "no good", "json", lenient_option=lenient) for item in read.items[good:]]
        )

    return give


def test_a_malformed_message_is_an_error_with_what_to_do(take: Take) -> None:
    with pytest.raises(MessageError) as error:
        take(policy({}), 1, good=4, lenient="json.ignore-parse-errors")
    assert str(error.value) == (
        "malformed message in topic 'orders', partition 3, offset 104: no good. It begins with '{oops'. To let such "
        "messages pass, set 'json.ignore-parse-errors' to true; to skip and count them, set 'ingestion.ignore-errors' "
        "to true"
    )


def test_the_first_of_several_is_told_and_how_many_more_there_are(take: Take) -> None:
    with pytest.raises(MessageError) as error:
        take(policy({}), 2, good=1)
    assert "offset 101: " in str(error.value)
    assert "; 1 more of 3 messages read together are malformed. To skip and count " in str(error.value)


def test_tolerated_messages_are_counted_by_partition(take: Take) -> None:
    metrics = SplitMetrics()
    tolerant = tolerant_policy(metrics)
    take(tolerant, 2)
    take(tolerant, 3)
    tolerant.finish()
    assert {partition: count.errors for partition, count in metrics.counts.items()} == {TopicPartition("orders", 3): 5}
    assert not tolerant.needs_query_total


def test_a_task_tells_at_its_end_how_many_it_has_skipped(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    tolerant = tolerant_policy()
    take(tolerant, 2)
    assert caplog.messages == []
    tolerant.finish()
    assert caplog.messages == [
        "malformed messages skipped by this task (option 'ingestion.ignore-errors'): 2, the last one in topic "
        "'orders', partition 3, offset 101"
    ]
    tolerant_policy().finish()
    assert len(caplog.messages) == 1


def test_as_many_as_are_allowed_pass_and_one_more_does_not(take: Take) -> None:
    tolerant = tolerant_policy(max_count="3")
    take(tolerant, 2)
    take(tolerant, 1)
    with pytest.raises(MessageError) as error:
        take(tolerant, 2, good=5)
    assert str(error.value) == (
        "malformed messages read by this task: 5, more than the 3 that option 'ingestion.error-tolerance.max-count' "
        "allows. The last one is a malformed message in topic 'orders', partition 3, offset 106: no good. It begins "
        "with '{oops'"
    )


def test_none_may_be_allowed(take: Take) -> None:
    with pytest.raises(MessageError, match="read by this task: 1, more than the 0 that option"):
        take(tolerant_policy(max_count="0"), 1)


def test_those_that_are_too_many_are_collected_all_the_same(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(MessageError):
        take(tolerant_policy(max_count="0", collector="logger"), 1)
    assert caplog.messages[0].endswith("It begins with '{oops'. It is skipped")


def test_all_tasks_together_may_have_met_too_many(take: Take) -> None:
    tolerant = tolerant_policy(max_count="3")
    assert not tolerant.needs_query_total
    take(tolerant, 2)
    assert tolerant.needs_query_total
    tolerant.check_query_total(3)
    with pytest.raises(MessageError) as error:
        tolerant.check_query_total(4)
    assert str(error.value).startswith(
        "malformed messages read by this query: 4, more than the 3 that option 'ingestion.error-tolerance.max-count' "
        "allows. The last one is a malformed message in topic 'orders', partition 3, offset 101: "
    )


def test_a_driver_that_does_not_tell_is_told_of(take: Take, caplog: pytest.LogCaptureFixture) -> None:
    tolerant = tolerant_policy(max_count="3")
    take(tolerant, 2)
    tolerant.check_query_total(None)
    assert "'ingestion.error-tolerance.max-count' holds for this task alone" in caplog.text
