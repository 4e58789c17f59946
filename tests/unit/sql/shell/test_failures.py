import pytest

from millrace.errors import UnreachableError
from millrace_sql.shell.failures import sentence_of


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (UnreachableError("no broker answered\nask another one"), "no broker answered\nask another one"),
        (RuntimeError("[STREAM_FAILED] x: millrace.errors.UnreachableError: no broker\n\tat y"), "no broker"),
        (RuntimeError("[PARSE] wrong\n== SQL ==\n"), "[PARSE] wrong"),
        (RuntimeError("[PARSE] wrong SQLSTATE: 42601; line 1 pos 0;\n'Project"), "[PARSE] wrong"),
        (RuntimeError("[STREAM_FAILED] Query [id = x] terminated\n: [CAST] no INT\n\tat y"), "[CAST] no INT"),
        (
            RuntimeError("Traceback (most recent call last):\n  File x\nValueError: no\n"),
            "ValueError: no",
        ),
        (
            RuntimeError("calling o1.load.\n: org.x.Outer: failed\nCaused by: java.io.IOException: disk\n"),
            "disk",
        ),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_an_error_is_one_sentence(error, sentence):
    assert sentence_of(error) == sentence
