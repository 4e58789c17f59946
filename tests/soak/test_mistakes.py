"""All mistakes in both kinds of sessions; ``tests/integration/test_mistakes.py`` has those of some seconds."""

from __future__ import annotations

from millrace_broker import KafkaBroker
from support.mistakes.all import ALL, Terminal, make_topics

GOOD_OF_100 = 98


def test_98_of_100_mistakes_are_told_in_a_sentence_and_few_lines(tmp_path):
    assert len({mistake.name for mistake in ALL}) == len(ALL) >= 100
    with KafkaBroker(properties={"auto.create.topics.enable": "false"}) as broker:
        make_topics(broker)
        terminals = [Terminal(kind, broker.bootstrap_servers, tmp_path, ALL) for kind in ("local", "plain")]
        shown = [terminal.shown() for terminal in terminals]
    for of_session in shown:
        faults = [fault for each in of_session if (fault := each.fault())]

        assert len(faults) <= len(ALL) * (100 - GOOD_OF_100) / 100, "\n\n".join(faults)
