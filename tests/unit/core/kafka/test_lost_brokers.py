from __future__ import annotations

from millrace.kafka.lost_brokers import ASK_INTERVAL_S, ASKED_AFTER_S, LostBrokers, reconnects_within_s
from millrace.kafka.retry import Clock
from millrace.options.secrets import Properties
from support.clock import Clock as Seconds

RECONNECTS_WITHIN_S = 20.0


class Brokers:
    """Brokers that answer another client, or do not, with a client that has no answer since time 0."""

    def __init__(self) -> None:
        self.seconds = Seconds()
        self.seconds.now = 0.0
        self.asked, self.answer = 0, True
        self.lost = LostBrokers(self._answers, RECONNECTS_WITHIN_S, Clock(now=self.seconds))

    def _answers(self) -> bool:
        self.asked += 1
        return self.answer

    def lost_until(self, end: float) -> float | None:
        """The time at which they are lost, looked at each tenth of a second; None where they are not until the end."""
        while self.seconds.now < end:
            if self.lost.are_lost(self.seconds.now):
                return self.seconds.now
            self.seconds.now += 0.1
        return None


def test_brokers_that_answer_others_for_longer_than_a_reconnect_are_lost() -> None:
    brokers = Brokers()
    assert brokers.lost_until(ASKED_AFTER_S - 0.1) is None
    assert brokers.asked == 0
    lost_at = brokers.lost_until(100)
    assert lost_at is not None
    assert ASKED_AFTER_S + RECONNECTS_WITHIN_S <= lost_at <= ASKED_AFTER_S + RECONNECTS_WITHIN_S + ASK_INTERVAL_S + 1
    assert brokers.asked <= 2 + RECONNECTS_WITHIN_S / ASK_INTERVAL_S


def test_brokers_that_answer_nobody_are_waited_for() -> None:
    brokers = Brokers()
    brokers.answer = False
    assert brokers.lost_until(600) is None
    # Back, and this client has as long to reconnect as ever
    brokers.answer = True
    assert brokers.lost_until(600 + RECONNECTS_WITHIN_S - 0.2) is None


def test_brokers_that_have_answered_the_client_are_not_lost() -> None:
    brokers = Brokers()
    brokers.lost_until(ASKED_AFTER_S + RECONNECTS_WITHIN_S - 1)
    assert not brokers.lost.are_lost(0.1)
    assert not brokers.lost.are_lost(ASKED_AFTER_S)


def test_the_users_longest_backoff_is_waited_for() -> None:
    assert reconnects_within_s(Properties({"reconnect.backoff.max.ms": "60000"})) >= 90
