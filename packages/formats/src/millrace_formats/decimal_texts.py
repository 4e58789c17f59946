"""Decimals as text, column by column, as Java's ``BigDecimal`` is written without the zeros at its end."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from millrace_formats.java_text import scientific_text

_EXPONENT = 7  # with an exponent this small or smaller Arrow and Java write one


def scientific_texts(column: pa.Decimal128Array) -> pa.StringArray:
    """``1.50`` as ``1.5``, ``100`` as ``1E+2``, ``0.000000100`` as ``1E-7``, as `scientific_text` has them."""
    texts = column.cast(pa.string())
    type_ = column.type
    if type_.scale > 0:
        texts = pc.utf8_rtrim(pc.utf8_rtrim(texts, "0"), ".")
        texts = pc.if_else(pc.equal(column, pa.scalar(0, type_)), "0", texts)
    odd = pc.and_(pc.ends_with(texts, "0"), pc.not_equal(texts, "0"))
    if type_.scale >= _EXPONENT:
        odd = pc.or_(odd, pc.match_substring(texts, "E"))
    if not pc.any(odd).as_py():
        return texts
    few = [scientific_text(number) for number in column.filter(odd).to_pylist()]
    return pc.replace_with_mask(texts, odd.fill_null(False), pa.array(few, pa.string()))
