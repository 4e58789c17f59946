"""Guards for the demo's use of PySpark's Java process: these tests fail first when PySpark changes."""

import inspect
import subprocess
import sys

from pyspark import SparkContext, java_gateway

PROGRAM = """
from pyspark import SparkContext
from pyspark.java_gateway import launch_gateway
from millrace_cli.demo.jvm import end_jvm
SparkContext._gateway = launch_gateway()
java = SparkContext._gateway.proc
assert java.poll() is None
end_jvm()
print(java.poll() is not None, SparkContext._gateway, SparkContext._jvm)
end_jvm()
"""


def test_the_java_process_that_pyspark_has_started_is_ended():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "True None None\n", done.stderr


def test_pyspark_keeps_its_gateway_and_jvm_where_the_demo_looks_for_them():
    assert {"_gateway", "_jvm"} <= set(vars(SparkContext))
    assert "SparkContext._gateway" in inspect.getsource(SparkContext._ensure_initialized)
    assert "gateway.proc = proc" in inspect.getsource(java_gateway.launch_gateway)
