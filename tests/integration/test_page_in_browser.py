"""Every view of the live page in Chromium, on a real broker with running queries, a pipeline and a SQL statement."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import millrace
from millrace.contracts.dead_letter_headers import ERROR_HEADER_PREFIX
from millrace.contracts.query_schemas import QuerySchema, QuerySchemas, SchemaVersion
from millrace_cdc.pipeline import Pipeline
from millrace_sql import TableEnvironment
from millrace_ui.page_data import PageData
from millrace_ui.prometheus import Exposition
from millrace_ui.query_history import Histories
from millrace_ui.server import Server
from millrace_ui.web_application import Settings, page_application
from support.browser import LAPTOP, TELEPHONE, WIDE, LookedAt, chromium
from support.kafka import produce
from support.names import unique_name
from support.query_reports import report
from support.waiting import wait_until

pytestmark = pytest.mark.timeout(900)

VIEWS = {
    "queries": ("#/", "copy-orders"),
    "query": ("#/query/{query}", "Duration of micro-batches by phase"),
    "writing": ("#/query/{copies}", "Exactly-once state"),
    "jobs": ("#/jobs", "Pipeline"),
    "topics": ("#/topics", "Retention"),
    "topic": ("#/topic/{orders}?count=20", "messages, the newest first"),
    "health": ("#/health", "Plugins ("),
}
SCREENS = {
    f"{name}-{scheme}": size._replace(scheme=scheme)
    for name, size in {"telephone": TELEPHONE, "laptop": LAPTOP, "wide": WIDE}.items()
    for scheme in ("light", "dark")
}
PIPELINE = """
source:
  type: kafka
  topic: {topic}
  properties.bootstrap.servers: {servers}
  value.format: debezium-json
  scan.startup.mode: earliest-offset
sink:
  type: values
pipeline:
  name: {topic}
"""


@pytest.fixture(scope="module")
def browser():
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def shown(spark, broker, tmp_path_factory):
    """A page with a running query, a pipeline and a SQL statement; the names to put into the views' addresses."""
    servers = broker.bootstrap_servers
    orders, changes, letters, copies = (unique_name(name) for name in ("orders", "changes", "letters", "copies"))
    for topic, partitions in {orders: 3, changes: 1, letters: 1, copies: 1}.items():
        broker.create_topic(topic, partitions)
    produce(servers, orders, [_order(number) for number in range(60)])
    produce(servers, changes, [_change(number) for number in range(5)])
    produce(servers, letters, [_letter(orders)])
    checkpoints = tmp_path_factory.mktemp("checkpoints")
    with millrace.ui(spark, port=0) as page:
        query = _start_query(spark, servers, orders, checkpoints)
        copying = _start_copying(spark, servers, orders, copies, checkpoints)
        environment = TableEnvironment(spark)
        statement = _start_statement(environment, servers, orders)
        text = PIPELINE.format(topic=changes, servers=servers)
        pipeline = Pipeline.from_yaml(text).run(spark, checkpoint_location=str(checkpoints / "pipeline"))
        try:
            copying.processAllAvailable()
            # What a micro-batch has read is counted with the next one
            produce(servers, orders, [_order(60)])
            query.processAllAvailable()
            copying.processAllAvailable()
            wait_until(lambda: pipeline.progress.tables, "the pipeline's first changes")
            yield page, {"query": str(query.id), "orders": orders, "letters": letters, "copies": str(copying.id)}
        finally:
            for running in (query, copying, pipeline, *statement.queries):
                running.stop()


def _order(number):
    order = {"id": number, "amount": number * 1.5, "password": "hush"}
    return {"value": b"{broken" if number == 50 else json.dumps(order).encode(), "key": b"%d" % number}


def _change(number):
    row = {"id": number, "name": f"customer {number}"}
    change = {"op": "c", "before": None, "after": row, "source": {"db": "shop", "table": "customers"}}
    return {"value": json.dumps(change).encode(), "key": b"%d" % number}


def _letter(topic):
    reason = "expected a number, got 'hush'"
    where = {"topic": topic, "partition": "0", "offset": "3", "part": "value", "format": "json", "reason": reason}
    headers = [(f"{ERROR_HEADER_PREFIX}{name}", text.encode()) for name, text in where.items()]
    return {"value": b"{broken", "headers": headers}


