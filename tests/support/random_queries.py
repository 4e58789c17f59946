"""Random queries over a table of changes, from the clauses that streams have."""

from __future__ import annotations

from hypothesis import strategies as st

_INTEGERS = ["v", "-v", "v + 2", "v * 3", "COALESCE(v, 0)", "CASE WHEN v > 2 THEN 1 ELSE v END"]
_NUMBERS = [*_INTEGERS, "m", "m - v", "x", "x * 2"]
_TEXTS = ["name", "name || '!'", "COALESCE(name, 'none')", "CAST(v AS STRING)"]
_CONDITIONS = [
    "v > 2",
    "v IS NULL",
    "m < 5",
    "x BETWEEN 0 AND 5",
    "name = 'a'",
    "name IN ('b', 'c')",
    "name LIKE '%d'",
    "id <> 1",
    "v IS DISTINCT FROM 2",
]
_HAVING = ["COUNT(*) > 1", "SUM(v) > 3", "MIN(v) < 4", "COUNT(DISTINCT v) = 1"]
_GROUPS = ["name", "v", "id", "v % 2", "name = 'a'", "m"]

numbers = st.sampled_from(_NUMBERS)
texts = st.sampled_from(_TEXTS)
conditions = st.recursive(
    st.sampled_from(_CONDITIONS),
    lambda inner: st.one_of(
        inner.map("NOT ({})".format),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda parts: "({} {} {})".format(*parts)),
    ),
    max_leaves=3,
)
"""Conditions over the columns of a row."""


@st.composite
def _aggregates(draw: st.DrawFn) -> str:
    call = draw(
        st.one_of(
            st.just("COUNT(*)"),
            st.tuples(st.sampled_from(["COUNT({})", "COUNT(DISTINCT {})"]), st.one_of(numbers, texts)),
            st.tuples(st.sampled_from(["SUM({})", "AVG(CAST({} AS DOUBLE))", "MIN({})", "MAX({})"]), numbers),
            st.tuples(st.sampled_from(["MIN({})", "MAX({})"]), texts),
        )
    )
    call = call if isinstance(call, str) else call[0].format(call[1])
    condition = draw(st.none() | conditions)
    return call if condition is None else f"{call} FILTER (WHERE {condition})"


# Texts that an order would change are put in one
_lists = st.one_of(
    texts.map("ARRAY_JOIN(SORT_ARRAY(COLLECT_LIST({})), ',')".format),
    texts.map("LENGTH(LISTAGG({}, ','))".format),
    numbers.map("TO_JSON(SORT_ARRAY(COLLECT_LIST(DISTINCT {})))".format),
)


@st.composite
def _sources(draw: st.DrawFn) -> str:
    """Draw what a query reads: the table, a query over it, or its join with a table that stays."""
    where = draw(st.none() | conditions)
    filtered = "t" if where is None else f"(SELECT * FROM t WHERE {where})"
    kind = draw(st.sampled_from(["table", "query", "join"]))
    if kind == "query":
        name, number = draw(texts), draw(st.sampled_from(_INTEGERS))
        return f"(SELECT stream, id, {name} AS name, {number} AS v, m, x FROM t) AS t"
    if kind == "join":
        side, on = draw(st.sampled_from(["JOIN", "LEFT JOIN"])), draw(st.sampled_from(["", " AND a.v > n.weight"]))
        return (
            f"(SELECT a.stream, a.id, n.title AS name, a.v, a.m, a.x FROM {filtered} AS a {side} names AS n "
            f"ON a.name = n.name{on}) AS t"
        )
    return f"{filtered} AS t"


@st.composite
def row_queries(draw: st.DrawFn) -> str:
    """Draw a query of rows: a projection and a filter, or two of them, one behind the other."""
    items = draw(st.lists(st.one_of(numbers, texts), min_size=1, max_size=3))
    columns = ", ".join(f"{item} AS c{number}" for number, item in enumerate(items))
    keys = "stream, id, " if draw(st.booleans()) else "stream, "
    query = f"SELECT {keys}{columns} FROM {draw(_sources())}"
    where = draw(st.none() | conditions)
    if where is not None:
        query += f" WHERE {where}"
    if draw(st.booleans()):
        name = draw(st.sampled_from(["stream", "c0"]))
        query = f"SELECT stream, c0 FROM ({query}) AS q WHERE {name} IS NOT NULL"
        return f"{query} UNION ALL SELECT stream, {items[0]} AS c0 FROM t" if draw(st.booleans()) else query
    return query


