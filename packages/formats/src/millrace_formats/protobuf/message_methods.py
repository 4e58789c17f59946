"""The methods of all messages, taken from a type without fields, since a field of the same name would hide them."""

from google.protobuf.empty_pb2 import Empty

has_field = Empty.HasField
set_in_parent = Empty.SetInParent
serialize = Empty.SerializeToString
is_initialized = Empty.IsInitialized
missing_fields = Empty.FindInitializationErrors
parse_from = Empty.ParseFromString
