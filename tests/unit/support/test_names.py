import random
import re

import pytest

from support.names import MAX_LENGTH, unique_name


def test_a_name_says_what_it_is_for_and_is_nobody_elses() -> None:
    names = {unique_name("test_a_read[x/y]") for _ in range(1_000)}

    assert len(names) == 1_000
    assert all(re.fullmatch("test-a-read-x-y-[a-z]{8}", name) for name in names)


def test_the_seed_of_a_test_decides_no_name() -> None:
    random.seed(1)
    first = unique_name("topic")
    random.seed(1)
    assert unique_name("topic") != first


def test_names_of_one_purpose_are_sorted_by_their_numbers() -> None:
    names = [unique_name("topic", number) for number in range(20)]
    assert names == sorted(names)


@pytest.mark.parametrize("purpose", ["-_7_x", "Ünits.of.a_test..", "a" * 300, ("ab-" * 100), "a.b_c-"])
@pytest.mark.parametrize("number", [None, 7])
def test_every_name_is_short_and_begins_and_ends_with_a_letter(purpose: str, number: int | None) -> None:
    name = unique_name(purpose, number)

    assert re.fullmatch(r"[A-Za-z](-?[A-Za-z0-9])*[a-z]", name)
    assert len(name) <= MAX_LENGTH


@pytest.mark.parametrize("purpose", ["", "-", "123", "…"])
def test_a_name_for_nothing_is_refused(purpose: str) -> None:
    with pytest.raises(AssertionError, match=r"name what .* is for"):
        unique_name(purpose)
