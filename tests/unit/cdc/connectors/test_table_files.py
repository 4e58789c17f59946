"""File systems of the sinks that write files."""

from __future__ import annotations

import pytest

from millrace.errors import MachineError
from millrace_cdc.connectors.table_files.file_system import file_system


def test_file_systems_by_url():
    assert file_system("/a/b", {})[1] == file_system("file:/a/b", {})[1] == file_system("file:///a/b", {})[1] == "/a/b"
    found, path = file_system(
        "s3a://bucket/a/b", {"client.region": "eu-west-1", "s3.access-key-id": "k", "s3.secret-access-key": "s"}
    )
    assert (found.type_name, path, found.region) == ("s3", "bucket/a/b", "eu-west-1")
    with pytest.raises(MachineError, match="cannot write to ftp://host: "):
        file_system("ftp://host/a", {})
