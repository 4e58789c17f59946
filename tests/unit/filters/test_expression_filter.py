from __future__ import annotations

import pyarrow as pa

from millrace.contracts import HEADERS
from millrace.testing import HeaderFilterSuite
from millrace_filters.expression_filter import ExpressionFilter, ExpressionFilterOptions
from millrace_filters.parse import parse

TOY, BOOK, TEST = ("depart", b"toy"), ("depart", b"book"), ("env", b"test")


class TestExpressionFilter(HeaderFilterSuite):
    filter_class = ExpressionFilter

    def examples(self) -> list[tuple[str, list[tuple[str, bytes | None]], bool]]:
        shop = "depart:toy|depart:book&!env:test"
        return [
            (shop, [TOY], True),
            (shop, [BOOK, ("env", b"live")], True),
            (shop, [TOY, TEST], False),
            (shop, [("depart", b"garden")], False),
            (shop, [], False),
            # from left to right: (a & b) | c, and (a | b) & c, never a | (b & c)
            ("depart:book&env:test|depart:toy", [TOY], True),
            ("depart:toy|depart:book&env:test", [TOY], False),
            # one of several headers with the same key is enough
            ("depart:toy", [BOOK, TOY], True),
            ("!depart:toy", [BOOK, TOY], False),
            ("!depart:toy", [], True),
            # key and value belong to the same header
            ("depart:test", [TOY, TEST], False),
            # a null value is not an empty one, and equals nothing
            ("env:", [("env", b"")], True),
            ("env:", [("env", None)], False),
            ("!env:", [("env", None)], True),
            # upper and lower case differ
            ("Env:test", [TEST], False),
            ("env:Test", [TEST], False),
            # values are compared as UTF-8
            ("ort:Zürich", [("ort", "Zürich".encode())], True),
            ("ort:Zürich", [("ort", "Zürich".encode("latin-1"))], False),
            # special characters
            ("source:http://shop:80/a", [("source", b"http://shop:80/a")], True),
            (r"a\:b:c", [("a:b", b"c")], True),
            (r"mood:\!\(x\&y\|z\)\\", [("mood", b"!(x&y|z)\\")], True),
            # white space around terms, keys and values means nothing, unless it is escaped
            (" depart : toy  |\tenv:test\n", [TOY], True),
            ("name:a b", [("name", b"a b")], True),
            (r"name:\ a\ ", [("name", b" a ")], True),
            (r"name:\ a\ ", [("name", b"a")], False),
        ]

    def wrong_expressions(self) -> list[str]:
        return [
            "",
            "depart",
            "depart:toy|",
            "(depart:toy)",
            ":toy",
            "!!depart:toy",
            "a:b!",
            "a:b\\",
            "a:\\b",
            "a:b&&c:d",
        ]


def filter_of(text: str) -> ExpressionFilter:
    return ExpressionFilter(ExpressionFilterOptions(expression=parse(text)))


def test_repr_shows_the_expression() -> None:
    assert repr(filter_of(" depart:toy & !env : test")) == "ExpressionFilter('depart:toy&!env:test')"


def test_many_records() -> None:
    headers = pa.array([[{"key": "n", "value": str(n % 3).encode()}] for n in range(30_000)], HEADERS)
    kept = filter_of("n:0|n:2").mask(headers).to_pylist()
    assert kept == [True, False, True] * 10_000