def _start_query(spark, servers, topic, checkpoints):
    options = {"properties.bootstrap.servers": servers, "topic": topic, "scan.startup.mode": "earliest-offset"}
    secret = {"properties.ssl.key.password": "hush", "properties.group.id": topic}
    rows = spark.readStream.format("millrace").options(**options, **secret).load()
    writer = rows.writeStream.queryName("copy-orders").format("noop")
    return writer.option("checkpointLocation", str(checkpoints / "query")).start()


def _start_copying(spark, servers, source, target, checkpoints):
    kafka = {"properties.bootstrap.servers": servers, "format": "json"}
    # In several micro-batches, so that there is something to see
    limit = {"scan.max-records-per-batch": "10"}
    reading = {"scan.startup.mode": "earliest-offset", "ingestion.ignore-errors": "true", **limit}
    rows = spark.readStream.format("millrace").options(**kafka, **reading, topic=source)
    writer = rows.schema("id BIGINT, amount DOUBLE").load().writeStream.queryName("copy-exactly").format("millrace")
    exactly_once = {"sink.delivery-guarantee": "exactly-once", "sink.transactional-id-prefix": target}
    writer = writer.options(**kafka, **exactly_once, topic=target)
    return writer.option("checkpointLocation", str(checkpoints / "copying")).start()


def _start_statement(environment, servers, topic):
    options = f"'connector' = 'kafka', 'topic' = '{topic}', 'properties.bootstrap.servers' = '{servers}'"
    more = "'format' = 'json', 'scan.startup.mode' = 'earliest-offset', 'json.ignore-parse-errors' = 'true'"
    environment.execute_sql(f"CREATE TABLE orders_of_page (id BIGINT, amount DOUBLE) WITH ({options}, {more})")
    environment.execute_sql("CREATE TABLE nowhere (id BIGINT, amount DOUBLE) WITH ('connector' = 'blackhole')")
    return environment.execute_sql("INSERT INTO nowhere SELECT id, amount FROM orders_of_page WHERE amount > 10")


def _look(browser, shown, view, screen):
    page, names = shown
    looked_at = LookedAt(browser, page.url, screen)
    address, text = VIEWS[view]
    looked_at.open(address.format(**names), text)
    return looked_at


# The headings of parts with numbers that name no command, and the charts whose data are not linked
WITHOUT_COMMAND = """() => [...document.querySelectorAll("main section")]
  .filter((part) => part.querySelector("dl, table, svg") && !part.querySelector(".command code"))
  .map((part) => part.querySelector("h2").textContent)"""
WITHOUT_DATA = """() => [...document.querySelectorAll("main svg[role=img]")]
  .filter((chart) => !(chart.closest("section") ?? document).querySelector(".command a[href^='api/']"))
  .map((chart) => chart.getAttribute("aria-label"))"""


def test_every_view_opens_without_errors_and_without_serious_faults(browser, shown):
    for view in VIEWS:
        looked_at = _look(browser, shown, view, LAPTOP)
        assert (view, looked_at.serious_faults(), looked_at.problems) == (view, [], [])
        # Each part has the command that prints its numbers, and each chart its data
        assert (view, looked_at.page.evaluate(WITHOUT_COMMAND), looked_at.page.evaluate(WITHOUT_DATA)) == (view, [], [])


@pytest.mark.nightly
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("screen", SCREENS)
def test_every_view_fits_every_screen_in_both_colour_schemes(browser, shown, view, screen, request):
    looked_at = _look(browser, shown, view, SCREENS[screen])
    assert (looked_at.serious_faults(), looked_at.problems) == ([], [])
    assert looked_at.is_as_wide_as_its_window()
    folder = request.config.cache.mkdir("millrace-screenshots")
    looked_at.page.screenshot(path=Path(folder) / f"{view}-{screen}.png", full_page=True)


def test_the_plan_of_a_query_shows_options_with_their_origins_and_no_secret(browser, shown):
    looked_at = _look(browser, shown, "query", LAPTOP)
    looked_at.page.get_by_text("Plan and configuration").click()
    looked_at.page.get_by_role("cell", name="scan.startup.mode").first.wait_for()
    text = looked_at.page.inner_text("main")
    assert "earliest-offset" in text
    assert "hush" not in looked_at.page.content()


