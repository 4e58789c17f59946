"""Options out of programs, which are parsed and never executed."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace_cli.converting.dialect import Side
from millrace_cli.converting.python_options import parse_python

BROKERS = {"kafka.bootstrap.servers": "h:1"}


@pytest.mark.parametrize(
    ("text", "options", "side"),
    [
        (
            'spark.readStream.format("kafka").option("kafka.bootstrap.servers", "h:1").option("subscribe", "t").load()',
            {**BROKERS, "subscribe": "t"},
            Side.READ,
        ),
        (
            '.option("kafka.bootstrap.servers", "h:1")\n.option("minPartitions", 4)',
            {**BROKERS, "minPartitions": "4"},
            None,
        ),
        (
            'spark.read.format("kafka").options(subscribe="t", failOnDataLoss=False)',
            {"subscribe": "t", "failOnDataLoss": "false"},
            Side.READ,
        ),
        (
            'SERVERS = "h:1"\nrows.write.format("kafka").option("kafka.bootstrap.servers", SERVERS).save()',
            BROKERS,
            Side.WRITE,
        ),
        (
            'from names import *\nSERVERS: str = "h:1"\nspark.read.format("kafka")'
            '.option("kafka.bootstrap.servers", SERVERS)',
            BROKERS,
            Side.READ,
        ),
        (
            'kafka = {"kafka.bootstrap.servers": "h:1"}\nspark.read.format("kafka").options(**kafka).load()',
            BROKERS,
            Side.READ,
        ),
        (
            '    rows.write.format("kafka").option(key="topic", value="a").option("topic", "b")',
            {"topic": "b"},
            Side.WRITE,
        ),
        (
            'a = (spark.readStream.format("kafka").option("subscribe", "t").load()\n'
            '  .writeStream.format("console").option("truncate", False).start())',
            {"subscribe": "t"},
            Side.READ,
        ),
    ],
)
def test_options_are_read(text: str, options: dict[str, str], side: Side | None) -> None:
    parsed = parse_python(text, ("kafka",))
    assert (parsed.options, parsed.side, parsed.unreadable) == (options, side, {})


def test_what_only_a_run_tells_is_named(tmp_path) -> None:
    trap = tmp_path / "executed"
    parsed = parse_python(
        f'spark.read.format("kafka").option("kafka.bootstrap.servers", open({str(trap)!r}, "w"))'
        '.option("kafka.ssl.key.password", "pre" + suffix).options(**load(password="hidden"))'
        '.option(names.get("hidden"), "t").option("subscribe", "hidden" + suffix)',
        ("kafka",),
    )
    assert parsed.options == {}
    assert parsed.unreadable == {
        "kafka.bootstrap.servers": "only a run tells its value, open(...)",
        "kafka.ssl.key.password": "only a run tells its value",
        "**load(...)": "only a run tells the options of load(...)",
        "names.get(...)": "only a run tells the name of the option names.get(...)",
        "subscribe": "only a run tells its value",
    }
    assert not trap.exists()


@pytest.mark.parametrize(
    "program",
    [
        'x = "orders"; x += "2"',
        'x = "orders"\nx: str = "payments"',
        'x = "orders"\n(x := "payments")',
        'x = "orders"\nfor x in ("a", "b"): pass',
        'x = "orders"\nfor y, (x, *z) in pairs: pass',
        'x = "orders"\nwith open("f") as x: pass',
        'x = "orders"\ntry: pass\nexcept OSError as x: pass',
        'x = "orders"\nimport names as x',
        'x = "orders"\nimport x.y',
        'x = "orders"\nfrom names import x',
        'x = "orders"\nfrom names import *',
        'x = "orders"\ndef f(x): pass',
        'x = "orders"\ndef f(*x): pass',
        'x = "orders"\ndef f():\n  global x',
        'x = "orders"\ndef x(): pass',
        'x = "orders"\nclass x: pass',
        'x = "orders"\nmatch y:\n  case {**x}: pass',
        'x = "orders"\nmatch y:\n  case [*x]: pass',
        'x = "orders"\nmatch y:\n  case str() as x: pass',
        'x = "orders"\ndel x',
        'for x in ("orders",): pass',
        "x: str\n",
    ],
)
def test_a_name_that_is_bound_in_another_way_has_no_value(program: str) -> None:
    parsed = parse_python(f'{program}\nspark.read.format("kafka").option("subscribe", x)', ("kafka",))
    assert (parsed.options, parsed.unreadable) == ({}, {"subscribe": "only a run tells its value, x"})


@pytest.mark.parametrize(
    "change", ['x["subscribe"] = "b"', 'x.update(subscribe="b")', 'x |= {"subscribe": "b"}', 'del x["subscribe"]']
)
def test_a_dictionary_that_is_changed_has_no_value(change: str) -> None:
    parsed = parse_python(f'x = {{"subscribe": "a"}}\n{change}\nspark.read.format("kafka").options(**x)', ("kafka",))
    assert (parsed.options, parsed.unreadable) == ({}, {"**x": "only a run tells the options of x"})


def test_a_dictionary_with_its_own_former_value_is_left_to_a_run() -> None:
    parsed = parse_python('x = {**x, "subscribe": "a"}\nspark.read.format("kafka").options(**x)', ("kafka",))
    assert (parsed.options, list(parsed.unreadable)) == ({"subscribe": "a"}, ["**x"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spark.read.format('kafka'", "the text is not valid Python"),
        ("print('kafka')", "expected one read or write of format 'kafka'; there are 0"),
        (
            "\n".join(f'{name} = spark.read.format("kafka").option("subscribe", "{name}")' for name in "ab"),
            "there are 2, in lines 1, 2",
        ),
        ('name = "kafka"\nname = "x"\nspark.read.format(name).option("a", "b")', "there are 0"),
    ],
)
def test_a_text_without_one_read_or_write_is_refused(text: str, expected: str) -> None:
    with pytest.raises(OptionsError, match=expected):
        parse_python(text, ("kafka",))
