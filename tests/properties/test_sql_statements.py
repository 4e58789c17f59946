"""Statements as texts and back; any text is statements or an error that says where."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from millrace_sql import statements as s
from millrace_sql.errors import SqlSyntaxError
from millrace_sql.parser import parse
from millrace_sql.render import render
from millrace_sql.script_texts import Identifier, SqlText
from unit.catalog.any_types import ALL
from unit.sql.test_parser_suite import GOOD

TEXTS = st.sampled_from(["", "it's", 'a "b"', "--", "/* x", "*/", ";", "`", "\n", "ä"]) | st.text(max_size=8)
NAMES = st.sampled_from(["a", "b", "PRIMARY", "table", "a b", "x`y", "from", "Ü", "1", "END", "if"]) | st.text(
    min_size=1, max_size=5
)
EXPRESSIONS = st.sampled_from(
    [
        "a",
        "a + 1 -- not the end\n * 2",
        "CAST(`a,b` AS DATE)",
        "concat(a, ')', \"(\", r'\\', '\\'', 'it''s')",
        "CASE WHEN a THEN ';' END",
        "`COMMENT`",
        "x.COMMENT /* , ) */ - INTERVAL '5' SECOND",
        "m['a,b'][1]",
        "PROCTIME()",
    ]
).map(SqlText)
QUERIES = st.sampled_from(
    [
        "SELECT 1",
        "select * from t /*+ OPTIONS('a' = ';') */",
        "WITH x AS (SELECT ';') SELECT * FROM x -- ;\n WHERE a = 'b''c'",
        "VALUES (1, 'a'), (2, NULL)",
        "(SELECT CASE WHEN a THEN b END AS end FROM `t;`) UNION ALL (SELECT 2)",
        "TABLE t",
        "FROM t SELECT a",
    ]
).map(SqlText)

NEW_TABLE_QUERIES = QUERIES.filter(lambda query: query.text != "TABLE t")
"""In CREATE TABLE, AS TABLE copies a table and follows its schema, and is no query."""


def identifiers(most: int = 3) -> st.SearchStrategy[Identifier]:
    return st.lists(NAMES, min_size=1, max_size=most).map(lambda parts: Identifier(tuple(parts)))


def unique(names: st.SearchStrategy[str], least: int = 0) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(names, min_size=least, max_size=3, unique=True).map(tuple)


OPTIONS = st.dictionaries(TEXTS, TEXTS, max_size=3)
COMMENTS = st.none() | TEXTS
FLAGS = st.booleans()
COLUMNS = st.lists(
    st.builds(s.PhysicalColumn, NAMES, ALL, COMMENTS)
    | st.builds(s.MetadataColumn, NAMES, ALL, st.none() | TEXTS, FLAGS, COMMENTS)
    | st.builds(s.ComputedColumn, NAMES, EXPRESSIONS, COMMENTS),
    max_size=4,
    unique_by=lambda column: column.name,
).map(tuple)
LIKES = st.builds(
    s.Like,
    identifiers(),
    st.lists(
        st.sampled_from(
            [
                ("INCLUDING", "ALL"),
                ("EXCLUDING", "CONSTRAINTS"),
                ("OVERWRITING", "OPTIONS"),
                ("INCLUDING", "WATERMARKS"),
            ]
        ),
        max_size=3,
    ).map(tuple),
)
AS_TABLES = st.builds(
    s.AsTable,
    identifiers(),
    st.lists(
        st.builds(
            s.AddedColumn, st.builds(s.ComputedColumn, NAMES, EXPRESSIONS, COMMENTS), st.none() | st.just("") | NAMES
        ),
        max_size=3,
        unique_by=lambda added: added.column.name,
    ).map(tuple),
    OPTIONS,
)
TABLES = st.builds(
    s.CreateTable,
    identifiers(),
    COLUMNS,
    st.none() | st.builds(s.PrimaryKey, unique(NAMES, 1), st.none() | NAMES),
    st.none() | st.builds(s.Watermark, NAMES, EXPRESSIONS),
    COMMENTS,
    unique(NAMES),
    OPTIONS,
    is_temporary=FLAGS,
    or_replace=FLAGS,
    if_not_exists=FLAGS,
)
COLUMN_CHANGES = st.one_of(
    st.builds(
        s.ColumnChanges,
        st.sampled_from(["ADD", "MODIFY"]),
        COLUMNS.filter(len).flatmap(
            lambda columns: st.tuples(
                *(st.builds(s.AddedColumn, st.just(each), st.none() | st.just("") | NAMES) for each in columns)
            )
        ),
        primary_key=st.none() | st.builds(s.PrimaryKey, unique(NAMES, 1), st.none() | NAMES),
        watermark=st.none() | st.builds(s.Watermark, NAMES, EXPRESSIONS),
    ),
    st.builds(s.ColumnChanges, st.just("DROP"), names=unique(NAMES, 1)),
    st.builds(s.ColumnChanges, st.just("RENAME"), names=st.tuples(NAMES, NAMES)),
)
CREATE_TABLES = st.one_of(
    TABLES,
    *(
        st.builds(lambda table, origin, name=name: s.CreateTable(**{**vars(table), name: origin}), TABLES, origins)
        for name, origins in (("like", LIKES), ("query", NEW_TABLE_QUERIES), ("as_table", AS_TABLES))
    ),
)
PARTITIONS = st.dictionaries(NAMES, st.sampled_from(["1", "'a,b'", "DATE '2024-01-01'"]), max_size=2)
INSERTS = st.builds(s.Insert, identifiers(), QUERIES, unique(NAMES), PARTITIONS, OPTIONS, FLAGS)
SETS = st.lists(INSERTS, min_size=1, max_size=3).map(lambda inserts: s.ExecuteStatementSet(tuple(inserts)))
DETAILS = st.lists(st.sampled_from(["CHANGELOG_MODE", "ESTIMATED_COST", "PLAN_ADVICE"]), max_size=2).map(tuple)
PATTERNS = st.none() | TEXTS


@st.composite
def shows(draw: st.DrawFn) -> s.Show:
    kind = draw(st.sampled_from(["TABLES", "DATABASES", "COLUMNS", "CREATE TABLE", "CREATE VIEW", "CURRENT CATALOG"]))
    if kind.startswith("C") and kind != "COLUMNS":
        return s.Show(kind, draw(identifiers()) if kind.startswith("CREATE") else None)
    subject = draw(identifiers()) if kind == "COLUMNS" else draw(st.none() | identifiers(2))
    pattern = draw(PATTERNS)
    return s.Show(kind, subject, pattern, pattern is not None and draw(FLAGS))


STATEMENTS = st.one_of(
    CREATE_TABLES,
    st.builds(s.CreateView, identifiers(), QUERIES, unique(NAMES), COMMENTS, FLAGS, FLAGS, FLAGS),
    st.builds(s.CreateCatalog, NAMES, OPTIONS, COMMENTS, FLAGS),
    st.builds(s.CreateDatabase, identifiers(2), COMMENTS, FLAGS),
    st.builds(s.Use, st.just("CATALOG"), identifiers(1)) | st.builds(s.Use, st.just("DATABASE"), identifiers(2)),
    shows(),
    st.builds(s.Describe, st.just("TABLE"), identifiers(), FLAGS),
    st.builds(s.Describe, st.just("CATALOG"), identifiers(1), FLAGS),
    st.builds(s.Drop, st.sampled_from(["TABLE", "VIEW"]), identifiers(), is_temporary=FLAGS, if_exists=FLAGS),
    st.builds(s.Drop, st.just("FUNCTION"), identifiers(), is_temporary=FLAGS, if_exists=FLAGS),
    st.builds(s.Drop, st.just("DATABASE"), identifiers(2), if_exists=FLAGS, is_cascade=FLAGS),
    st.builds(s.Drop, st.just("CATALOG"), identifiers(1), if_exists=FLAGS),
    st.builds(s.AlterTable, identifiers(), OPTIONS.filter(len), if_exists=FLAGS),
    st.builds(s.AlterTable, identifiers(), reset_options=unique(TEXTS, 1)),
    st.builds(s.AlterTable, identifiers(), new_name=identifiers()),
    st.builds(s.AlterTable, identifiers(), column_changes=COLUMN_CHANGES),
    QUERIES.map(s.Query),
    INSERTS,
    SETS,
    st.builds(s.Explain, QUERIES.map(s.Query) | INSERTS | SETS, DETAILS),
    st.just(s.SetOption()) | st.builds(s.SetOption, TEXTS, TEXTS),
    st.just(s.ResetOption()) | st.builds(s.ResetOption, TEXTS),
)


@given(st.lists(STATEMENTS, max_size=3))
def test_the_text_of_statements_means_those_statements(statements: list[s.Statement]) -> None:
    text = ";\n".join(map(render, statements))
    assert parse(text) == statements
    assert [render(each) for each in parse(text)] == [render(each) for each in statements]


@given(CREATE_TABLES)
def test_the_text_of_a_table_keeps_the_order_of_fields(table: s.CreateTable) -> None:
    (parsed,) = parse(render(table))
    assert isinstance(parsed, s.CreateTable)
    assert [str(each.type) for each in parsed.columns if not isinstance(each, s.ComputedColumn)] == [
        str(each.type) for each in table.columns if not isinstance(each, s.ComputedColumn)
    ]


PIECES = st.sampled_from(
    [
        "CREATE",
        "TABLE",
        "t",
        "(",
        ")",
        ",",
        ";",
        "'a'",
        "=",
        "'b'",
        "WITH",
        "AS",
        "SELECT",
        "`",
        "'",
        '"',
        "--",
        "/*",
        "*/",
        "/*+",
        "\n",
        "INT",
        "ROW",
        "<",
        ">",
        "METADATA",
        "PRIMARY",
        "KEY",
        "NOT",
        "ENFORCED",
        "INSERT",
        "INTO",
        "BEGIN",
        "STATEMENT",
        "SET",
        "END",
        "EXECUTE",
        "1",
        ".",
        "WATERMARK",
        "FOR",
        "ADD",
        "COLUMN",
        "FIRST",
        "AFTER",
        "CASE",
        "[",
        "]",
        "COMMENT",
        "\\",
        "r",
        "ä",
        "\x00",
    ]
)


def check(text: str) -> None:
    """Parse a text; errors have a place within it, and their line."""
    error = error_of(text)
    if error is None:
        statements = parse(text)
        assert parse(";".join(map(render, statements))) == statements
        return
    assert error.position is not None
    lines = text.split("\n")
    assert 1 <= error.position.line <= len(lines)
    assert 1 <= error.position.column <= len(lines[error.position.line - 1]) + 1
    assert error.excerpt.splitlines()[-1].endswith("^")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def error_of(text: str) -> SqlSyntaxError | None:
    try:
        parse(text)
    except SqlSyntaxError as error:
        return error
    return None


@given(st.text() | st.lists(PIECES).map(" ".join) | st.lists(PIECES).map("".join))
def test_any_text_is_statements_or_an_error_with_its_place(text: str) -> None:
    check(text)


@given(STATEMENTS.map(render), st.data())
def test_a_mutated_statement_is_statements_or_an_error_with_its_place(text: str, data: st.DataObject) -> None:
    start, end = sorted(data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))))
    check(text[:start] + data.draw(PIECES | st.just("")) + text[end if data.draw(st.booleans()) else start :])


WRITTEN = st.sampled_from([case.script for case in GOOD])


@given(WRITTEN, st.lists(st.tuples(st.integers(0), st.integers(0, 20), st.integers(1, 3)), max_size=3), st.data())
def test_a_mutated_text_is_statements_or_an_error_with_its_place(
    text: str, mutations: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    for at, length, times in mutations:
        start = at % (len(text) + 1)
        other = data.draw(WRITTEN)
        new = data.draw(PIECES | st.just(other[at % len(other) :][:length]) | st.just(text[start : start + length]))
        text = f"{text[:start]} {new * times} {text[start + length :]}"
    check(text)
