from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from millrace.contracts import TopicPartition
from millrace.errors import ClientError, GroupInUseError
from millrace.source.enumerator.consumer_group import LEASE_DURATION_S, ConsumerGroup, LeaseTiming, check_group_is_free
from support.waiting import PATIENCE_S, wait_until

A0 = TopicPartition("a", 0)


class Committed:
    """A cluster with one group."""

    group = "g"

    def __init__(self) -> None:
        self.offsets: dict[TopicPartition, int] = {}
        self.metadata: dict[TopicPartition, str] = {}
        self.members: list[str] = []
        self.error: Exception | None = None

    def group_members(self) -> list[str]:
        return self.members

    def committed_metadata(self, partitions: Collection[TopicPartition]) -> dict[TopicPartition, str]:
        return {partition: self.metadata[partition] for partition in partitions if partition in self.metadata}

    def commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
        if self.error:
            raise self.error
        self.offsets |= offsets
        self.metadata |= dict.fromkeys(offsets, metadata)


@pytest.fixture
def admin() -> Any:
    return Committed()


@pytest.fixture
def groups(admin: Any) -> Any:
    made: list[ConsumerGroup] = []

    def make(owner: str, **timing: float) -> ConsumerGroup:
        made.append(ConsumerGroup(admin, owner, lambda: 1_000.0, LeaseTiming(**timing)))
        return made[-1]

    yield make
    for group in made:
        group.release_lease()


def test_commits_are_counted(admin: Any, groups: Any) -> None:
    group = groups("me")
    group.commit({A0: 5})
    wait_until(lambda: group.succeeded, "the commit")
    assert (group.succeeded, group.failed, group.committed) == (1, 0, {A0: 5})
    assert admin.offsets == {A0: 5}


def test_a_commit_that_fails_is_counted_and_told(admin: Any, groups: Any, caplog: pytest.LogCaptureFixture) -> None:
    group = groups("me")
    group.commit({A0: 5})
    wait_until(lambda: group.succeeded, "the commit")
    admin.error = KafkaException(KafkaError(KafkaError.UNKNOWN_MEMBER_ID, "boo"))
    group.commit({A0: 6})
    wait_until(lambda: group.failed, "the commit that fails")
    assert (group.succeeded, group.failed, group.committed) == (1, 1, {A0: 5})
    wait_until(lambda: caplog.messages, "a warning")
    assert caplog.messages[0].startswith("offsets of the consumer group were not committed (1 times so far): ")


def test_commits_that_come_while_another_one_waits_are_one(admin: Any, groups: Any) -> None:
    is_open, commit, seen = threading.Event(), admin.commit, []

    def slow(offsets: Mapping[TopicPartition, int], metadata: str) -> None:
        seen.append(offsets)
        assert is_open.wait(PATIENCE_S)
        commit(offsets, metadata)

    admin.commit = slow
    group = groups("me")
    group.commit({A0: 1})
    wait_until(lambda: seen, "the first commit to begin")
    for offset in (2, 3, 4):
        group.commit({A0: offset})
    is_open.set()
    wait_until(lambda: group.succeeded == 2, "the last commit")
    assert (seen, group.failed, group.committed) == ([{A0: 1}, {A0: 4}], 0, {A0: 4})


def test_a_claim_that_is_refused_is_an_error(admin: Any, groups: Any) -> None:
    admin.error = KafkaException(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED, "boo"))
    with pytest.raises(ClientError, match=r"^claiming consumer group 'g' failed: boo"):
        groups("me").acquire_lease({A0: 5})


def test_a_claim_that_is_not_answered_is_an_error(admin: Any, groups: Any, request: pytest.FixtureRequest) -> None:
    is_over = threading.Event()
    request.addfinalizer(is_over.set)
    admin.commit = lambda offsets, metadata: is_over.wait(PATIENCE_S)
    with pytest.raises(ClientError, match=r"^claiming consumer group 'g' failed: Local: Timed out"):
        groups("me", acquire_timeout_s=0.01, release_timeout_s=0.01).acquire_lease({A0: 5})


def test_a_claim_waits_for_the_groups_coordinator(admin: Any, groups: Any) -> None:
    errors, commit = iter([KafkaException(KafkaError(KafkaError.NOT_COORDINATOR, "boo")), None]), admin.commit

    def late(offsets: Mapping[TopicPartition, int], metadata: str) -> None:
        admin.error = next(errors)
        commit(offsets, metadata)

    admin.commit = late
    groups("me", retry_pause_s=0.0).acquire_lease({A0: 5})
    assert admin.offsets == {A0: 5}
    admin.commit = commit


def test_a_query_that_reads_nothing_yet_commits_nothing(admin: Any, groups: Any) -> None:
    group = groups("me")
    group.acquire_lease({})
    group.commit({})
    assert (admin.offsets, group.succeeded, group.failed) == ({}, 0, 0)


def test_a_group_with_a_claim_is_in_use_until_the_claim_is_old(admin: Any, groups: Any) -> None:
    groups("me").acquire_lease({A0: 5})
    for age_s in (0.0, LEASE_DURATION_S - 1):
        with pytest.raises(GroupInUseError, match=f"committed a-0 {age_s:.0f} s ago.*'scan.check.duplicated.group.id'"):
            check_group_is_free(admin, {A0: 0}, "another", lambda age_s=age_s: 1_000.0 + age_s)
    check_group_is_free(admin, {A0: 0}, "another", lambda: 1_000.0 + LEASE_DURATION_S)


def test_an_own_claim_and_what_others_write_do_not_matter(admin: Any, groups: Any) -> None:
    groups("me").acquire_lease({A0: 5})
    check_group_is_free(admin, {A0: 0}, "me", lambda: 1_001.0)
    admin.metadata = {A0: "written by a consumer of Java"}
    check_group_is_free(admin, {A0: 0}, "another", lambda: 1_001.0)


def test_a_claim_that_is_renewed_holds(admin: Any) -> None:
    times = iter(range(1_000, 10**6))
    group = ConsumerGroup(admin, "me", lambda: float(next(times)), LeaseTiming(renewal_s=0.01))
    group.acquire_lease({A0: 5})
    first = admin.metadata[A0]
    wait_until(lambda: admin.metadata[A0] != first, "the lease to be renewed")
    group.release_lease()
    assert admin.offsets == {A0: 5}


def test_a_group_that_is_released_is_free(admin: Any, groups: Any) -> None:
    group = groups("me")
    group.acquire_lease({A0: 5})
    group.release_lease()
    check_group_is_free(admin, {A0: 0}, "another", lambda: 1_000.0)
    assert admin.offsets == {A0: 5}


def test_of_two_claims_at_once_the_last_one_holds(admin: Any, groups: Any) -> None:
    class Racing(Committed):
        def commit(self, offsets: Mapping[TopicPartition, int], metadata: str = "") -> None:
            super().commit(offsets, metadata)
            self.metadata = dict.fromkeys(offsets, "millrace another 1000")

    with pytest.raises(GroupInUseError):
        ConsumerGroup(Racing(), "me", lambda: 1_000.0).acquire_lease({A0: 5})


def test_many_members_are_not_all_named(admin: Any) -> None:
    admin.members = [f"c{number} at /h" for number in range(9)]
    with pytest.raises(GroupInUseError, match=r"has 9 live members: c0 at /h, .*c4 at /h, \.\.\."):
        check_group_is_free(admin, {}, "me")
