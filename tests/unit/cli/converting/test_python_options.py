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
        '.option("kafka.ssl.key.password", "pre" + suffix).options(**more())',
        ("kafka",),
    )
    assert parsed.options == {}
    assert parsed.unreadable == {
        "kafka.bootstrap.servers": f"only a run tells its value, open({str(trap)!r}, 'w')",
        "kafka.ssl.key.password": "only a run tells its value",
        "**more()": "only a run tells the options of more()",
    }
    assert not trap.exists()


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
