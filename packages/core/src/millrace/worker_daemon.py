"""The process from which Spark forks its Python workers, without frames of workers that are lost on purpose.

`local_session` names it in ``spark.python.daemon.module``. PySpark's own daemon prints a traceback when Spark closes
the connection of a worker that it has just started, as when another task already has the rows that ``show()`` wants.
"""

from __future__ import annotations

from pyspark import daemon

from millrace.pyspark_internals import silence_lost_worker

if __name__ == "__main__":
    silence_lost_worker()
    daemon.manager()
