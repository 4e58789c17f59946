from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
from annotated_types import Ge, Le

from millrace.errors import OptionsError
from millrace.options import option
from millrace.options.parser import OptionParser


def hexadecimal(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise ValueError("expected hexadecimal digits") from None


@dataclass(frozen=True)
class Needed:
    id: str = option("the.id", doc="An identity.")


@dataclass(frozen=True)
class Paint:
    colour: Literal["red", "green"] = option("colour", default="red", doc="A colour.")
    coats: Annotated[int, Ge(1), Le(9)] = option("coats", default=1, doc="How many.", aliases=("layers",))
    code: int = option("code", default=0, doc="A code.", parse=hexadecimal)
    opacity: float = option("opacity", default=1.0, doc="How opaque.")
    password: int = option("password", default=0, doc="A secret that is a number.")
    pin_token: int = option("pin.token", default=0, doc="A secret with its own parser.", parse=hexadecimal)

    def __post_init__(self) -> None:
        if self.colour == "green" and self.coats == 9:
            raise ValueError("colour green and 9 coats exclude each other")


@dataclass(frozen=True)
class Roof:
    code: int = option("code", default=0, doc="A code.", parse=hexadecimal)
    pitch: int = option("pitch", default=30, doc="Degrees.")


def problems(given: dict[str, str], *sides: type, extra: Callable[[OptionParser], None] | None = None) -> list[str]:
    parser = OptionParser("paint", given)
    for side in sides or (Paint,):
        parser.take(side)
    if extra:
        extra(parser)
    with pytest.raises(OptionsError) as error:
        parser.finish()
    return list(error.value.problems)


@dataclass(frozen=True)
class Open:
    properties: tuple[tuple[str, str], ...] = option("properties.*", default=(), doc="Whatever there is.")


def test_an_open_option_takes_all_that_begin_as_it_does() -> None:
    given = {"paint.properties.b.C": "1", "value.paint.properties.a": "2", "PAINT.properties.a": "2"}
    parser = OptionParser("paint", given)
    assert parser.take(Open, "value.paint.", "paint.") == Open((("a", "2"), ("b.c", "1")))
    parser.finish()


def test_what_an_open_option_gets_twice_must_be_the_same() -> None:
    given = {"paint.properties.a": "1", "value.paint.properties.a": "2"}
    problem = "'paint.properties.a' is given in two ways that differ; give one of them"
    assert problems(given, extra=lambda parser: parser.take(Open, "value.paint.", "paint.") and None) == [problem]


def test_what_is_given_is_parsed_and_the_rest_has_its_default() -> None:
    parser = OptionParser("paint", {"COLOUR": "green", "code": "ff"})
    assert parser.take(Paint) == Paint(colour="green", code=255)
    parser.finish()


@dataclass(frozen=True)
class Wall:
    side: Literal["ALL", "Left-Side"] | None = option("side", default=None, doc="Or none.")


@pytest.mark.parametrize(
    ("cls", "name", "text", "value"),
    [
        (Paint, "colour", "GREEN", "green"),
        (Wall, "side", "all", "ALL"),
        (Wall, "side", "left-SIDE", "Left-Side"),
    ],
)
def test_a_choice_is_given_in_any_case(cls: type, name: str, text: str, value: str) -> None:
    parser = OptionParser("paint", {name: text})
    assert getattr(parser.take(cls), name) == value
    parser.finish()


def test_one_problem_reads_as_one_line() -> None:
    parser = OptionParser("paint", {"colour": "blue"})
    parser.take(Paint)
    with pytest.raises(OptionsError) as error:
        parser.finish()
    assert str(error.value) == "wrong paint options: option 'colour': expected one of red, green; got 'blue'"


def test_several_problems_are_told_at_once_one_a_line() -> None:
    parser = OptionParser("paint", {"colour": "blue", "coats": "0", "gloss": "1"})
    parser.take(Paint)
    with pytest.raises(OptionsError) as error:
        parser.finish()
    assert str(error.value) == (
        "wrong paint options, 3 problems:\n"
        "  - option 'colour': expected one of red, green; got 'blue'\n"
        "  - option 'coats': expected greater than or equal to 1; got '0'\n"
        "  - unknown option 'gloss'"
    )


def test_a_problem_of_a_parser_does_not_hide_those_of_other_options() -> None:
    assert problems({"code": "xyz", "coats": "0"}) == [
        "option 'code': expected hexadecimal digits; got 'xyz'",
        "option 'coats': expected greater than or equal to 1; got '0'",
    ]


def test_a_problem_of_an_option_that_two_sides_share_is_told_once() -> None:
    assert problems({"code": "xyz"}, Paint, Roof) == ["option 'code': expected hexadecimal digits; got 'xyz'"]


def test_a_problem_that_the_first_side_has_does_not_hide_those_of_the_second() -> None:
    assert problems({"code": "xyz", "pitch": "steep"}, Paint, Roof) == [
        "option 'code': expected hexadecimal digits; got 'xyz'",
        "option 'pitch': expected a whole number; got 'steep'",
    ]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("coats", "two", "expected a whole number"),
        ("coats", "1.5", "expected a whole number"),
        ("coats", "10", "expected less than or equal to 9"),
        ("layers", "10", "expected less than or equal to 9"),
        ("opacity", "thick", "expected a valid number, unable to parse string as a number"),
        ("colour", "gren", "expected one of red, green (did you mean 'green'?)"),
        ("colour", "", "expected one of red, green"),
    ],
)
def test_a_wrong_value_says_what_was_expected(name: str, text: str, expected: str) -> None:
    assert problems({name: text}) == [f"option {name!r}: {expected}; got {text!r}"]


