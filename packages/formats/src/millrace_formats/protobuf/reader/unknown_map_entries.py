"""Find map entries with unknown fields, on which libraries disagree: protobuf's own drops such entries in Python."""

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


def unknown_entries_check(message: Descriptor) -> Callable[[Any], bool] | None:
    """Return a function that says whether a map in a message has such an entry; None where the type has no map.

    An entry whose value is a number that a closed enum does not have does not count: by protobuf's rules the message
    lacks it.
    """
    with_maps = _types_with_maps(message)
    if message.full_name not in with_maps:
        return None
    return _UnknownEntries(with_maps).check_of(message)


class _UnknownEntries:
    def __init__(self, with_maps: set[str]) -> None:
        self._with_maps = with_maps
        self._cache: dict[str, tuple[dict[int, Any], list[tuple[FieldDescriptor, Descriptor]]]] = {}

    def check_of(self, type_: Descriptor) -> Callable[[Any], bool]:
        """Return the check of messages of a type."""
        entries, nested = self._maps_and_nested(type_)
        if nested:
            return functools.partial(self.has_unknown_entries, type_)

        def has_unknown_entries(message: Any) -> bool:
            unknown = UnknownFieldSet(message)
            return len(unknown) > 0 and any(_is_unknown_entry(field, entries) for field in unknown)

        return has_unknown_entries

    def has_unknown_entries(self, type_: Descriptor, message: Any) -> bool:
        entries, nested = self._cache.get(type_.full_name) or self._maps_and_nested(type_)
        if entries:
            unknown = UnknownFieldSet(message)
            if len(unknown) and any(_is_unknown_entry(field, entries) for field in unknown):
                return True
        return any(
            self.has_unknown_entries(inner_type, inner)
            for field, inner_type in nested
            for inner in _nested_messages(message, field)
        )

    def _maps_and_nested(self, type_: Descriptor) -> tuple[dict[int, Any], list[tuple[FieldDescriptor, Descriptor]]]:
        """Return the entry classes of a type's maps, by field number, and its fields whose types have maps."""
        maps = {field.number: GetMessageClass(field.message_type) for field in type_.fields if is_map(field)}
        types = [(field, _nested_type(field)) for field in type_.fields]
        nested = [(field, inner) for field, inner in types if inner and inner.full_name in self._with_maps]
        self._cache[type_.full_name] = maps, nested
        return maps, nested


def _is_unknown_entry(unknown: Any, entries: dict[int, Any]) -> bool:
    """Return whether an unknown field is a map entry, for another reason than the number of an enum."""
    if unknown.field_number not in entries or unknown.wire_type != _LENGTH_DELIMITED:
        return False
    entry = entries[unknown.field_number]
    of_enum = entry.DESCRIPTOR.fields_by_number[_VALUE].enum_type is not None
    unknown_fields = UnknownFieldSet(entry.FromString(unknown.data))
    return any(not of_enum or (field.field_number, field.wire_type) != (_VALUE, _VARINT) for field in unknown_fields)


def _nested_type(field: FieldDescriptor) -> Descriptor | None:
    """Return the type of a field's messages, or of a map's values."""
    return field.message_type.fields_by_name["value"].message_type if is_map(field) else field.message_type


def _nested_messages(message: Any, field: FieldDescriptor) -> Iterator[Any]:
    if is_map(field):
        yield from getattr(message, field.name).values()
    elif field.is_repeated:
        yield from getattr(message, field.name)
    elif has_field(message, field.name):
        yield getattr(message, field.name)


def _types_with_maps(message: Descriptor) -> set[str]:
    """Return the full names of a type and its nested types that have a map, or a nested type with one."""
    types: dict[str, Descriptor] = {}
    waiting = [message]
    while waiting:
        current = waiting.pop()
        if current.full_name not in types:
            types[current.full_name] = current
            waiting += [field.message_type for field in current.fields if field.message_type is not None]
    with_maps = {name for name, type_ in types.items() if any(map(is_map, type_.fields))}
    while True:
        nested = {name: filter(None, map(_nested_type, type_.fields)) for name, type_ in types.items()}
        more = {name for name, inner in nested.items() if any(type_.full_name in with_maps for type_ in inner)}
        if more <= with_maps:
            return with_maps
        with_maps |= more
