"""Jobs that people run in Flink: what their topics hold, and the tables that they end with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ON_JANUARY_1 = 1_704_067_200_000
"""Midnight in milliseconds."""

USER_FUNCTIONS = "def mask(iban: str) -> str:\n    return iban[:2] + '*' * (len(iban) - 4) + iban[-2:]\n"
"""The module ``rev_udf``."""


@dataclass(frozen=True)
class Job:
    """A job.

    Attributes:
        topics: The values in each topic that it reads, by the names in its script.
        rows: The rows that it ends with, sorted; those of a table with a key by their last values.
        refusal: A pattern of the error where it is refused; empty where it runs.
        keys: The keys of the values of upsert tables.
    """

    topics: Mapping[str, list[Any]]
    rows: list[dict[str, Any]] = field(default_factory=list)
    refusal: str = ""
    keys: tuple[str, ...] = ()


def _at(time: str) -> str:
    return f"2024-01-01 {time}"


def _ms(minutes: float) -> int:
    return ON_JANUARY_1 + int(minutes * 60_000)


_VIEWS = [
    {"usr": 1, "page": "a", "ts": _at("10:00:05")},
    {"usr": 2, "page": "a", "ts": _at("10:00:20")},
    {"usr": 1, "page": "a", "ts": _at("10:00:40")},
    {"usr": 1, "page": "b", "ts": _at("10:00:41")},
    {"usr": 1, "page": "a", "ts": _at("10:01:00")},
    {"usr": 9, "page": "z", "ts": _at("10:20:00")},
]
_PER_MINUTE = [("a", "10:01:00", 3, 2), ("a", "10:02:00", 1, 1), ("b", "10:01:00", 1, 1)]

JOBS = {
    "j01_dedup_first": Job(
        {"pay": [{"pay_id": "a", "amount": 1.5}, {"pay_id": "a", "amount": 2}, {"pay_id": "b", "amount": 3}]},
        [{"pay_id": "a", "amount": 1.5}, {"pay_id": "b", "amount": 3.0}],
    ),
    "j02_dedup_last": Job(
        {
            "read": [
                {"dev": "x", "temp": 1.0, "ts": _at("10:00:02")},
                {"dev": "x", "temp": 2.0, "ts": _at("10:00:01")},
                {"dev": "y", "temp": 3.0, "ts": _at("10:00:00")},
            ]
        },
        [{"dev": "x", "temp": 1.0, "ts": _at("10:00:02")}, {"dev": "y", "temp": 3.0, "ts": _at("10:00:00")}],
    ),
    "j03_topn": Job(
        {
            "sales": [
                {"shop": "s", "item": "i", "qty": 1},
                {"shop": "s", "item": "j", "qty": 2},
                {"shop": "s", "item": "k", "qty": 3},
                {"shop": "s", "item": "i", "qty": 4},
            ]
        },
        [{"shop": "s", "item": "i", "sold": 5, "rn": 1}, {"shop": "s", "item": "k", "sold": 3, "rn": 2}],
    ),
    "j04_group_window": Job(
        {"views": _VIEWS},
        [{"page": page, "w_end": _at(end), "pv": pv, "uv": uv} for page, end, pv, uv in _PER_MINUTE],
    ),
    "j05_tumble_tvf": Job(
        {"views": _VIEWS},
        [
            {"w_start": _at(f"10:0{int(end[4]) - 1}:00"), "w_end": _at(end), "page": page, "pv": pv, "uv": uv}
            for page, end, pv, uv in _PER_MINUTE
        ],
    ),
    "j07_cumulate": Job(
        {
            "orders": [
                {"id": 1, "usr": 1, "at_ms": _ms(0.1)},
                {"id": 2, "usr": 2, "at_ms": _ms(1.02)},
                # Late, but no later than the watermark allows
                {"id": 3, "usr": 3, "at_ms": _ms(0.98)},
                {"id": 4, "usr": 1, "at_ms": _ms(1.5)},
                {"id": 5, "usr": 4, "at_ms": _ms(3.2)},
            ]
        },
        # Windows end where nothing came, too
        [{"w_start": "00:00", "w_end": f"00:0{minute}", "uv": uv} for minute, uv in ((1, 2), (2, 3), (3, 3))],
    ),
    "j08_session_old": Job(
        {
            "clicks": [
                {"usr": "u", "at_ms": _ms(0)},
                {"usr": "u", "at_ms": _ms(0.4)},
                {"usr": "u", "at_ms": _ms(2)},
                {"usr": "v", "at_ms": _ms(1)},
                {"usr": "z", "at_ms": _ms(30)},
            ]
        },
        [
            {"usr": "u", "s": _at("00:00:00Z"), "e": _at("00:00:54Z"), "n": 2},
            {"usr": "u", "s": _at("00:02:00Z"), "e": _at("00:02:30Z"), "n": 1},
            {"usr": "v", "s": _at("00:01:00Z"), "e": _at("00:01:30Z"), "n": 1},
        ],
    ),
    "j10_temporal_rates": Job(
        {"rates": [{"cur": "usd", "rate": 0.9}], "orders": [{"oid": 1, "cur": "usd", "price": 10}]},
        refusal=r"o\.ts, an event time, .* versions are not kept: write FOR SYSTEM_TIME AS OF PROCTIME\(\)",
        keys=("cur",),
    ),
    "j11_lookup_jdbc": Job(
        {"orders": [{"oid": 1, "cid": 7}, {"oid": 2, "cid": 8}]},
        [{"oid": 1, "name": "Ann"}, {"oid": 2, "name": None}],
    ),
    "j12_join_two_cdc": Job(
        {
            "orders": [
                {"op": "c", "before": None, "after": {"oid": 1, "cid": 7, "total": 1.5}},
                {"op": "c", "before": None, "after": {"oid": 2, "cid": 8, "total": 2.5}},
            ],
            "cust": [
                {"op": "c", "before": None, "after": {"cid": 7, "name": "An"}},
                {"op": "u", "before": {"cid": 7, "name": "An"}, "after": {"cid": 7, "name": "Ann"}},
            ],
        },
        [{"oid": 1, "name": "Ann", "total": 1.5}, {"oid": 2, "name": None, "total": 2.5}],
    ),
    "j15_unnest": Job(
        {
            "baskets": [
                {
                    "id": 1,
                    "buyer": {"name": "n", "addr": {"city": "Oslo"}},
                    "lines": [{"sku": "a", "qty": 1}, {"sku": "b", "qty": None}],
                },
                {"id": 2, "buyer": None, "lines": [{"sku": "c", "qty": 3}]},
                {"id": 3, "buyer": None, "lines": []},
                {"id": 4, "buyer": None, "lines": None},
            ]
        },
        [
            {"id": 1, "city": "Oslo", "sku": "a", "qty": 1},
            {"id": 1, "city": "Oslo", "sku": "b", "qty": None},
            {"id": 2, "city": None, "sku": "c", "qty": 3},
        ],
    ),
    "j16_json": Job(
        {
            "raw": [
                json.dumps({"id": 1, "user": {"name": "Ann"}, "tags": ["x", "y"], "attrs": {"b": 1, "a": [2, None]}}),
                json.dumps({"id": "2", "tags": [], "attrs": "text"}),
                json.dumps({"id": None, "attrs": {}}),
                json.dumps({"other": 1}),
                "no json",
            ]
        },
        # The path is strict: a missing name is an error, not empty
        [
            {"id": 1, "name": "Ann", "tag": "x", "attrs": '{"a":[2,null],"b":1}'},
            {"id": 2, "name": None, "tag": None, "attrs": None},
        ],
    ),
    "j17_listagg": Job(
        {"tags": [{"usr": "u", "tag": "a"}, {"usr": "v", "tag": "b"}, {"usr": "u", "tag": "c"}]},
        [{"usr": "u", "all_tags": "a,c", "n": 2}, {"usr": "v", "all_tags": "b", "n": 1}],
    ),
    "j19_udf": Job(
        {"acc": [{"id": 1, "iban": "DE123456"}, {"id": 2, "iban": "FR9999"}]},
        [{"id": 1, "iban": "DE****56"}, {"id": 2, "iban": "FR**99"}],
    ),
    "j21_over": Job(
        {"spend": []}, refusal=r"OVER would need the rows of a stream in their order: group by a window instead"
    ),
    "j23_agg_of_agg": Job(
        {"orders": [{"oid": 1, "usr": 1}, {"oid": 2, "usr": 1}, {"oid": 3, "usr": 2}]},
        [{"orders_per_user": 1, "users": 1}, {"orders_per_user": 2, "users": 1}],
    ),
    "j26_nested_index": Job(
        {
            "sensor": [
                {"op": "r", "data": {"meta": "m", "rows": ["17", "x"]}},
                {"op": "s", "data": {"meta": "m", "rows": ["18"]}},
                {"op": "t", "data": None},
            ]
        },
        [
            {"op": "r", "id": 17, "code": "x"},
            {"op": "s", "id": 18, "code": None},
            {"op": "t", "id": None, "code": None},
        ],
    ),
    "j29_chained_windows": Job(
        {
            "ticks": [
                {"v": 1, "ts": _at("10:00:05Z")},
                {"v": 2, "ts": _at("10:01:05Z")},
                {"v": 4, "ts": _at("10:05:05Z")},
                {"v": 8, "ts": _at("10:30:00Z")},
            ]
        },
        [{"w_start": _at("10:00:00Z"), "n": 3}, {"w_start": _at("10:05:00Z"), "n": 4}],
    ),
}
"""The jobs by the names of their files."""
