"""Finds entries of maps that hold unknown fields, which libraries disagree on: protobuf's own drops them in Python."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

from millrace_formats.protobuf.message_methods import has_field
from millrace_formats.protobuf.schema.types import is_map

_VARINT, _LENGTH_DELIMITED = 0, 2
_VALUE = 2


def odd_entries_finder(message: Descriptor) -> Callable[[Any], bool] | None:
    """What says of a message whether a map in it has such an entry; None where the type has no map.

    An entry whose value is a number that a closed enum does not have is not one of them: messages lack it by rule.
    """
    with_maps = _with_maps(message)
    if message.full_name not in with_maps:
        return None
    return _Finder(with_maps).of(message)


class _Finder:
    def __init__(self, with_maps: set[str]) -> None:
        self._with_maps = with_maps
        self._known: dict[str, tuple[dict[int, Any], list[tuple[FieldDescriptor, Descriptor]]]] = {}

    def of(self, type_: Descriptor) -> Callable[[Any], bool]:
        """What says of a message of a type whether a map in it has such an entry."""
        entries, leading = self._parts(type_)
        if leading:
            return functools.partial(self.has_odd_entries, type_)

        def has_odd_entries(message: Any) -> bool:
            unknown = UnknownFieldSet(message)
            return len(unknown) > 0 and any(_is_odd(each, entries) for each in unknown)

        return has_odd_entries

    def has_odd_entries(self, type_: Descriptor, message: Any) -> bool:
        entries, leading = self._known.get(type_.full_name) or self._parts(type_)
        if entries and len(unknown := UnknownFieldSet(message)) and any(_is_odd(each, entries) for each in unknown):
            return True
        if not leading:
            return False
        return any(self.has_odd_entries(held, inner) for field, held in leading for inner in _held(message, field))

    def _parts(self, type_: Descriptor) -> tuple[dict[int, Any], list[tuple[FieldDescriptor, Descriptor]]]:
        """The classes of the entries of a type's maps, by field number, and its fields that lead to other maps."""
        maps = {field.number: GetMessageClass(field.message_type) for field in type_.fields if is_map(field)}
        held = [(field, _held_type(field)) for field in type_.fields]
        leading = [(field, inner) for field, inner in held if inner and inner.full_name in self._with_maps]
        self._known[type_.full_name] = maps, leading
        return maps, leading


def _is_odd(unknown: Any, entries: dict[int, Any]) -> bool:
    """Whether what a message does not know is an entry of a map, for another reason than the number of an enum."""
    if unknown.field_number not in entries or unknown.wire_type != _LENGTH_DELIMITED:
        return False
    entry = entries[unknown.field_number]
    of_enum = entry.DESCRIPTOR.fields_by_number[_VALUE].enum_type is not None
    left = UnknownFieldSet(entry.FromString(unknown.data))
    return any(not of_enum or (field.field_number, field.wire_type) != (_VALUE, _VARINT) for field in left)


def _held_type(field: FieldDescriptor) -> Descriptor | None:
    """The type of the messages that a field holds, as a map's values too."""
    return field.message_type.fields_by_name["value"].message_type if is_map(field) else field.message_type


def _held(message: Any, field: FieldDescriptor) -> Iterator[Any]:
    if is_map(field):
        yield from getattr(message, field.name).values()
    elif field.is_repeated:
        yield from getattr(message, field.name)
    elif has_field(message, field.name):
        yield getattr(message, field.name)


def _with_maps(message: Descriptor) -> set[str]:
    """The full names of the types, this one and those below it, that have a map or lead to one."""
    types: dict[str, Descriptor] = {}
    waiting = [message]
    while waiting:
        current = waiting.pop()
        if current.full_name not in types:
            types[current.full_name] = current
            waiting += [field.message_type for field in current.fields if field.message_type is not None]
    found = {name for name, type_ in types.items() if any(map(is_map, type_.fields))}
    while True:
        held = {name: filter(None, map(_held_type, type_.fields)) for name, type_ in types.items()}
        more = {name for name, inner in held.items() if any(each.full_name in found for each in inner)}
        if more <= found:
            return found
        found |= more
