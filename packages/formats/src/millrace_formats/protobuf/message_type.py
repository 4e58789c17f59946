"""The class of a message type, made from its descriptors, on whichever machine it is needed."""

from __future__ import annotations

import functools
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from millrace_formats.protobuf.descriptor_set import DescriptorSet


@functools.lru_cache(maxsize=32)
def message_type(descriptors: DescriptorSet) -> Any:
    """The class of the message type that the descriptors are for; TypeError or KeyError when they are not valid."""
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(descriptors.files).file:
        pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(descriptors.message))
