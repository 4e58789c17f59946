"""Names of sources, where Spark demands them."""

from __future__ import annotations

from millrace.streams import source_name


def test_a_name_has_the_characters_that_spark_allows() -> None:
    assert source_name("orders_2") == "orders_2"
    assert source_name("orders.eu") == "orders_eu_5cc8f74f"
    assert source_name("orders-eu") != source_name("orders.eu")
