"""Ids of tables as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from millrace.table_names import join_names, split_names


@given(st.lists(st.text(alphabet="ab.`é ", min_size=1), min_size=1, max_size=4))
def test_an_id_has_exactly_the_names_that_it_was_made_of(names):
    assert split_names(join_names(names)) == tuple(names)


def test_plain_names_are_joined_as_they_are():
    assert join_names(["shop", "orders"]) == "shop.orders"
    assert join_names(["c", "a.b"]) == "c.`a.b`"
    assert join_names(["a.b", "c"]) == "`a.b`.c"


@pytest.mark.parametrize("text", ["", "a..b", ".a", "a.", "`a", "a`b", "`a`b", "``", "`a`."])
def test_other_texts_are_no_ids(text):
    with pytest.raises(ValueError, match="name"):
        split_names(text)
