from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pytest

from millrace.options import OptionInfo, option, options_of


@dataclass(frozen=True)
class Options:
    size: int = option("the.size", default=3, doc="How large.", aliases=("size",))
    password: str = option("the.password", doc="A secret.", default="")
    internal: int = 0


def test_options_are_found_by_field_in_order_without_other_fields() -> None:
    assert list(options_of(Options)) == ["size", "password"]
    assert options_of(Options)["size"] == OptionInfo("the.size", "How large.", None, ("size",))


def test_an_option_with_a_default_need_not_be_given() -> None:
    assert Options().size == 3


def test_an_option_without_a_default_must_be_given() -> None:
    needed = dataclasses.make_dataclass("Needed", [("a", str, option("a", doc="Needed."))], frozen=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'a'"):
        needed()


def test_an_option_can_be_hidden_whatever_its_name() -> None:
    field = option("url", doc="A URL.", is_hidden=True)
    hiding = dataclasses.make_dataclass("Hiding", [("url", str, field)], frozen=True)
    assert "hush" not in repr(hiding("http://ann:hush@a"))


def test_the_text_of_an_options_dataclass_shows_no_secret() -> None:
    assert "hush" not in repr(Options(password="hush"))
    assert "size=3" in repr(Options(password="hush"))
