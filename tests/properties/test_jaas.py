"""A login configuration that is written by the rules of Java is read back as it was."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from millrace.kafka.security.jaas import JaasError, parse_jaas

ESCAPES = {"\\": r"\\", "\n": r"\n", "\r": r"\r"}
SPACES = st.text(" \t\r\n", min_size=1, max_size=3)
WORDS = st.text("abcXYZ0123456789._-", min_size=1)


@st.composite
def quoted(draw: st.DrawFn, value: str) -> str:
    quote = draw(st.sampled_from("\"'"))
    octal = draw(st.booleans())
    written = [
        f"\\{ord(char):03o}" if octal and ord(char) < 256 else ESCAPES.get(char, f"\\{char}" if char == quote else char)
        for char in value
    ]
    return quote + "".join(written) + quote


@st.composite
def configurations(draw: st.DrawFn) -> tuple[str, dict[str, str], str]:
    name = draw(WORDS.filter(lambda word: not word.endswith(".")))
    options = draw(st.dictionaries(WORDS, st.text(), max_size=4))
    space = draw(SPACES)
    pairs = [f"{key}{draw(st.sampled_from(['=', ' = ']))}{draw(quoted(value))}" for key, value in options.items()]
    return name, options, space.join([name, "required", *pairs]) + draw(st.sampled_from([";", " ; "]))


@given(configurations())
def test_reading_is_the_inverse_of_writing(made: tuple[str, dict[str, str], str]) -> None:
    name, options, text = made
    module = parse_jaas(text)
    assert (module.name, dict(module.options)) == (name.rpartition(".")[2], options)


@given(st.text() | st.text("Mab =;'\"\\/*0\n"))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(JaasError):
        assert parse_jaas(text).name
