import subprocess
import sys

PROGRAM = """
import os, subprocess, sys
from pathlib import Path
from millrace_cli.demo.output_capture import redirect_native_output
with redirect_native_output(Path(sys.argv[1])):
    print("from Python")
    os.write(1, b"from a library\\n")
    subprocess.run([sys.executable, "-c", "import sys; sys.stderr.write('from a child')"])
    sys.stderr.write("an error from Python\\n")
os.write(1, b"after it\\n")
print("Python after it")
"""


def test_only_what_python_writes_is_seen_and_the_rest_is_in_the_log(tmp_path):
    log = tmp_path / "log"
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(log)], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == ["from Python", "after it", "Python after it", ""]
    assert done.stderr == "an error from Python\n"
    assert log.read_text() == "from a library\nfrom a child"
