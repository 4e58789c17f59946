"""The hooks that a plugin package implements.

A package lists a module under the entry-point group ``millrace``; functions of that module marked with ``hookimpl``
and named as below are its hooks. Every hook is called once per process, on the driver and on every executor's worker,
at the first look-up of any plugin.

Every hook returns the plugins that the package offers: for each name (lower-case letters, digits, ``-``, ``_``) the
import string of its class (``"package.module:Class"``). The class is imported only when the plugin is used, so a
hook's module should import nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

import pluggy

PROJECT = "millrace"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Mark a function as the implementation of the hook that it is named after."""


@hookspec
def millrace_formats() -> Mapping[str, str]:
    """Formats (subclasses of `millrace.contracts.Format`), named in ``format`` or ``value.format``."""


@hookspec
def millrace_partitioners() -> Mapping[str, str]:
    """Partitioners (subclasses of `millrace.contracts.Partitioner`), named in ``sink.partitioner``."""


@hookspec
def millrace_offset_initializers() -> Mapping[str, str]:
    """Offset initializers (subclasses of `millrace.contracts.OffsetInitializer`), named in ``scan.startup.mode``."""


@hookspec
def millrace_header_filters() -> Mapping[str, str]:
    """Header-filter languages (subclasses of `millrace.contracts.HeaderFilter`), named in ``scan.filter.language``."""


@hookspec
def millrace_schema_inferences() -> Mapping[str, str]:
    """Schema inferences (subclasses of `millrace.contracts.SchemaInference`), each named like its format."""


@hookspec
def millrace_catalogs() -> Mapping[str, str]:
    """Catalogs (subclasses of `millrace.contracts.Catalog`)."""


@hookspec
def millrace_table_factories() -> Mapping[str, str]:
    """Table factories (`millrace.contracts.TableFactory`), named in the option ``connector`` of a table of SQL."""


@hookspec
def millrace_pipeline_sources() -> Mapping[str, str]:
    """Pipeline sources (`millrace.contracts.ChangeSource`), named in ``type`` of a pipeline's ``source``."""


@hookspec
def millrace_pipeline_sinks() -> Mapping[str, str]:
    """Pipeline sinks (`millrace.contracts.PipelineSink`), named in ``type`` of a pipeline's ``sink``."""


@hookspec
def millrace_token_providers() -> Mapping[str, str]:
    """Token providers (`millrace.contracts.TokenProvider`), named in ``properties.sasl.oauthbearer.provider``."""


@hookspec
def millrace_state_backends() -> Mapping[str, str]:
    """State backends (subclasses of `millrace.contracts.StateBackend`), named in ``state.backend``."""


@hookspec
def millrace_dead_letter_collectors() -> Mapping[str, str]:
    """Dead letter collectors (`millrace.contracts.DeadLetterCollector`), named in ``dirty-data.collector``."""


@hookspec
def millrace_metrics_reporters() -> Mapping[str, str]:
    """Metrics reporters (subclasses of `millrace.contracts.MetricsReporter`), named to `millrace.report_metrics`."""
