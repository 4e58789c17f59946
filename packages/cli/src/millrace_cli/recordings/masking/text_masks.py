"""Mask e-mail addresses and numbers of payment cards in text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from millrace_cli.recordings.masking.pseudonyms import Pseudonyms

EMAIL, CARD = "email", "card"

_DOMAIN = re.compile(r"@[\w-]+(?:\.[\w-]+)+")
_LOCAL_CHARACTER = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]")
_GROUPED_DIGITS = re.compile(r"[0-9](?:[ -]?[0-9])*")
_DIGITS = re.compile(r"[0-9]+")

_ISSUERS: Sequence[tuple[range, range]] = (
    (range(4, 5), range(13, 20)),
    (range(51, 56), range(16, 17)),
    (range(2221, 2721), range(16, 17)),
    (range(34, 35), range(15, 16)),
    (range(37, 38), range(15, 16)),
    (range(300, 306), range(14, 20)),
    (range(36, 37), range(14, 20)),
    (range(38, 40), range(14, 20)),
    (range(3528, 3590), range(16, 20)),
    (range(50, 51), range(12, 20)),
    (range(56, 59), range(12, 20)),
    (range(6, 7), range(12, 20)),
)
"""First digits that issuers of payment cards have (ISO/IEC 7812), and the lengths of their numbers.

By the check digit alone, a tenth of all times in milliseconds would be card numbers.
"""

_LENGTHS = range(12, 20)


class TextMasks:
    """Mask what is recognized in text.

    Args:
        kinds: What to mask: `EMAIL`, `CARD` or both.
        pseudonyms: Numbers what is masked.
    """

    def __init__(self, kinds: Collection[str], pseudonyms: Pseudonyms) -> None:
        self._masks_emails, self._masks_cards = EMAIL in kinds, CARD in kinds
        self._pseudonyms = pseudonyms

    def mask(self, text: str) -> str:
        """Return a text with masks in the place of addresses and card numbers."""
        if self._masks_emails and "@" in text:
            text = "".join(self._without_emails(text))
        return "".join(self._without_cards(text)) if self._masks_cards else text

    def mask_number(self, digits: str) -> str:
        """Return a whole number, or its mask if it is that of a card."""
        return self._card_mask(digits) if self._masks_cards and is_card_number(digits) else digits

    def _without_emails(self, text: str) -> Iterator[str]:
        written = 0
        for domain in _DOMAIN.finditer(text):
            start = domain.start()
            # From the right to the left: a pattern for the whole address takes a long time for long text without any
            while start > written and _LOCAL_CHARACTER.match(text, start - 1):
                start -= 1
            if start < domain.start():
                number = self._pseudonyms.number(EMAIL, text[start : domain.end()])
                yield f"{text[written:start]}masked-{number}@example.com"
                written = domain.end()
        yield text[written:]

    def _without_cards(self, text: str) -> Iterator[str]:
        written = 0
        for run in _GROUPED_DIGITS.finditer(text):
            for start, end in _card_places(text, run.start(), run.end()):
                yield text[written:start]
                yield self._card_mask(text[start:end])
                written = end
        yield text[written:]

    def _card_mask(self, text: str) -> str:
        """Return a mask with as many digits, and the same characters between them; no card begins with 9."""
        digits = "".join(_DIGITS.findall(text))
        number = str(self._pseudonyms.number(CARD, digits)).zfill(len(digits) - 1)
        replacement = iter(f"9{number}")
        return "".join(next(replacement) if character.isdecimal() else character for character in text)


def is_card_number(digits: str) -> bool:
    """Return whether digits are the number of a payment card: by issuer, length and check digit (Luhn)."""
    if len(digits) not in _LENGTHS or not digits.isdecimal():
        return False
    if not any(len(digits) in lengths and int(digits[: len(str(first.start))]) in first for first, lengths in _ISSUERS):
        return False
    doubled = (sum(divmod(int(digit) * 2, 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _card_places(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield where card numbers are in a run of digits with single separators; of several readings the longest."""
    groups = [group.span() for group in _DIGITS.finditer(text, start, end)]
    first = 0
    while first < len(groups):
        last = next((last for last in _last_groups(text, groups, first)), None)
        if last is not None:
            yield groups[first][0], groups[last][1]
        first = first + 1 if last is None else last + 1


def _last_groups(text: str, groups: Sequence[tuple[int, int]], first: int) -> Iterator[int]:
    """Yield the last groups of card numbers that begin with a group, the longest number first."""
    start = groups[first][0]
    lasts = range(first, min(len(groups), first + _LENGTHS.stop))
    for last in reversed(lasts):
        end = groups[last][1]
        if not _has_fraction(text, start, end) and is_card_number("".join(_DIGITS.findall(text, start, end))):
            yield last


def _has_fraction(text: str, start: int, end: int) -> bool:
    """Return whether digits are a part of a number with a decimal point, which no card number is."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    return (before[-1:] == "." and before[:1].isdecimal()) or (after[:1] == "." and after[1:].isdecimal())
