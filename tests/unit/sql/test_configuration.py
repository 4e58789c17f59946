"""The keys of SET."""

from __future__ import annotations

import pytest

from millrace.errors import OptionsError
from millrace_sql.configuration.session import SessionConfiguration, TableConfig
from millrace_sql.errors import SqlError

TIME_ZONE = "spark.sql.session.timeZone"


class Conf:
    def __init__(self):
        self.values = {TIME_ZONE: "UTC"}

    def get(self, key, default=None):
        return self.values.get(key, default)

    def set(self, key, value):
        if key.startswith("spark.driver."):
            raise ValueError("[CANNOT_MODIFY_CONFIG] Cannot modify it")
        if value == "Berlin":
            raise ValueError("Cannot resolve the given timezone")
        self.values[key] = value

    def unset(self, key):
        del self.values[key]


class Session:
    def __init__(self):
        self.conf = Conf()


@pytest.fixture
def session():
    return Session()


@pytest.fixture
def configuration(session):
    return SessionConfiguration(session)


def test_queries_are_streams_until_the_runtime_mode_is_batch(configuration):
    assert configuration.is_streaming
    configuration.set("execution.runtime-mode", "BATCH")
    assert not configuration.is_streaming
    configuration.reset("execution.runtime-mode")
    assert configuration.is_streaming


def test_older_names_mean_the_same(configuration):
    configuration.set("execution.checkpointing.dir", "/a")
    configuration.set("state.checkpoints.dir", "/b")
    assert configuration.options.checkpoint_dir == "/b"
    assert configuration.get("execution.checkpointing.dir") == "/b"
    assert configuration.items() == [("state.checkpoints.dir", "/b")]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pipeline.nam", "x", "unknown option 'pipeline.nam'; did you mean 'pipeline.name'?"),
        ("execution.runtime-mode", "fast", "expected one of streaming, batch; got 'fast'"),
        ("execution.checkpointing.interval", "0", "expected a duration above 0, such as '10 s'; got '0'"),
        ("parallelism.default", "none", "expected a whole number; got 'none'"),
        ("table.exec.state.ttl", "1 h", "group by a window of a column with a WATERMARK"),
        (
            "table.exec.legacy-cast-behaviour",
            "ENABLED",
            "casts mean what they mean in Flink without it: write TRY_CAST",
        ),
        ("table.builtin-catalog-name", "x", "give it to TableEnvironment(spark, config={...})"),
        ("spark.driver.memory", "1g", "Spark does not let 'spark.driver.memory' be set to '1g' now: [CANNOT_MODIFY"),
    ],
)
def test_a_wrong_setting_is_refused_and_changes_nothing(configuration, key, value, message):
    with pytest.raises(SqlError) as caught:
        configuration.set(key, value)
    assert message in str(caught.value)
    assert configuration.items() == []


@pytest.mark.parametrize(
    "key",
    [
        "table.exec.mini-batch.enabled",
        "table.exec.sink.upsert-materialize",
        "table.optimizer.runtime-filter.enabled",
        "python.executable",
        "state.backend.type",
        "restart-strategy",
        "execution.checkpointing.mode",
    ],
)
def test_a_setting_of_flink_that_changes_no_result_is_a_warning(session, configuration, caplog, key):
    configuration.set(key, "x")
    configuration.reset(key)
    at_start = SessionConfiguration(session, {key: "x", "pipeline.name": "p"})

    assert (configuration.items(), at_start.items()) == ([], [("pipeline.name", "p")])
    assert caplog.text.count(f"the setting {key!r} has no effect here: ") == 2


def test_an_unknown_key_cannot_be_reset(configuration):
    with pytest.raises(SqlError, match=r"unknown option 'pipeline\.nam'; did you mean 'pipeline\.name'"):
        configuration.reset("pipeline.nam")


def test_an_environment_has_a_time_zone_of_its_own_while_it_runs_statements(session, configuration):
    other = SessionConfiguration(session)
    configuration.set("table.local-time-zone", "Europe/Berlin")
    assert session.conf.get(TIME_ZONE) == "UTC"
    with configuration.applied():
        assert session.conf.get(TIME_ZONE) == "Europe/Berlin"
    with other.applied():
        assert session.conf.get(TIME_ZONE) == "UTC"
    assert TableConfig(configuration).get_local_timezone() == "Europe/Berlin"
    assert TableConfig(other).get_local_timezone() == "UTC"
    configuration.reset()
    assert TableConfig(configuration).get_local_timezone() == "UTC"


def test_a_zone_that_a_statement_sets_for_the_session_stays(session, configuration):
    configuration.set("table.local-time-zone", "Europe/Berlin")
    with configuration.applied():
        configuration.set(TIME_ZONE, "Asia/Tokyo")
    assert session.conf.get(TIME_ZONE) == "Asia/Tokyo"


def test_an_unknown_time_zone_is_refused_and_changes_nothing(configuration):
    with pytest.raises(SqlError, match="Spark has no time zone 'Berlin': "):
        configuration.set("table.local-time-zone", "Berlin")
    assert (configuration.items(), configuration.options.time_zone) == ([], None)


def test_reset_gives_the_settings_of_the_start_again(session):
    start = {"pipeline.name": "p", "table.local-time-zone": "Asia/Tokyo", "spark.sql.x": "1"}
    configuration = SessionConfiguration(session, start)
    changes = {"pipeline.name": "q", "table.local-time-zone": "UTC", "spark.sql.x": "2", "spark.sql.y": "3"}

    for reset in (configuration.reset, lambda: [configuration.reset(key) for key in changes]):
        for key, value in changes.items():
            configuration.set(key, value)
        configuration.set("parallelism.default", "3")
        reset()
        assert dict(configuration.items()).items() >= start.items()
        assert configuration.options.time_zone == "Asia/Tokyo"
        assert (session.conf.get("spark.sql.x"), session.conf.get("spark.sql.y")) == ("1", None)
    configuration.reset()
    assert dict(configuration.items()) == start


def test_settings_of_spark_pass_on_and_come_back(session, configuration):
    configuration.set("spark.sql.x", "1")
    configuration.set("spark.sql.x", "2")
    assert configuration.items() == [("spark.sql.x", "2")]
    configuration.reset("spark.sql.x")
    assert session.conf.get("spark.sql.x") is None


def test_all_problems_of_the_start_are_told_together(session):
    with pytest.raises(OptionsError) as caught:
        SessionConfiguration(session, {"execution.runtime-mode": "x", "table.catalog-store.kind": "file", "nope": "1"})
    assert len(caught.value.problems) == 3


def test_the_start_takes_all_keys(session):
    start = {"table.builtin-catalog-name": "vvp", "table.builtin-database-name": "default", "spark.sql.x": "1"}
    configuration = SessionConfiguration(session, {**start, "pipeline.name": "p"})
    assert (configuration.start.catalog, configuration.start.database) == ("vvp", "default")
    assert configuration.options.pipeline_name == "p"
    assert session.conf.get("spark.sql.x") == "1"
