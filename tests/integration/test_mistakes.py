"""Output of terminals after mistakes: one sentence, in few lines, in any session.

All wrong options are in ``tests/unit/core/spark/test_wrong_options.py``, failures in a terminal without Java in
``tests/unit/core/test_excepthook.py``; all mistakes in all sessions in ``tests/soak/test_mistakes.py``.
"""

from __future__ import annotations

import pytest

from millrace_broker import KafkaBroker
from support.mistakes import options, reads, writes
from support.mistakes.all import Terminal, make_topics

CUT_IN_A_STREAM, *_, APPEND_OF_COUNTS, COUNT = writes.STREAMS
*_, BROKEN_PARTITIONER, _ = writes.WRITES
IN_A_LOCAL_SESSION = [
    options.SAMPLE[0].in_spark(),
    reads.MESSAGES[0],
    *reads.OF_THE_API[:2],
    CUT_IN_A_STREAM,
    APPEND_OF_COUNTS,
    COUNT,
]
IN_A_SHORTENED_SESSION = [reads.PLUGINS[0], BROKEN_PARTITIONER]
"""Mistakes that the JVM logs, too."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Output of terminals with each kind of session, which work at the same time."""
    folder = tmp_path_factory.mktemp("mistakes")
    with KafkaBroker(properties={"auto.create.topics.enable": "false"}) as broker:
        make_topics(broker)
        mistakes = {"local": IN_A_LOCAL_SESSION, "shortened": IN_A_SHORTENED_SESSION}
        terminals = [Terminal(kind, broker.bootstrap_servers, folder, made) for kind, made in mistakes.items()]
        return dict(zip(mistakes, (terminal.shown() for terminal in terminals), strict=True))


@pytest.mark.parametrize("kind", ["local", "shortened"])
def test_a_mistake_is_told_in_a_sentence_and_few_lines(shown, kind):
    faults = [fault for each in shown[kind] if (fault := each.fault())]

    assert not faults, f"{len(faults)} of {len(shown[kind])}:\n" + "\n\n".join(faults)
