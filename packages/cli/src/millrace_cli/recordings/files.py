"""Open recordings, in the form that the ending of a file's name tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from millrace_cli.errors import CommandError
from millrace_cli.recordings.json_lines_form import JsonLinesRecording, JsonLinesRecordingWriter
from millrace_cli.recordings.parquet_form import ParquetRecording, ParquetRecordingWriter
from millrace_cli.row_files import new_file

if TYPE_CHECKING:
    import pyarrow as pa

    from millrace_cli.recordings.contents import RecordedSchema, RecordedTopic, Recording


class RecordingWriter(Protocol):
    """Write a recording."""

    def write(self, rows: pa.Table) -> None:
        """Write some messages, with the columns of a recording."""

    def add_schema(self, schema: RecordedSchema) -> None:
        """Write a schema, before the first message that names it."""

    def close(self) -> None:
        """Write what is left."""


_WRITERS: dict[str, Callable[[IO[bytes], RecordedTopic], RecordingWriter]] = {
    ".parquet": ParquetRecordingWriter,
    ".jsonl": JsonLinesRecordingWriter,
}
_RECORDINGS: dict[str, Callable[[Path], Recording]] = {".parquet": ParquetRecording, ".jsonl": JsonLinesRecording}


def check_recording_name(path: Path) -> None:
    """Check that a file's ending names a form.

    Raises:
        CommandError: It does not.
    """
    if path.suffix.lower() not in _WRITERS:
        raise CommandError(f"expected a file that ends with {' or '.join(_WRITERS)}, got {str(path)!r}")


@contextmanager
def new_recording(path: Path, topic: RecordedTopic) -> Iterator[RecordingWriter]:
    """Open a file for a recording, which appears under its name when the block ends without an error.

    Args:
        path: The file; its ending tells the form.
        topic: The topic.

    Raises:
        CommandError: There is no such form, or the file cannot be written.
    """
    check_recording_name(path)
    open_writer = _WRITERS[path.suffix.lower()]
    with new_file(path) as file, closing(open_writer(file, topic)) as writer:
        yield writer


def open_recording(path: Path) -> Recording:
    """Open a recording.

    Raises:
        CommandError: There is no such form, or the file is malformed or cannot be read.
    """
    check_recording_name(path)
    return _RECORDINGS[path.suffix.lower()](path)
