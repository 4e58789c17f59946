from types import SimpleNamespace

from millrace_cli.demo import pipeline
from millrace_cli.demo.summary import Summary, script


def test_the_summary_has_all_numbers():
    text = "\n".join(Summary(60_000, 58_000, 40, 20.0, 31, 412.4, 9.87).lines())
    for part in ("60,000", "58,000 (2,900/s)", "40 (2.0/s)", "31, median 412 ms", "9.9 s after the broker"):
        assert part in text


def test_a_run_that_was_stopped_at_once_has_a_summary_too():
    text = "\n".join(Summary().lines())
    assert "first result       none" in text
    assert "(0.0/s)" in text


def test_the_script_is_the_pipeline_that_runs():
    names = {"__name__": "a_copy"}
    exec(compile(script(), "pipeline.py", "exec"), names)
    copy, original = names["start_pipeline"].__code__, pipeline.start_pipeline.__code__
    assert (copy.co_code, copy.co_consts, copy.co_names) == (
        original.co_code,
        original.co_consts,
        original.co_names,
    )


def test_the_script_starts_by_itself_with_the_bootstrap_servers_as_a_variable():
    started = []

    def start(spark, servers, checkpoint):
        started.append(servers)
        return SimpleNamespace(awaitTermination=lambda: started.append("awaited"))

    # The definition is replaced just before the program's last block, which runs it
    body, main = script().split('if __name__ == "__main__":')
    names = {"__name__": "__main__"}
    exec(compile(body, "pipeline.py", "exec"), names)
    names["start_pipeline"], names["BOOTSTRAP_SERVERS"] = start, "kafka.example:9092"
    names["millrace"] = SimpleNamespace(local_session=lambda: None)
    exec(compile('if __name__ == "__main__":' + main, "pipeline.py", "exec"), names)
    assert started == ["kafka.example:9092", "awaited"]
