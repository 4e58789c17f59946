"""The schemas of a pipeline before its first micro-batch."""

from __future__ import annotations

from dataclasses import replace

from millrace.errors import OptionsError
from millrace_catalog.evolution import SchemaTracker
from millrace_cdc.runtime.change_parser import ChangeParser
from millrace_cdc.runtime.extra_columns import sampled
from millrace_cdc.runtime.parser_settings import ParserSettings
from millrace_cdc.runtime.schema_evolution import SchemaEvolution
from millrace_cdc.runtime.schema_state import SchemaState, TableSchemas
from millrace_cdc.runtime.source import MessageSource
from millrace_cdc.runtime.task_reports import Place


def initial_state(source: MessageSource, settings: ParserSettings, evolution: SchemaEvolution) -> SchemaState:
    """Return the tables that options give, and those of the newest messages of each partition.

    Args:
        source: The source.
        settings: Settings of the parser of its messages.
        evolution: Evolves schemas.

    Raises:
        OptionsError: The source cannot start without a checkpoint.
        MessageError: A message is malformed, and such messages are not skipped.
        SchemaError: Messages of a table do not go together, or a rule does not fit it.
    """
    problems = tuple(source.start_problems())
    if problems:
        raise OptionsError("source", problems)
    derivation = evolution.derivation(SchemaState())
    state = derivation.state
    for name, (schema, primary_key) in source.initial_schemas.items():
        tracker = state.sources[name] = SchemaTracker(name, settings.strategy, settings.max_columns)
        tracker.create(schema, primary_key)
        derivation.derive(name)
    evolution.report(derivation)
    # The messages that a static strategy reads beforehand make the schema together
    continuous = replace(settings, strategy="continuous")
    parser = ChangeParser(continuous, TableSchemas().of(state.sources))
    for topic, messages in source.newest_messages().items():
        for message in messages:
            place = Place(topic, message.partition, message.offset)
            parser.changes(
                place, message.value, message.key, sampled(topic, message), continuous.schemas_of_sample(message)
            )
    parser.report.malformed = 0  # They come again
    return evolution.evolve(state, [parser.report], initial=True)
