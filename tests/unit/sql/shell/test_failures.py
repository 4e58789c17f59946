import pytest

from millrace.errors import UnreachableError
from millrace_sql.shell.failures import sentence_of


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (UnreachableError("no broker answered\nask another one"), "no broker answered\nask another one"),
        (RuntimeError("[STREAM_FAILED] x: millrace.errors.UnreachableError: no broker\n\tat y"), "no broker"),
        (RuntimeError("[PARSE] wrong\n== SQL ==\n"), "[PARSE] wrong"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_an_error_is_one_sentence(error, sentence):
    assert sentence_of(error) == sentence
