"""Change-data pipelines, defined in YAML as Flink CDC defines them.

Run a definition::

    from millrace_cdc import Pipeline

    Pipeline.from_yaml(text, variables={"kafka.topic": "orders"}).run(spark, checkpoint_location="/checkpoints/orders")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from millrace.lazy_imports import lazy_imports

if TYPE_CHECKING:
    from millrace_cdc.definitions.model import PipelineDefinition
    from millrace_cdc.definitions.render import render_pipeline
    from millrace_cdc.errors import PipelineError
    from millrace_cdc.pipeline import Pipeline
    from millrace_cdc.plans.model import PipelinePlan
    from millrace_cdc.reader.reader import read_pipeline, read_pipeline_file
    from millrace_cdc.runtime.execution import RunningPipeline
    from millrace_cdc.runtime.metrics import PipelineMetrics, TableMetrics

__all__ = [
    "Pipeline",
    "PipelineDefinition",
    "PipelineError",
    "PipelineMetrics",
    "PipelinePlan",
    "RunningPipeline",
    "TableMetrics",
    "read_pipeline",
    "read_pipeline_file",
    "render_pipeline",
]

__getattr__, __dir__ = lazy_imports(
    __name__,
    {
        "millrace_cdc.definitions.model": ["PipelineDefinition"],
        "millrace_cdc.definitions.render": ["render_pipeline"],
        "millrace_cdc.errors": ["PipelineError"],
        "millrace_cdc.pipeline": ["Pipeline"],
        "millrace_cdc.plans.model": ["PipelinePlan"],
        "millrace_cdc.runtime.execution": ["RunningPipeline"],
        "millrace_cdc.runtime.metrics": ["PipelineMetrics", "TableMetrics"],
        "millrace_cdc.reader.reader": ["read_pipeline", "read_pipeline_file"],
    },
)
