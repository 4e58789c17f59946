"""All mistakes in all kinds of sessions; ``tests/integration/test_mistakes.py`` has some of them."""

from __future__ import annotations

import pytest

from millrace_broker import KafkaBroker
from support.mistakes.all import ALL, Terminal, make_topics

GOOD_OF_100 = 98


@pytest.fixture(scope="module")
def broker():
    with KafkaBroker(properties={"auto.create.topics.enable": "false"}) as broker:
        make_topics(broker)
        yield broker


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", ["local", "shortened", "plain"])
def test_98_of_100_mistakes_are_told_in_a_sentence_and_few_lines(broker, tmp_path, kind):
    assert len({mistake.name for mistake in ALL}) == len(ALL) >= 100
    shown = Terminal(kind, broker.bootstrap_servers, tmp_path, ALL).shown()
    # Spark's log is the user's in a session of their own, which millrace shortens when it is asked to
    told = [each.without_log() for each in shown] if kind == "plain" else shown
    faults = [fault for each in told if (fault := each.fault())]

    print(f"{kind}: {len(ALL) - len(faults)} of {len(ALL)}; {sum(each.fault() is None for each in shown)} with the log")
    assert len(faults) <= len(ALL) * (100 - GOOD_OF_100) / 100, "\n\n".join(faults)
