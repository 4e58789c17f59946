"""Output of terminals after mistakes: one sentence, in few lines, in any session.

All wrong options are in ``tests/unit/core/spark/test_wrong_options.py``; all mistakes in both sessions in
``tests/soak/test_mistakes.py``.
"""

from __future__ import annotations

import pytest

from millrace_broker import KafkaBroker
from support.mistakes import options, reads, writes
from support.mistakes.all import Terminal, make_topics

OPTIONS = [options.SAMPLE[0].in_spark()]
IN_A_LOCAL_SESSION = [*OPTIONS, *reads.TOLD_APART[:3], *reads.PLUGINS[:2], *reads.OF_THE_API, *writes.STREAMS]
IN_A_PLAIN_SESSION = [reads.MESSAGES[0], reads.PLUGINS[0], *writes.STREAMS[:3]]
"""Mistakes that the JVM logs, too."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Output of terminals with each kind of session, which work at the same time."""
    folder = tmp_path_factory.mktemp("mistakes")
    with KafkaBroker(properties={"auto.create.topics.enable": "false"}) as broker:
        make_topics(broker)
        mistakes = {"local": IN_A_LOCAL_SESSION, "plain": IN_A_PLAIN_SESSION}
        terminals = [Terminal(kind, broker.bootstrap_servers, folder, made) for kind, made in mistakes.items()]
        return dict(zip(mistakes, (terminal.shown() for terminal in terminals), strict=True))


@pytest.mark.parametrize("kind", ["local", "plain"])
def test_a_mistake_is_told_in_a_sentence_and_few_lines(shown, kind):
    faults = [fault for each in shown[kind] if (fault := each.fault())]

    assert not faults, f"{len(faults)} of {len(shown[kind])}:\n" + "\n\n".join(faults)
