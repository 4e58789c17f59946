"""Reports of queries as events of OpenLineage."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version

from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    column_lineage_dataset,
    error_message_run,
    job_type_job,
    processing_engine_run,
    schema_dataset,
    sql_job,
)
from openlineage.client.generated.base import DatasetFacet, JobFacet, RunFacet

import millrace
from millrace.api.query_lineage import QueryLineage, kafka_dataset, lineage_of
from millrace.contracts import QueryReport
from millrace.contracts.datasets import TopicDataset

PRODUCER = "https://pypi.org/project/millrace-ui"
"""The program that makes the events, as OpenLineage wants it: by an address."""


def event_of(report: QueryReport, state: RunState, namespace: str) -> RunEvent:
    """Make the event of a query that has come to a state.

    Args:
        report: The report of the query.
        state: Its state.
        namespace: The namespace of the job.
    """
    lineage = lineage_of(report.query) or QueryLineage("QUERY")
    return RunEvent(
        eventType=state,
        eventTime=datetime.fromtimestamp(report.time, UTC).isoformat(),
        run=Run(report.run_id, _run_facets(report)),
        job=Job(namespace, report.query, _job_facets(lineage)),
        inputs=[_input(topic) for topic in report.inputs],
        outputs=_outputs(report, lineage),
        producer=PRODUCER,
    )


def _run_facets(report: QueryReport) -> dict[str, RunFacet]:
    engine = processing_engine_run.ProcessingEngineRunFacet(version("pyspark"), "spark", millrace.__version__)
    facets: dict[str, RunFacet] = {"processing_engine": engine}
    if report.error is not None:
        facets["errorMessage"] = error_message_run.ErrorMessageRunFacet(report.error, "python")
    return facets


def _job_facets(lineage: QueryLineage) -> dict[str, JobFacet]:
    facets: dict[str, JobFacet] = {
        "jobType": job_type_job.JobTypeJobFacet("STREAMING", "MILLRACE", jobType=lineage.job_type)
    }
    if lineage.sql:
        facets["sql"] = sql_job.SQLJobFacet(lineage.sql)
    return facets


def _input(topic: TopicDataset) -> InputDataset:
    return InputDataset(*kafka_dataset(topic.servers, topic.topic), facets=_schema(topic))


def _outputs(report: QueryReport, lineage: QueryLineage) -> list[OutputDataset]:
    columns = _column_lineage(lineage)
    topics = [
        OutputDataset(*kafka_dataset(topic.servers, topic.topic), facets={**_schema(topic), **columns})
        for topic in report.outputs
    ]
    known = {(dataset.namespace, dataset.name) for dataset in topics}
    others = [OutputDataset(*dataset, facets=dict(columns)) for dataset in lineage.outputs() if dataset not in known]
    return [*topics, *others]


def _schema(topic: TopicDataset) -> dict[str, DatasetFacet]:
    fields: Sequence[schema_dataset.SchemaDatasetFacetFields] = [
        schema_dataset.SchemaDatasetFacetFields(name, type_) for name, type_ in topic.columns.items()
    ]
    return {"schema": schema_dataset.SchemaDatasetFacet(list(fields))} if fields else {}


def _column_lineage(lineage: QueryLineage) -> dict[str, DatasetFacet]:
    fields = {
        column: column_lineage_dataset.Fields(
            [column_lineage_dataset.InputField(*one.dataset, one.column) for one in inputs]
        )
        for column, inputs in lineage.columns().items()
        if inputs
    }
    return {"columnLineage": column_lineage_dataset.ColumnLineageDatasetFacet(fields)} if fields else {}
