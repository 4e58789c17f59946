"""A format of text in which a message can kill its reader; Python workers get this file by itself.

Named as ``fatal_messages:FatalMessages`` in the option ``format``. The value ``kill <file>`` kills the worker that
decodes it as long as the file is there, and takes the file away; ``bad`` is malformed.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pyarrow as pa

from millrace.contracts import Decoded, Decoder, Encoder, Format, MalformedMessage, Payloads


class FatalMessages(Format):
    """A format of one column of text."""

    def decoder(self, schema: pa.Schema) -> Decoder:
        """Make a decoder for any one column."""
        return _FatalDecoder(schema)

    def encoder(self, schema: pa.Schema) -> Encoder:
        """Refuse to write."""
        raise NotImplementedError


class _FatalDecoder(Decoder):
    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema

    def decode(self, payloads: Payloads) -> Decoded:
        texts = [(payload or b"").decode() for payload in payloads.to_list()]
        for text in texts:
            command, _, file = text.partition(" ")
            if command == "kill" and Path(file).exists():
                Path(file).unlink()
                os.kill(os.getpid(), signal.SIGKILL)
        good = [index for index, text in enumerate(texts) if text != "bad"]
        return Decoded(
            pa.RecordBatch.from_arrays([pa.array([texts[index] for index in good], pa.string())], schema=self._schema),
            pa.array(good, pa.int32()),
            errors=tuple(MalformedMessage(index, "it is bad") for index, text in enumerate(texts) if text == "bad"),
        )
