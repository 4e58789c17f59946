r"""Tables that patterns match, and the tables that routes lead to.

The cases are those of Flink CDC's pages on routes and transforms, and of the rules by which it reads patterns.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace_cdc.definitions.rules import RouteRule
from millrace_cdc.routing.patterns import RoutePattern, TableSelector, split
from millrace_cdc.routing.router import Router
from millrace_cdc.table_id import TableId

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
IDS = st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: TableId.of(*parts))


def rule(source: str, sink: str, symbol: str | None = None) -> RouteRule:
    return RouteRule(source_table=source, sink_table=sink, replace_symbol=symbol)


@pytest.mark.parametrize(
    ("pattern", "matched", "not_matched"),
    [
        (
            "mydb.web_order",
            ["mydb.web_order"],
            ["mydb.web_orders", "mydb_web_order", "a.mydb.web_order", "MYDB.web_order"],
        ),
        (r"mydb\.*", ["mydb.orders", "mydb", "mydb_2.orders"], ["db.orders"]),
        (r"mydb.\.*", ["mydb.orders", "mydb.a.b"], ["mydb", "mydb_2.orders"]),
        (r"db.[a-z]+", ["db.orders"], ["db.orders2", "db."]),
        (r"db.(a|b)_\.*", ["db.a_1", "db.b_"], ["db.c_1"]),
        ("mydb.t1, mydb.t2", ["mydb.t1", "mydb.t2"], ["mydb.t3"]),
        (r"db.t[0-9]{1,2}", ["db.t1", "db.t12"], ["db.t123"]),
        (r"db.a\d+,x.\.*", ["db.a1", "x.y"], ["db.a"]),
        (r"a\.b", ["axb", "a.b"], ["a..b"]),
        ("orders", ["orders"], ["db.orders"]),
        (r"\.*.\.*", ["a.b", "a.b.c"], ["a"]),
    ],
)
def test_a_routes_pattern_is_matched_with_the_whole_id(pattern, matched, not_matched):
    found = RoutePattern(pattern)
    ids = [each for each in not_matched if each.count(".") < 3 and not each.endswith(".") and ".." not in each]
    assert [each for each in matched if not found.match(TableId.parse(each))] == []
    assert [each for each in ids if found.match(TableId.parse(each))] == []


@pytest.mark.parametrize(
    ("pattern", "matched", "not_matched"),
    [
        ("mydb.web_order", ["mydb.web_order", "MyDB.Web_Order", "web_order"], ["mydb.web", "a.mydb.web_order"]),
        (r"\.*.\.*", ["a.b", "a"], ["a.b.c"]),
        (r"\.*.\.*.\.*", ["a.b.c", "a.b", "a"], []),
        (r"db\.*", ["db1", "db"], ["db.orders", "adb"]),
        (r"db.\.*", ["db.orders"], ["db2.orders"]),
        (r"db.order_[a-c]{2,3}, x.y", ["db.order_ab", "X.y"], ["db.order_a", "db.order_ad"]),
        (r"db.(a|b)", ["db.a", "db.b"], ["db.ab"]),
    ],
)
def test_a_transforms_pattern_is_matched_part_by_part(pattern, matched, not_matched):
    selector = TableSelector(pattern)
    assert [each for each in matched if not selector.matches(TableId.parse(each))] == []
    assert [each for each in not_matched if selector.matches(TableId.parse(each))] == []


@pytest.mark.parametrize("kind", [RoutePattern, TableSelector])
@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "expected the pattern of tables"),
        (" , ", "expected the pattern of tables"),
        ("db.(+", "nothing to repeat"),
        ("db.(a", "missing )"),
        ("db.a\\", "expected a character after the last backslash"),
    ],
)
def test_what_is_no_pattern_is_refused(kind, pattern, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        kind(pattern)


def test_a_transforms_pattern_has_three_parts_at_most():
    with pytest.raises(ValueError, match=re.escape(r"expected one to three parts, but 'a.b.c.d' has 4; a dot divides")):
        TableSelector("a.b.c.d")


@pytest.mark.parametrize(
    ("rules", "mode", "source", "targets"),
    [
        ([rule("mydb.web_order", "mydb.ods_web_order")], "ALL_MATCH", "mydb.web_order", ["mydb.ods_web_order"]),
        ([rule(r"mydb\.*", "mydb.ods_web_order")], "ALL_MATCH", "mydb.order_7", ["mydb.ods_web_order"]),
        ([rule("mydb.orders", "a.b"), rule("mydb.shipments", "c.d")], "ALL_MATCH", "mydb.shipments", ["c.d"]),
        ([rule(r"source_db.\.*", "sink_db.<>", "<>")], "ALL_MATCH", "source_db.t1", ["sink_db.t1"]),
        ([rule(r"\.*.\.*", "<>", "<>")], "ALL_MATCH", "db.t1", ["t1"]),
        ([rule(r"a.\.*", "b.<>_<>", "<>")], "ALL_MATCH", "a.x", ["b.x_x"]),
        ([rule("mydb.t1,mydb.t2", "mytable")], "ALL_MATCH", "mydb.t2", ["mytable"]),
        ([rule("db.(a|b)", "t.one"), rule("db.(b|c)", "t.two")], "ALL_MATCH", "db.b", ["t.one", "t.two"]),
        ([rule("db.(a|b)", "t.one"), rule("db.(b|c)", "t.two")], "FIRST_MATCH", "db.b", ["t.one"]),
        ([rule("db.(a|b)", "t.one"), rule(r"db.\.*", "t.one")], "ALL_MATCH", "db.b", ["t.one"]),
        ([rule(r"db_(\d+).(\.*)", "all.$2_$1")], "ALL_MATCH", "db_07.orders", ["all.orders_07"]),
        ([rule(r"db.(\.)(\.*)", "x.$12")], "ALL_MATCH", "db.abc", ["x.a2"]),
        ([rule("db.a", "x.y")], "ALL_MATCH", "db.ab", ["db.ab"]),
        ([], "FIRST_MATCH", "db.a", ["db.a"]),
    ],
)
def test_routes(rules, mode, source, targets):
    router = Router(rules, mode)
    for _ in range(2):  # the second time from what it has kept
        assert [str(each) for each in router.route(TableId.parse(source))] == targets


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (rule("db.(", "x"), "missing )"),
        (rule("db.(a)", "x.$2"), "there is no group $2: source-table has 1 in parentheses"),
        (rule("db.a", "x.$y"), "expected the number of a group after '$'"),
    ],
)
def test_a_wrong_route_is_refused(wrong, problem):
    with pytest.raises(ValueError, match=re.escape(problem)):
        Router([wrong])


def test_a_route_whose_names_are_no_ids_is_refused_for_the_table():
    with pytest.raises(ValueError, match="expected the id of a table"):
        Router([rule(r"a.(\.*)", "x..$1")]).route(TableId.parse("a.b"))


@given(IDS)
def test_an_id_is_parsed_from_its_text(table):
    assert TableId.parse(str(table)) == table


@pytest.mark.parametrize("text", ["", "a..b", "a.b.c.d", ".a"])
def test_what_is_no_id_is_refused(text):
    with pytest.raises(ValueError, match="expected the id of a table"):
        TableId.parse(text)
    with pytest.raises(ValueError, match="expected the id of a table"):
        TableId.of(*text.split("."))


@given(IDS)
def test_an_id_is_a_pattern_of_itself(table):
    assert RoutePattern(str(table)).match(table)
    assert TableSelector(str(table)).matches(table)


@given(st.lists(IDS, min_size=1, max_size=4), IDS)
def test_a_list_of_ids_matches_those_of_the_list(ids, other):
    pattern = RoutePattern(", ".join(map(str, ids)))
    assert all(pattern.match(each) for each in ids)
    assert bool(pattern.match(other)) == (other in ids)


@given(st.lists(st.tuples(st.sampled_from([r"\.*", r"a\.*", "a", "b", "a,b"]), NAMES), max_size=4), NAMES)
def test_the_first_match_is_the_first_of_all_matches(pairs, name):
    rules = [rule(source, sink) for source, sink in pairs]
    table = TableId.of(name)
    all_matches = Router(rules, "ALL_MATCH").route(table)
    assert Router(rules, "FIRST_MATCH").route(table) == all_matches[:1]
    assert len(set(all_matches)) == len(all_matches) >= 1


@given(IDS, st.lists(NAMES, min_size=1, max_size=2))
def test_a_symbol_is_replaced_by_the_name(table, prefix):
    (target,) = Router([rule(r"\.*", ".".join([*prefix, "<>"]), "<>")]).route(table)
    assert target.parts == (*prefix, table.table)


@given(st.lists(st.text("ab.|*\\d", min_size=1).filter(lambda text: not text.endswith("\\")), min_size=1, max_size=4))
def test_a_pattern_without_commas_is_not_split(parts):
    assert split(",".join(parts), ",") == [each.strip() for each in parts if each.strip()]
