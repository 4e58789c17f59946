from __future__ import annotations

import pickle
import re

import pytest

from millrace import errors
from millrace.errors import MillraceError, OptionsError

CLASSES = [each for each in vars(errors).values() if isinstance(each, type) and each.__module__ == errors.__name__]


def drawn_tree() -> dict[str, str | None]:
    """Each class of the module's docstring and the class that it is drawn under."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"^((?:[│ ]   )*(?:[├└]── )?)([A-Z]\w+Error)(?:\s|$)", line)
        if match:
            depth = len(match[1]) // 4
            path[depth:] = [match[2]]
            parents[match[2]] = path[depth - 1] if depth else None
    return parents


def test_the_drawn_tree_is_the_tree_of_classes() -> None:
    real = {each.__name__: None if each is MillraceError else each.__mro__[1].__name__ for each in CLASSES}
    assert drawn_tree() == real
    assert len(real) > 10


@pytest.mark.parametrize("cls", [each for each in CLASSES if each is not OptionsError])
def test_every_error_pickles_with_its_message(cls: type[MillraceError]) -> None:
    copy = pickle.loads(pickle.dumps(cls("what happened")))
    assert type(copy) is cls
    assert str(copy) == "what happened"


@pytest.mark.parametrize("problems", [("a",), ("a", "b")])
def test_an_options_error_pickles_with_all_its_problems(problems: tuple[str, ...]) -> None:
    error = OptionsError("sink", problems)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.side, copy.problems, str(copy)) == ("sink", problems, str(error))


def test_one_problem_is_told_in_one_line() -> None:
    assert str(OptionsError("sink", ("no topic",))) == "wrong sink options: no topic"


def test_several_problems_are_told_in_a_line_each() -> None:
    assert str(OptionsError("sink", ("no topic", "no luck"))) == (
        "wrong sink options, 2 problems:\n  - no topic\n  - no luck"
    )
