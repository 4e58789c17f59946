"""Types that fit the values of Canal's rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from millrace_catalog.inference.canal_values import fitting_type_reader
from millrace_catalog.types import decimal, least_common_type

SIZES = st.integers(1, 38).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size)))


@given(SIZES, st.integers(0, 10**12), st.integers(0, 10))
def test_a_decimal_stays_as_declared_exactly_where_it_holds_the_value(declared, number, scale):
    text = f"{number:0{scale + 1}}"
    text = f"{text[:-scale]}.{text[-scale:]}" if scale else text
    digits = max(len(str(number)), scale)
    needed = decimal(*declared)
    # Each DECIMAL has zero, also one without digits before the point
    if number or scale > declared[1]:
        needed = least_common_type(needed, decimal(digits, scale))
    fit = fitting_type_reader(iso=False, integers_are_booleans=False)
    assert fit(decimal(*declared), text) == needed