def test_a_missing_option_is_told_with_its_name() -> None:
    assert problems({}, Needed) == ["option 'the.id' is required"]


def test_a_missing_option_is_told_with_the_prefix_that_it_needs() -> None:
    assert problems({}, extra=lambda parser: parser.take(Needed, "value.acme.", "acme.") and None) == [
        "option 'acme.the.id' is required"
    ]


def test_what_the_class_itself_checks_is_told_in_its_words() -> None:
    assert problems({"colour": "green", "coats": "9"}) == ["colour green and 9 coats exclude each other"]


def test_the_name_is_spelled_as_declared_however_it_was_given() -> None:
    assert problems({"COATS": "x"}) == ["option 'coats': expected a whole number; got 'x'"]


def test_a_misspelled_name_is_told_with_the_nearest() -> None:
    assert problems({"color": "red"}) == ["unknown option 'color'; did you mean 'colour'?"]


def test_a_name_like_no_other_is_told_alone() -> None:
    assert problems({"zzz": "red"}) == ["unknown option 'zzz'"]


def test_a_name_of_another_side_may_be_the_nearest() -> None:
    assert problems({"propertis.x": "1"}, extra=lambda parser: parser.expect("properties.x")) == [
        "unknown option 'propertis.x'; did you mean 'properties.x'?"
    ]


def test_aliases_that_agree_are_accepted() -> None:
    parser = OptionParser("paint", {"coats": "2", "layers": "2"})
    assert parser.take(Paint) == Paint(coats=2)
    parser.finish()


def test_aliases_that_differ_are_refused() -> None:
    assert problems({"coats": "2", "layers": "3"}) == [
        "'coats' and 'layers' mean the same option but differ; give one of them"
    ]


def test_one_name_in_two_spellings_that_differ_is_refused() -> None:
    assert problems({"coats": "2", "Coats": "3"}) == [
        "'coats' and 'Coats' mean the same option but differ; give one of them"
    ]


def test_prefixes_stand_before_names_and_aliases() -> None:
    for name in ("value.acme.coats", "acme.coats", "Value.Acme.Layers", "acme.layers"):
        parser = OptionParser("paint", {name: "4"})
        assert parser.take(Paint, "value.acme.", "acme.") == Paint(coats=4)
        parser.finish()


def test_prefixes_that_differ_are_refused() -> None:
    parser = OptionParser("paint", {"value.acme.coats": "4", "acme.coats": "5"})
    parser.take(Paint, "value.acme.", "acme.")
    with pytest.raises(OptionsError, match=r"'value\.acme\.coats' and 'acme\.coats' mean the same option but differ"):
        parser.finish()


def test_a_misspelled_name_behind_a_prefix_is_told_with_the_nearest() -> None:
    parser = OptionParser("paint", {"acme.color": "red"})
    parser.take(Paint, "value.acme.", "acme.")
    with pytest.raises(OptionsError, match=r"unknown option 'acme\.color'; did you mean 'acme\.colour'\?"):
        parser.finish()


def test_taking_a_prefix_takes_all_behind_it_without_it() -> None:
    parser = OptionParser("paint", {"properties.A.b": "1", "Properties.c": "2"})
    assert parser.take_prefixed("properties.") == {"a.b": "1", "c": "2"}
    parser.finish()


def test_a_prefix_is_compared_without_case() -> None:
    parser = OptionParser("paint", {"JSON.x": "1"})
    assert parser.take_prefixed("JSON.") == {"x": "1"}
    parser.finish()


def test_an_option_may_be_taken_by_several_sides() -> None:
    parser = OptionParser("paint", {"code": "a"})
    assert (parser.take(Paint), parser.take(Roof)) == (Paint(code=10), Roof(code=10))
    parser.finish()


@pytest.mark.parametrize("name", ["password", "pin.token"])
def test_a_secret_is_not_shown_when_it_is_wrong(name: str) -> None:
    (problem,) = problems({name: "hush"})
    assert problem.endswith("got a value that is not shown")
    assert "hush" not in problem


def test_an_unknown_option_is_told_without_its_value() -> None:
    assert "hush" not in problems({"passwd": "hush"})[0]


def test_problems_are_told_with_the_options_that_they_are_about() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Options:
        number: int = option("number", default=1, doc="A number.")
        needed: str = option("needed", default=None, doc="A text.", parse=_refuse)
        required: str = option("required", doc="A text.")

    parser = OptionParser("source", {"Number": "x", "needed": "y", "nmber": "1"}, hidden=("needed",))
    parser.take(Options)
    assert parser.named_problems() == (
        ("needed", "option 'needed': a value that is not shown is wrong"),
        ("Number", "option 'number': expected a whole number; got 'x'"),
        (None, "option 'required' is required"),
        ("nmber", "unknown option 'nmber'; did you mean 'number'?"),
    )


def _refuse(text: str) -> str:
    raise ValueError(f"expected another text than {text}")
