"""Plan a file of SQL for ``millrace plan``."""

from __future__ import annotations

import json
import os

import click

from millrace.options.secrets_file import read_secrets
from millrace_cli.planned_files import PlannedFile
from millrace_sql.shell.start import Start


def plan_file(file: PlannedFile) -> bool:
    """Write the plan of a script, and return whether a run would end well.

    Raises:
        SqlError: The script cannot be read or is wrong.
        MillraceError: A connector, a catalog or an option refuses.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    from millrace.failures import sentence_of
    from millrace_sql.errors import SqlError
    from millrace_sql.parser import parse
    from millrace_sql.shell.session import environment_for

    try:
        script = file.path.read_text()
    except OSError as error:
        raise SqlError(f"{file.path} cannot be read: {error.strerror}") from error
    parse(script)  # before Spark takes its seconds to start
    settings = {"execution.checkpointing.dir": file.checkpoint} if file.checkpoint else {}
    secrets = read_secrets(file.secrets) if file.secrets else {}
    start = Start(None, settings, {**os.environ, **file.settings}, secrets, file.conf)
    with environment_for(start, dry_run=True) as session:
        try:
            plan = session.environment.plan_sql(script)
        except (PySparkException, Py4JError) as error:
            raise SqlError(sentence_of(error)) from error
        session.drop_output()
    click.echo(json.dumps(plan.to_json(), indent=2) if file.as_json else str(plan))
    return not plan.problems
