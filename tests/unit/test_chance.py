"""Rules by which no test fails by chance; each exception has its reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

SEED = "a seed, which a failure shows"
HELD = "a process holds still until a test kills it or lets it go on"
MOMENT = "a kill or a change comes at a random moment"
MEASURED = "what a time takes is measured, or what happens while nobody acts"

RULES = {
    "draw names by support.names.unique_name": (
        r"\bos\.urandom\(|\buuid\.uuid\d\(|\bsecrets\.token|\bSystemRandom\(|\brandom\.randrange\(|\bgetrandbits\(",
        {
            "support/names.py": "the generator",
            "fuzz.py": SEED,
            "stress.py": SEED,
            "soak/test_debezium.py": SEED,
            "soak/test_late_requests.py": SEED,
            "soak/test_sql_upserts.py": SEED,
        },
    ),
    "wait for a condition by support.waiting.wait_until": (
        r"\btime\.sleep\(|\bEvent\(\)\.wait\([^)]",
        {
            "support/waiting.py": "the poll",
            "programs/core.py": "a program that finds no helpers where it runs",
            "programs/count_each_batch.py": HELD,
            "programs/write_task.py": HELD,
            "programs/write_tasks.py": HELD,
            "support/absent_in_spark.py": HELD,
            "support/kill_points.py": HELD,
            "integration/test_broker.py": HELD,
            "unit/broker/test_process.py": HELD,
            "unit/core/test_siblings.py": HELD,
            "support/killed_pipelines.py": MOMENT,
            "support/sql_drivers.py": MOMENT,
            "soak/test_debezium.py": MOMENT,
            "soak/test_pipelines.py": MOMENT,
            "soak/test_random_kills.py": MOMENT,
            "soak/test_sql_upserts.py": MOMENT,
            "support/absent_brokers.py": MEASURED,
            "support/processor_time.py": MEASURED,
        },
    ),
    "give what is waited for support.waiting.PATIENCE_S": (
        r"\.(flush|result|join|awaitTermination)\((timeout=)?[1-9]\d?\)|\.wait\((timeout=)?[1-9]\d\)",
        {},
    ),
    "bound a time by support.waiting.sooner_than, from which another behaviour is far": (
        r"assert .*\b(monotonic|perf_counter)\(\).* <|assert .*\btook\w* <",
        {"support/waiting.py": "the helpers"},
    ),
    # Another test of the process may have left its own
    "count what a process keeps in WorkerResources of the test": (
        r"(assert|=) .*\bRESOURCES\.items\(",
        {"unit/core/test_worker.py": "a kind of resource that no other file keeps"},
    ),
    "ask support.leftovers for the threads and clients of a process": (
        r"\bthreading\.(enumerate|active_count)\(|/proc/self/task",
        {
            "support/leftovers.py": "the helper",
            "integration/test_batch_client.py": "all threads of a client, of which Python knows none",
            "unit/ui/test_imports.py": "a process of its own",
        },
    ),
    # A logger of PySpark gives pytest's handler a formatter that sets no message, if one was made before in the process
    "read the text of a log record by getMessage()": (r"\brecord\.message\b", {}),
    "repeat requests of plain clients by support.retrying.retried": (
        r"\.(init_transactions|commit_transaction|abort_transaction)\(\d"
        r"|\.(create|delete|alter|describe)_\w+\(.*\.result\(|for future in \w+\.(create|delete|alter)_",
        {"support/admin.py": "the helpers"},
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_tests_keep_the_rule(rule: str) -> None:
    pattern, exceptions = RULES[rule]
    broken = {
        str(file.relative_to(TESTS)): line.strip()
        for file in sorted(TESTS.rglob("*.py"))
        for line in file.read_text().splitlines()
        if file != Path(__file__) and re.search(pattern, line)
    }
    assert {file: line for file, line in broken.items() if file not in exceptions} == {}, rule
    assert exceptions.keys() <= broken.keys(), "exceptions that nothing needs any more"
