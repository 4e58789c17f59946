"""Plan queries: find their tables, derive the changelog of every step, and rewrite them for Spark."""

from millrace_sql.planner.model import InputColumn, InputTable, QueryPlan, Scan, TableLookup, ViewQuery
from millrace_sql.planner.plan import SparkPlan, plan_query
from millrace_sql.planner.query_text import rewrite_expression

__all__ = [
    "InputColumn",
    "InputTable",
    "QueryPlan",
    "Scan",
    "SparkPlan",
    "TableLookup",
    "ViewQuery",
    "plan_query",
    "rewrite_expression",
]
