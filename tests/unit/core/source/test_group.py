from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, GroupInUseError
from millrace.source import group as group_module
from millrace.source.group import HOLDS_S, Group, check_group

A0 = TopicPartition("a", 0)


class Committed:
    """A cluster with one group."""

    group = "g"

    def __init__(self) -> None:
        self.offsets: dict[TopicPartition, int] = {}
        self.metadata: dict[TopicPartition, str] = {}
        self.members: list[str] = []
        self.error: Exception | None = None
        self.partition_error: KafkaError | None = None

    def group_members(self) -> list[str]:
        return self.members

    def committed_metadata(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, str]:
        return {partition: self.metadata[partition] for partition in partitions if partition in self.metadata}

    def begin_commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> Future[Any]:
        future: Future[Any] = Future()
        if self.error:
            future.set_exception(self.error)
        else:
            self.offsets |= offsets
            self.metadata |= dict.fromkeys(offsets, metadata)
            partitions = [SimpleNamespace(error=self.partition_error) for _ in offsets]
            future.set_result(SimpleNamespace(topic_partitions=partitions))
        return future


@pytest.fixture
def cluster() -> Any:
    return Committed()


@pytest.fixture
def groups(cluster: Any) -> Any:
    made: list[Group] = []

    def make(owner: str) -> Group:
        made.append(Group(cluster, owner, lambda: 1_000.0))
        return made[-1]

    yield make
    for group in made:
        group.release()


def test_commits_are_counted(cluster: Any, groups: Any) -> None:
    group = groups("me")
    group.commit({A0: 5})
    assert (group.succeeded, group.failed, group.committed) == (1, 0, {A0: 5})
    assert cluster.offsets == {A0: 5}


def test_a_commit_that_fails_is_counted_and_told(cluster: Any, groups: Any, caplog: pytest.LogCaptureFixture) -> None:
    group = groups("me")
    group.commit({A0: 5})
    cluster.error = KafkaException(KafkaError(KafkaError.UNKNOWN_MEMBER_ID, "boo"))
    group.commit({A0: 6})
    assert (group.succeeded, group.failed, group.committed) == (1, 1, {A0: 5})
    assert caplog.messages[0].startswith("offsets of the consumer group were not committed (1 times so far): ")


def test_a_commit_that_fails_for_one_partition_has_failed(cluster: Any, groups: Any) -> None:
    cluster.partition_error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART, "boo")
    group = groups("me")
    group.commit({A0: 5})
    assert (group.succeeded, group.failed, group.committed) == (0, 1, {})
    with pytest.raises(ClientError, match=r"^claiming consumer group 'g' failed: boo"):
        group.claim({A0: 5})


def test_a_claim_waits_for_the_groups_coordinator(cluster: Any, groups: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "RETRY_PAUSE_S", 0.0)
    errors, begin_commit = iter([KafkaError(KafkaError.NOT_COORDINATOR, "boo"), None]), cluster.begin_commit

    def late(offsets: Mapping[TopicPartition, int], metadata: str) -> Future[Any]:
        cluster.partition_error = next(errors)
        return begin_commit(offsets, metadata)

    monkeypatch.setattr(cluster, "begin_commit", late)
    groups("me").claim({A0: 5})
    assert cluster.offsets == {A0: 5}


def test_a_query_that_reads_nothing_yet_commits_nothing(cluster: Any, groups: Any) -> None:
    group = groups("me")
    group.claim({})
    group.commit({})
    assert (cluster.offsets, group.succeeded, group.failed) == ({}, 0, 0)


def test_a_group_with_a_claim_is_in_use_until_the_claim_is_old(cluster: Any, groups: Any) -> None:
    groups("me").commit({A0: 5})
    for age_s in (0.0, HOLDS_S - 1):
        with pytest.raises(GroupInUseError, match=f"committed a-0 {age_s:.0f} s ago.*'scan.check.duplicated.group.id'"):
            check_group(cluster, {A0: 0}, "another", lambda age_s=age_s: 1_000.0 + age_s)
    check_group(cluster, {A0: 0}, "another", lambda: 1_000.0 + HOLDS_S)


def test_an_own_claim_and_what_others_write_do_not_matter(cluster: Any, groups: Any) -> None:
    groups("me").commit({A0: 5})
    check_group(cluster, {A0: 0}, "me", lambda: 1_001.0)
    cluster.metadata = {A0: "written by a consumer of Java"}
    check_group(cluster, {A0: 0}, "another", lambda: 1_001.0)


def test_a_claim_that_is_renewed_holds(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "RENEW_S", 0.01)
    times = iter(range(1_000, 10**6))
    group = Group(cluster, "me", lambda: float(next(times)))
    group.commit({A0: 5})
    first = cluster.metadata[A0]
    while cluster.metadata[A0] == first:
        pass
    group.release()
    assert cluster.offsets == {A0: 5}


def test_a_group_that_is_released_is_free(cluster: Any, groups: Any) -> None:
    group = groups("me")
    group.claim({A0: 5})
    group.release()
    check_group(cluster, {A0: 0}, "another", lambda: 1_000.0)
    assert cluster.offsets == {A0: 5}


def test_of_two_claims_at_once_the_last_one_holds(cluster: Any, groups: Any) -> None:
    class Racing(Committed):
        def begin_commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> Future[Any]:
            done = super().begin_commit(offsets, metadata)
            self.metadata = dict.fromkeys(offsets, "millrace another 1000")
            return done

    with pytest.raises(GroupInUseError):
        Group(Racing(), "me", lambda: 1_000.0).claim({A0: 5})  # type: ignore[arg-type]


def test_many_members_are_not_all_named(cluster: Any) -> None:
    cluster.members = [f"c{number} at /h" for number in range(9)]
    with pytest.raises(GroupInUseError, match=r"has 9 live members: c0 at /h, .*c4 at /h, \.\.\."):
        check_group(cluster, {}, "me")