def test_a_query_shows_its_exactly_once_state_and_its_malformed_messages(browser, shown, request):
    looked_at = _look(browser, shown, "writing", LAPTOP)
    pictures = Path(request.config.cache.mkdir("millrace-screenshots"))
    looked_at.page.screenshot(path=pictures / "live-page-query.png")
    looked_at.page.get_by_text("Exactly-once state").click()
    looked_at.page.get_by_role("cell", name="this one").first.wait_for()
    looked_at.page.get_by_text("No transaction is open in the topics that it writes.").wait_for()
    looked_at.page.get_by_text("Malformed messages").click()
    looked_at.page.get_by_text("{broken").first.wait_for()
    looked_at.page.locator("details[id^=malformed-of]").evaluate("section => section.scrollIntoView()")
    looked_at.page.screenshot(path=pictures / "live-page-exactly-once.png")
    assert (looked_at.serious_faults(), looked_at.problems) == ([], [])


def test_a_topic_shows_decoded_messages_and_filters_stay_in_its_address(browser, shown):
    _, names = shown
    looked_at = _look(browser, shown, "topic", LAPTOP)
    looked_at.page.get_by_text("Malformed messages").wait_for()
    assert "hush" not in looked_at.page.inner_text("main")
    looked_at.page.get_by_label("Condition").fill("id = 7")
    looked_at.page.get_by_role("button", name="Show").click()
    looked_at.page.get_by_role("cell", name="10.5").wait_for()
    assert "where=id+%3D+7" in looked_at.page.url
    assert f"millrace peek {names['orders']} --bootstrap-servers" in looked_at.page.inner_text("main")


def test_dead_letters_are_shown_with_their_reasons(browser, shown):
    page, names = shown
    looked_at = LookedAt(browser, page.url)
    looked_at.open(f"#/topic/{names['letters']}", "expected a number, got 'hush'")
    assert looked_at.problems == []


def test_a_live_tail_shows_messages_as_they_come(browser, shown, broker):
    page, names = shown
    looked_at = LookedAt(browser, page.url)
    looked_at.open(f"#/topic/{names['orders']}?live=1", "messages, the newest first")
    row = looked_at.page.get_by_role("cell", name="424242", exact=True)

    def has_come():
        # The tail begins when its consumer is there
        produce(broker.bootstrap_servers, names["orders"], [{"value": b'{"id": 424242}'}])
        return row.count() > 0

    wait_until(has_come, "a message in the live tail")


def test_a_job_shows_its_statement_with_its_plan_and_tables(browser, shown):
    looked_at = _look(browser, shown, "jobs", LAPTOP)
    text = looked_at.page.inner_text("main")
    assert "SELECT id, amount FROM orders_of_page WHERE amount > 10" in text
    assert "shop.customers" in text
    table = looked_at.page.get_by_role("row", name="orders_of_page")

    def has_read_all():
        records, lag, _ = table.get_by_role("cell").all_inner_texts()
        return records.isdigit() and int(records) > 0 and lag == "0"

    wait_until(has_read_all, "the table's records and its lag of 0")
    looked_at.page.get_by_text("Plan", exact=True).first.click()
    looked_at.page.get_by_text("Sink(table=").first.wait_for()
    assert looked_at.problems == []


def test_an_open_plan_stays_open_when_the_view_is_drawn_again(browser, shown, broker):
    _, names = shown
    looked_at = _look(browser, shown, "jobs", LAPTOP)
    page = looked_at.page
    page.get_by_text("Plan", exact=True).first.click()
    before = page.locator("main section").first.element_handle()

    def is_drawn_again():
        produce(broker.bootstrap_servers, names["orders"], [{"value": b'{"id": 1, "amount": 1}'}])
        return not before.evaluate("section => section.isConnected")

    wait_until(is_drawn_again, "the view to be drawn again")
    assert page.get_by_text("Sink(table=").first.is_visible()


@pytest.fixture
def schemas() -> QuerySchemas:
    return QuerySchemas()


