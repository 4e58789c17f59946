"""Time zones of environments."""

from __future__ import annotations

import pytest

from millrace_sql import TableEnvironment


@pytest.fixture
def zoned(spark):
    def create(zone):
        settings = {"execution.runtime-mode": "batch"}
        return TableEnvironment(spark, config=settings if zone is None else {**settings, "table.local-time-zone": zone})

    return create


def test_environments_of_a_session_have_zones_of_their_own(spark, zoned):
    query = "SELECT date_format(timestamp_millis(0), 'HH:mm') AS at"
    before = spark.conf.get("spark.sql.session.timeZone")

    tokyo, kolkata, others = zoned("Asia/Tokyo"), zoned("Asia/Kolkata"), zoned(None)
    results = [env.execute_sql(query) for env in (tokyo, kolkata, tokyo)]
    frames = [env.sql_query(query) for env in (others, kolkata)]

    assert [next(iter(result.collect())).at for result in results] == ["09:00", "05:30", "09:00"]
    assert [frame.first().at for frame in frames] == [spark.sql(query).first().at, "05:30"]
    assert spark.conf.get("spark.sql.session.timeZone") == before
