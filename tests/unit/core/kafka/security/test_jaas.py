from __future__ import annotations

import pytest

from millrace.kafka.security.jaas import JaasError, parse_jaas

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        (f'{PLAIN} required username="u" password="p";', "PlainLoginModule", {"username": "u", "password": "p"}),
        ('shaded.kafka.a.b.ScramLoginModule required a="1";', "ScramLoginModule", {"a": "1"}),
        ("PlainLoginModule REQUISITE\n\ta  =  '1'\r\n;", "PlainLoginModule", {"a": "1"}),
        ("M required;", "M", {}),
        ("M required a=1 b=2;", "M", {"a": "1", "b": "2"}),
        ("M required a='1'b=\"2\";", "M", {"a": "1", "b": "2"}),
        ('M required a="";', "M", {"a": ""}),
        ('M required a="x" a="y";', "M", {"a": "y"}),
        ("M required a=\"it's; = / 'so'\";", "M", {"a": "it's; = / 'so'"}),
        ("M required a='say \"so\"';", "M", {"a": 'say "so"'}),
        (r'M required a="q\" b\\ t\t n\n o\101 \3777 \477";', "M", {"a": "q\" b\\ t\t n\n oA \xff7 '7"}),
        ('M required a="\u00e9\u4e2d\U0001f600" b=\u4e2d;', "M", {"a": "\u00e9\u4e2d\U0001f600", "b": "\u4e2d"}),
        ("/* who */ M required // why\n a=1 /* what */ ; // end", "M", {"a": "1"}),
        # As in Java, a quote that is not closed ends with its line
        ('M required a="x\n;', "M", {"a": "x"}),
    ],
)
def test_what_java_reads_is_read(text: str, name: str, options: dict[str, str]) -> None:
    module = parse_jaas(text)
    assert (module.name, dict(module.options)) == (name, options)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (r"M required username=\"u\" password=\"p q;\";", {"username": "u", "password": "p q;"}),
        (r"M required a= \"x\\\\y\";", {"a": r"x\y"}),
        # These are Kafka's own escapes
        (r'M required a="b=\"c\"";', {"a": 'b="c"'}),
        (r"M required a='b=\"c\"';", {"a": 'b="c"'}),
    ],
)
def test_quotes_that_are_all_escaped_are_those_of_sql(text: str, options: dict[str, str]) -> None:
    assert dict(parse_jaas(text).options) == options


END = "; it ends there, perhaps for a quote that is not closed or a '/' without quotes"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", f"at character 1, expected the class of a login module{END}"),
        ("hush", f"at character 5, expected 'required'{END}"),
        ("M hush;", "after the class of the login module, expected 'required'"),
        ('M required password="hush"', f"at character 27, expected name=\"value\", or ';' at the end{END}"),
        ('M required password="hush;', f"at character 27, expected name=\"value\", or ';' at the end{END}"),
        ("M required password=hu/sh;", f"at character 27, expected name=\"value\", or ';' at the end{END}"),
        (
            "M required password=hu sh;",
            "at character 26, expected '='; values with spaces or any of ; = / need quotes, and quotes inside of "
            "quotes a backslash",
        ),
        ("M required password=;", "at character 21, expected a value, in double quotes"),
        ("M required = hush;", "at character 12, expected name=\"value\", or ';' at the end"),
        ("M required; M required;", "at character 13, there is a second entry; give one login module"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place_and_not_shown(text: str, problem: str) -> None:
    with pytest.raises(JaasError) as error:
        parse_jaas(text)
    assert str(error.value) == problem
    assert "hu" not in str(error.value)


def test_the_text_of_a_module_shows_no_values() -> None:
    assert "hush" not in repr(parse_jaas('M required password="hush";'))
