"""The table of functions of pipelines and queries; `aggregates` and `queries` have functions that only queries have."""

from millrace_catalog.expressions.functions.conditions import CONDITIONS
from millrace_catalog.expressions.functions.nested import NESTED
from millrace_catalog.expressions.functions.numbers import NUMBERS
from millrace_catalog.expressions.functions.texts import TEXTS
from millrace_catalog.expressions.functions.times import TIMES

FUNCTIONS = {**CONDITIONS, **NESTED, **NUMBERS, **TEXTS, **TIMES}
"""The functions by their names, in upper case. CAST, TRY_CAST, TRIM and CASE have a syntax of their own."""

OWN_SYNTAX = ("CASE", "CAST", "TRIM", "TRY_CAST")
"""Functions that the grammar knows."""

WITHOUT_PARENTHESES = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
"""Functions that are called without parentheses."""

_MODELS = ("AI_CHAT_PREDICT", "AI_LANGCHAIN_PREDICT", "GET_EMBEDDING")
UNSUPPORTED_IN_PIPELINES = dict.fromkeys(_MODELS, "models are not supported")
"""Functions of Flink CDC that are not supported, with the reason."""

__all__ = ["FUNCTIONS", "OWN_SYNTAX", "UNSUPPORTED_IN_PIPELINES", "WITHOUT_PARENTHESES"]