@pytest.fixture
def reported(browser, schemas) -> Iterator[tuple[Histories, LookedAt]]:
    """A page whose reports the test makes: what is drawn of them needs no Spark."""
    histories = Histories()
    data = PageData(histories, schemas=schemas)
    server = Server(page_application(data, Settings(Exposition(), 60)), "127.0.0.1", 0, "page")
    try:
        yield histories, LookedAt(browser, server.url)
    finally:
        data.is_closing = True
        server.close()


def test_a_query_of_many_partitions_has_few_elements_and_whoever_reads_it_stays_where_he_is(reported):
    histories, looked_at = reported
    histories.add(report(*range(1_000), time=time.time()))
    looked_at.open("#/query/id-1", "Lag of each partition now")
    page = looked_at.page
    page.locator(".scroll").evaluate("table => table.scrollTo(0, 120)")
    page.get_by_role("link", name="data as JSON").nth(2).focus()
    histories.add(report(*[5] * 1_000, batch=1, time=time.time()))
    page.get_by_text("5000", exact=True).first.wait_for()
    assert page.locator(".scroll").evaluate("table => table.scrollTop") == 120
    assert page.evaluate("document.activeElement.getAttribute('href')") == "api/queries/id-1/charts"
    assert page.locator("main *").count() < 1_000
    # Whose sentences are declared with the metrics
    assert "Offsets between the next record" in page.get_by_text("Lag", exact=True).last.get_attribute("title")
    # What the pointer is on is told by name
    page.locator("svg.heat").hover(position={"x": 3, "y": 3})
    assert page.locator("svg.heat title").text_content() == "orders-0: 5"
    assert (looked_at.serious_faults(), looked_at.problems) == ([], [])


def test_a_click_is_not_lost_when_a_report_comes_in_the_middle_of_it(reported):
    histories, looked_at = reported
    histories.add(report(3, time=time.time()))
    looked_at.open("#/query/id-1", "Its columns stay those that it started with")
    page = looked_at.page
    page.evaluate("""() => {
      window.reports = 0;
      new EventSource("events").addEventListener("queries", () => { window.reports += 1; });
    }""")
    wait_until(lambda: page.evaluate("window.reports"), "the first report")
    page.get_by_text("Plan and configuration").hover()
    page.mouse.down()
    before = page.locator("main section").first.element_handle()
    for batch in range(1, 4):
        seen = page.evaluate("window.reports")
        histories.add(report(4_242, batch=batch, time=time.time()))
        wait_until(lambda seen=seen: page.evaluate("window.reports") > seen, "the next report")
    assert before.evaluate("section => section.isConnected")
    page.mouse.up()
    page.locator("details[id^=plan-of][open]").wait_for()
    page.get_by_text("4242", exact=True).first.wait_for()
    # A menu that another button opens does not hold the page up
    page.mouse.down(button="right")
    histories.add(report(2_424, batch=4, time=time.time()))
    page.get_by_text("2424", exact=True).first.wait_for()


def test_a_query_that_stands_still_says_so(reported):
    histories, looked_at = reported
    histories.add(report(3, time=time.time() - 40))
    looked_at.open("#/query/id-1", "query 'copy' has made no progress for 4")
    # The page has asked why by itself; it has no session to ask
    looked_at.page.get_by_text("this driver has no such query").wait_for()


def test_a_query_whose_columns_follow_its_messages_shows_their_changes_as_they_come(reported, schemas):
    histories, looked_at = reported
    histories.add(report(3, time=time.time()))
    looked_at.open("#/query/id-1", "Its columns stay those that it started with")
    versions = [SchemaVersion(1, "created", ("id BIGINT",))]
    schemas.add("id-1", lambda: QuerySchema("orders", tuple(versions), len(versions) - 1))
    histories.add(report(2, batch=1, time=time.time()))
    page = looked_at.page
    page.get_by_text("Schema changes", exact=True).click()
    page.get_by_role("cell", name="id BIGINT").wait_for()
    versions.append(SchemaVersion(2, "widened", ("n BIGINT → DOUBLE",), "partition 0, offset 42"))
    histories.add(report(1, batch=2, time=time.time()))
    # What is open is loaded again by itself
    page.get_by_role("cell", name="partition 0, offset 42").wait_for()
    assert (looked_at.serious_faults(), looked_at.problems) == ([], [])
