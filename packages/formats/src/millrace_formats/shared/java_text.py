"""Parse and format values by the rules of Java's own classes, which are those of the reference formats."""

from __future__ import annotations

import base64
import binascii
import math
import re
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa

_BLANKS = "".join(map(chr, range(0x21)))
_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))([fFdD]?)")
_HEX_DOUBLE = re.compile(r"([+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)([fFdD]?)")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DIGITS = Context(prec=38)
_LONGEST_INTEGER = 40  # far more digits than 64 bits hold, far fewer than int() takes long for


def trim(text: str) -> str:
    """Remove leading and trailing characters up to U+0020, as Java's ``trim`` does."""
    return text.strip(_BLANKS)


def parse_boolean(text: str) -> bool:
    """Parse ``true`` in any case as True, all else as False (``Boolean.parseBoolean``)."""
    return trim(text).lower() == "true"


def parse_integer(text: str, bits: int) -> int:
    """Parse a signed integer of ``bits`` bits; ValueError when the text is not one, or too large."""
    text = trim(text)
    if not _INTEGER.fullmatch(text):
        raise ValueError("not an integer")
    digits = text.lstrip("+-").lstrip("0")
    if len(digits) > _LONGEST_INTEGER or not -(1 << bits - 1) <= (value := int(text)) < 1 << bits - 1:
        raise ValueError(f"beyond {bits} bits")
    return value


def truncate_number(text: str, bits: int) -> int:
    """Return the integer part of a JSON number; ValueError when it needs more than ``bits`` bits."""
    try:
        number = Decimal(text)
    except ArithmeticError:
        raise ValueError(f"beyond {bits} bits") from None
    if not -(1 << bits - 1) <= number <= (1 << bits - 1) - 1:
        raise ValueError(f"beyond {bits} bits")
    return int(number)


def parse_double(text: str) -> float:
    """Parse a 64-bit float, or hexadecimal notation, ``NaN``, ``Infinity``; beyond the range it is infinite."""
    text = trim(text)
    if match := _DOUBLE.fullmatch(text):
        return float(match[1])
    if match := _HEX_DOUBLE.fullmatch(text):
        try:
            return float.fromhex(match[1])
        except OverflowError:
            return float("-inf" if text.startswith("-") else "inf")
    raise ValueError("not a number")


def parse_float(text: str) -> float:
    """Parse a 32-bit float as `parse_double` does, but rounded once, not by way of a 64-bit float."""
    match = _DOUBLE.fullmatch(trim(text))
    return pa.scalar(match[1]).cast(pa.float32()).as_py() if match else parse_double(text)


def parse_decimal(text: str) -> Decimal:
    """Parse a decimal number of any size, exactly."""
    text = trim(text)
    if not _DECIMAL.fullmatch(text):
        raise ValueError("not a number")
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError("its exponent is too large") from None


def fit_decimal(number: Decimal, precision: int, scale: int) -> Decimal:
    """Round a decimal half up to ``scale`` digits after the point; ValueError when it needs more than ``precision``."""
    try:
        return number.quantize(Decimal((0, (1,), -scale)), ROUND_HALF_UP, Context(prec=precision))
    except ArithmeticError:
        raise ValueError(f"more than {precision - scale} digits before the point") from None


def plain_text(number: Decimal) -> str:
    """Format a decimal with all digits of its scale: ``1.50``, ``0.00000010``."""
    return format(number, "f")


def scientific_text(number: Decimal) -> str:
    """Format a decimal as Java's ``BigDecimal`` does without trailing zeros: ``1.5``, ``1E+2``, ``1E-7``."""
    return str(number.normalize(_DIGITS)) if number else "0"


def parse_base64(text: str) -> bytes:
    """Decode padded base64, in which line breaks and blanks may stand; ValueError for any other text."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("expected base64 text") from None


def double_text(number: float | np.float32) -> str:
    """Format a float as Java does: ``1.0``, ``1.0E7``, ``NaN``."""
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"
    value = Decimal(str(number))
    if not value or -3 <= value.adjusted() < 7:
        text = format(value, "f")
        return text if "." in text else f"{text}.0"
    sign, digits, _ = value.as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{value.adjusted()}"
