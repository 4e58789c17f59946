"""Tables whose columns are large, so that PostgreSQL stores them apart and does not send those that an update leaves.

They have each type that is stored so and for which Debezium writes a placeholder. For others it writes null, as if that
were the value: those are in a table that logs its old rows.
"""

from __future__ import annotations

from support.origin import OriginTable

_LARGE = "repeat(md5({r}::text), 100)"


def _some(large: str, small: str) -> str:
    """Return SQL with a large value, most times, or a small one or none."""
    return f"CASE {{r}} % 6 WHEN 0 THEN NULL WHEN 1 THEN {small} ELSE {large} END"


def _list(element: str, count: int = 900) -> str:
    """Return SQL with an array of many elements, most times."""
    filled = f"(SELECT array_agg({element.format(i='i', r='{r}')}) FROM generate_series(1, {count}) i)"
    return _some(filled, f"ARRAY[{element.format(i='1', r='{r}')}]")


def _table(key: str, key_expression: str, **columns: tuple[str, str]) -> OriginTable:
    """Return a table of a key, a number, and large columns with their types and expressions."""
    names = ", ".join(f"{name} {type_}" for name, (type_, _) in columns.items())
    expressions = tuple(expression for _, expression in columns.values())
    return OriginTable(
        f"id {key} PRIMARY KEY, n INT, {names}", ("id",), (key_expression, "{r}", *expressions), toasted=tuple(columns)
    )


TOASTED_TABLES: dict[str, OriginTable] = {
    "letters": _table(
        "INT",
        "{key}",
        body=("TEXT", _some(_LARGE, "'ä'")),
        title=("VARCHAR(9000)", _some(_LARGE, "''")),
        code=("CHAR(2500)", _some(_LARGE.replace("100", "75"), "'c'")),
    ),
    "files": _table(
        "BIGINT",
        "{key} * 10000000000",
        content=("BYTEA", _some(f"decode({_LARGE}, 'hex') || decode({_LARGE}, 'hex')", r"'\x00'")),
        kind=("TEXT", _some(_LARGE, "'pdf'")),
    ),
    "papers": _table(
        "UUID",
        "md5({key}::text)::uuid",
        written=("JSON", _some(f"json_build_object('a', {_LARGE})", "'[1.50]'")),
        parsed=("JSONB", _some(f"jsonb_build_object('a', {_LARGE}, 'n', {{r}})", "'{{}}'")),
    ),
    "series": _table("INT", "{key}", whole=("INT[]", _list("{r} + {i}")), big=("BIGINT[]", _list("{r} * 10000000000"))),
    "tags": _table(
        "VARCHAR(20)",
        "'t' || {key}",
        words=("TEXT[]", _list("'w{r}' || {i}")),
        short=("VARCHAR(10)[]", _list("('v{r}')::varchar(10)")),
        fixed=("CHAR(5)[]", _list("('{r}')::char(5)")),
    ),
    "links": _table(
        "DATE",
        "date '2000-01-01' + {key}",
        targets=("UUID[]", _list("md5('{r}-' || {i})::uuid", 300)),
        days=("DATE[]", _list("date '1969-01-01' + {r} + {i}")),
    ),
    "packs": _table(
        "SMALLINT",
        "{key}",
        parsed=("JSONB[]", _list("jsonb_build_object('a', {r} + {i})")),
        written=("JSON[]", _list("json_build_object('a', {r} + {i})")),
        chunks=("BYTEA[]", _list("decode(md5('{r}'), 'hex')")),
    ),
    "searches": _table(
        "NUMERIC(12, 2)",
        "{key} + 0.25",
        vector=(
            "TSVECTOR",
            _some("array_to_tsvector(ARRAY(SELECT 'w{r}_' || i FROM generate_series(1, 500) i))", "''"),
        ),
        note=("TEXT", _some(_LARGE, "'n'")),
    ),
    "samples": _table(
        "INT",
        "{key}",
        small=("SMALLINT[]", _list("({r} + {i})::smallint", 1900)),
        singles=("REAL[]", _list("{i} + 0.5::real")),
        doubles=("DOUBLE PRECISION[]", _list("{i} / 7.0::double precision")),
        prices=("NUMERIC(10, 2)[]", _list("({r} + {i} / 100.0)::numeric(10, 2)")),
        flags=("BOOLEAN[]", _list("({r} + {i}) % 2 = 0", 3000)),
        moments=("TIMESTAMP[]", _list("timestamp '2024-02-29 12:34:56.789012' + {i} * interval '1 hour'")),
        zoned=("TIMESTAMPTZ[]", _list("timestamptz '2024-02-29 12:34:56.789012+02' + {i} * interval '1 hour'")),
        moods=("mood[]", _list("'ok'::mood", 1200)),
        digits=("NUMERIC", _some("repeat('1{r}234567', 400)::numeric", "{r} / 16.0")),
    )._replace(has_placeholders=False),
}