@st.composite
def group_queries(draw: st.DrawFn, *, with_lists: bool = False) -> str:
    """Draw a query of groups: aggregates, some of them filtered, and conditions before and behind the groups.

    Args:
        draw: Draws.
        with_lists: Whether one of the aggregates has all values of a group.
    """
    groups = draw(st.lists(st.sampled_from(_GROUPS), max_size=2, unique=True))
    if draw(st.booleans()) and groups and not with_lists:
        columns = ", ".join(f"{group} AS g{number}" for number, group in enumerate(groups))
        return f"SELECT DISTINCT stream, {columns} FROM {draw(_sources())}"
    aggregates = draw(st.lists(_aggregates(), min_size=1, max_size=4))
    aggregates += [draw(_lists)] if with_lists else []
    aggregates += ["SUM(v) / COUNT(*)"] if draw(st.booleans()) else []
    items = [f"{group} AS g{number}" for number, group in enumerate(groups)]
    items += [f"{aggregate} AS a{number}" for number, aggregate in enumerate(aggregates)]
    columns = ", ".join(("stream", *items))
    query = f"SELECT {columns} FROM {draw(_sources())}"
    where, having = draw(st.none() | conditions), draw(st.none() | st.sampled_from(_HAVING))
    query += f" WHERE {where}" if where is not None else ""
    query += f" GROUP BY {', '.join(('stream', *groups))}"
    query += f" HAVING {having}" if having is not None else ""
    return f"SELECT * FROM ({query}) AS q WHERE a0 IS NOT NULL" if draw(st.booleans()) else query


@st.composite
def first_row_queries(draw: st.DrawFn) -> str:
    """Draw a query of the first rows of a key, or of groups of them."""
    key, order = draw(st.sampled_from(["", ", name", ", v"])), draw(st.sampled_from(["v", "m", "x", "name"]))
    direction = draw(st.sampled_from(["", " DESC", " NULLS LAST", " DESC NULLS FIRST"]))
    # No two rows of a stream have an id, so that none come first together
    numbered = (
        f"SELECT *, ROW_NUMBER() OVER (PARTITION BY stream{key} ORDER BY {order}{direction}, id) AS rn "
        f"FROM {draw(_sources())}"
    )
    number = draw(st.sampled_from(["rn = 1", "rn = 1", "rn <= 2"]))
    query = f"SELECT stream, id, name, v, m, x FROM ({numbered}) AS q WHERE {number}"
    if draw(st.booleans()):
        return f"SELECT stream, {draw(_aggregates())} AS a0, COUNT(*) AS n FROM ({query}) AS first GROUP BY stream"
    return query


@st.composite
def join_queries(draw: st.DrawFn) -> str:
    """Draw a regular join of two queries of changes by a key, or groups of its rows."""

    def side() -> str:
        where = draw(st.none() | conditions)
        return "t" if where is None else f"(SELECT * FROM t WHERE {where})"

    join = draw(st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]))
    left, right = draw(st.sampled_from([("id", "id"), ("v", "v"), ("name", "name"), ("v", "id"), ("x", "x")]))
    joined = (
        "SELECT a.stream AS stream, b.stream AS other, a.id, b.id AS partner, b.name, a.v, b.m, a.x "
        f"FROM {side()} AS a {join} {side()} AS b ON a.stream = b.stream AND a.{left} = b.{right}"
    )
    if draw(st.booleans()):
        group = draw(st.sampled_from(["name", "partner"]))
        return f"SELECT other, {group}, {draw(_aggregates())} AS a0 FROM ({joined}) AS j GROUP BY other, {group}"
    where = draw(st.none() | st.sampled_from(["v IS NOT NULL", "partner > 1", "m < 5"]))
    return joined if where is None else f"SELECT * FROM ({joined}) AS j WHERE {where}"


_OF_GROUPS = ["COUNT(*)", "SUM(n)", "MAX(s)", "MIN(s)", "COUNT(DISTINCT s)", "SUM(s) FILTER (WHERE n > 1)", "MAX(g)"]


@st.composite
def groups_of_groups_queries(draw: st.DrawFn) -> str:
    """Draw a query of groups whose rows are the results of groups."""
    inner = (
        f"SELECT stream, {draw(st.sampled_from(_GROUPS))} AS g, COUNT(*) AS n, SUM(v) AS s, {draw(_aggregates())} AS a "
        f"FROM {draw(_sources())}"
    )
    where, having = draw(st.none() | conditions), draw(st.none() | st.sampled_from(_HAVING))
    inner += f" WHERE {where}" if where is not None else ""
    inner += " GROUP BY stream, g"
    inner += f" HAVING {having}" if having is not None else ""
    groups = ", ".join(["stream", *draw(st.lists(st.sampled_from(["n", "s", "a"]), max_size=2, unique=True))])
    aggregates = draw(st.lists(st.sampled_from(_OF_GROUPS), min_size=1, max_size=3, unique=True))
    items = ", ".join(f"{aggregate} AS b{number}" for number, aggregate in enumerate(aggregates))
    return f"SELECT {groups}, {items} FROM ({inner}) AS q GROUP BY {groups}"


KINDS = {
    "rows": row_queries(),
    "groups": group_queries(),
    "groups with lists": group_queries(with_lists=True),
    "first rows": first_row_queries(),
    "joins": join_queries(),
    "groups of groups": groups_of_groups_queries(),
}
"""Queries by their kind."""
