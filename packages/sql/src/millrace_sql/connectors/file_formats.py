"""Options of Spark's file formats, which Spark itself does not check, under the names of Spark and of the reference.

They are those of Spark 4.2 (https://spark.apache.org/docs/latest/sql-data-sources.html).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from millrace.options.parser import OptionParser
from millrace.options.suggestions import closest

Format = Literal["csv", "json", "orc", "parquet", "raw", "text"]

_ANY_FILES = (
    "basePath cleanSource fileNameOnly ignoreCorruptFiles ignoreMissingFiles latestFirst maxBytesPerTrigger "
    "maxFileAge maxFilesPerTrigger modifiedAfter modifiedBefore pathGlobFilter recursiveFileLookup sourceArchiveDir"
)
_RECORDS = (
    "columnNameOfCorruptRecord compression dateFormat enableDateTimeParsingFallback encoding lineSep locale mode "
    "multiLine samplingRatio singleVariantColumn timeFormat timestampFormat timestampNTZFormat timeZone"
)
_LINES = "compression encoding lineSep wholetext"
_OWN = {
    "csv": f"{_RECORDS} charset charToEscapeQuoteEscaping codec columnPruning comment delimiter emptyValue "
    "enforceSchema escape escapeQuotes extension header ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace inferSchema "
    "inputBufferSize maxCharsPerColumn maxColumns nanValue negativeInf nullValue positiveInf preferDate quote quoteAll "
    "sep unescapedQuoteHandling",
    "json": f"{_RECORDS} allowBackslashEscapingAnyCharacter allowComments allowNonNumericNumbers "
    "allowNumericLeadingZeros allowSingleQuotes allowUnquotedControlChars allowUnquotedFieldNames charset "
    "dropFieldIfAllNull ignoreNullFields inferTimestamp prefersDecimal pretty primitivesAsString sortKeys useUnsafeRow "
    "writeNonAsciiCharacterAsCodePoint",
    "orc": "compression mergeSchema",
    "parquet": "compression datetimeRebaseMode int96RebaseMode mergeSchema",
    "raw": _LINES,
    "text": _LINES,
}
_OF_FLINK = {
    "field-delimiter": "sep",
    "quote-character": "quote",
    "escape-character": "escape",
    "null-literal": "nullValue",
}
"""Names of options of csv in Flink, and in Spark."""

_IGNORES_ERRORS = "ignore-parse-errors"
_TEXTS = ("csv", "json")


def take_format_options(name: Format, parser: OptionParser) -> dict[str, str]:
    """Take the options of a format, such as ``csv.header``, and return them as Spark knows them.

    Options of orc and parquet that Spark does not have are those of their libraries, such as ``parquet.block.size``.

    Args:
        name: The format.
        parser: The parser of the table's options; unknown ones are reported to it.
    """
    format_options = parser.take_prefixed(f"{name}.")
    renamed = _OF_FLINK if name == "csv" else {}
    known = {option.lower(): option for option in f"{_OWN[name]} {_ANY_FILES}".split()}
    options: dict[str, str] = {}
    for key, value in format_options.items():
        if key in known:
            options[known[key]] = value
        elif key in renamed:
            options[renamed[key]] = value
        elif name in ("orc", "parquet"):
            options[f"{name}.{key}"] = value
        elif not (key == _IGNORES_ERRORS and name in _TEXTS):
            _report_unknown(
                name, key, (*known.values(), *renamed, *((_IGNORES_ERRORS,) if name in _TEXTS else ())), parser
            )
    if name in _TEXTS:
        _set_mode(name, format_options, options, parser)
    return options


def _set_mode(name: str, format_options: Mapping[str, str], options: dict[str, str], parser: OptionParser) -> None:
    """Let a malformed file be an error, as in the reference, unless it may be ignored."""
    ignores = format_options.get(_IGNORES_ERRORS)
    if ignores is None:
        options.setdefault("mode", "FAILFAST")
        return
    if ignores.lower() not in ("true", "false"):
        parser.report(f"option '{name}.{_IGNORES_ERRORS}': expected true or false; got {ignores!r}")
    options["mode"] = "DROPMALFORMED" if ignores.lower() == "true" else "FAILFAST"


def _report_unknown(name: str, key: str, known: tuple[str, ...], parser: OptionParser) -> None:
    close = closest(key, known)
    hint = (
        f"; did you mean '{name}.{close}'?"
        if close
        else f"; format {name!r} takes Spark's, such as '{name}.{known[0]}'"
    )
    parser.report(f"unknown option '{name}.{key}'{hint}")
