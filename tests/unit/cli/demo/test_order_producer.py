import json
import random
from itertools import islice, pairwise

from millrace_cli.demo.order_producer import orders, orders_due
from millrace_cli.demo.pipeline import ORDERS


def test_an_order_has_the_columns_that_the_pipeline_reads():
    columns = [column.split()[0] for column in ORDERS.split(", ")]
    assert list(next(orders(random.Random(1)))) == columns


def test_orders_are_json_and_numbered():
    some = [json.loads(json.dumps(order)) for order in islice(orders(random.Random(1)), 500)]
    assert [order["id"] for order in some] == list(range(1, 501))
    assert all(order["amount"] > 0 for order in some)


def test_some_orders_are_returned():
    some = list(islice(orders(random.Random(1)), 2_000))
    returned = sum(order["quantity"] < 0 for order in some)
    assert 0 < returned < len(some) / 5


def test_the_flow_never_goes_back_and_has_bursts():
    due = [orders_due(second) for second in range(60)]
    rates = [after - before for before, after in pairwise(due)]
    assert due[0] == 0
    assert set(rates) == {500, 2_500, 7_500}
