"""Draw the pictures of the pages: docs/images/*.svg."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from bench.svg import Drawing

FOLDER = Path(__file__).with_name("images")


def render() -> dict[Path, str]:
    """Return the text of each picture by its file."""
    return {FOLDER / f"{name}.svg": str(draw()) for name, draw in _PICTURES.items()}


def _record_path() -> Drawing:
    drawing = Drawing(
        760,
        330,
        "The path of a record",
        "On the driver, options become topics, offsets and splits. On executors, a task fetches the messages of its"
        " split from Kafka, filters them by their headers, decodes them, and gives the query Arrow batches. The "
        "rows that the query returns are encoded, get a partition, are produced, and the task commits.",
    )
    drawing.lane(140, 10, 480, 82, "driver: plans each micro-batch")
    drawing.lane(140, 112, 480, 82, "executors: read")
    drawing.lane(140, 214, 480, 106, "executors: write")
    columns = (152, 269, 386, 503)
    rows = {
        36: (("topics", "subscription"), ("offsets", "initializer"), ("limits", "micro-batch"), ("splits", "of tasks")),
        138: (("Arrow", "batches"), ("decode", "format"), ("filter", "headers"), ("fetch", "consumer")),
        240: (
            ("encode", "format"),
            ("partition", "partitioner"),
            ("produce", "acknowledged"),
            ("commit", "exactly once"),
        ),
    }
    for y, stages in rows.items():
        for x, (name, detail) in zip(columns, stages, strict=True):
            drawing.box(x, y, 105, 46, (name, detail), "ours")
    for before, after in pairwise(columns):
        drawing.arrow((before + 105, 59), (after, 59))
        drawing.arrow((after, 161), (before + 105, 161))
        drawing.arrow((before + 105, 263), (after, 263))
    drawing.text(380, 309, "formats, partitioners, initializers and filters are plugins", "small", "middle")
    drawing.box(10, 128, 110, 168, ("your query", "in Spark"))
    drawing.box(640, 128, 110, 168, ("Kafka", "topics"), "kafka")
    drawing.box(10, 36, 110, 46, ("options", "checkpoint"))
    drawing.arrow((120, 59), (152, 59))
    drawing.arrow((555, 82), (555, 138))
    drawing.arrow((640, 161), (608, 161))
    drawing.arrow((152, 161), (120, 161))
    drawing.arrow((120, 263), (152, 263))
    drawing.arrow((608, 263), (640, 263))
    return drawing


def _exactly_once() -> Drawing:
    drawing = Drawing(
        760,
        550,
        "An exactly-once micro-batch whose worker is killed",
        "The first attempt of task 0 takes over the transactional id, reads the ledger, which says micro-batch 6, "
        "and produces rows of micro-batch 7 in a transaction. Its worker is killed. The second attempt takes over "
        "the id, and Kafka aborts the open transaction. The ledger still says 6, so it produces the rows "
        "again and commits them together with ledger 7. Had the kill come after the commit, the ledger would say 7,"
        " and it would skip them.",
    )
    first, kafka, second = 10, 275, 540
    for x, lines, kind in (
        (first, ("task 0, first attempt", "micro-batch 7"), "ours"),
        (kafka, ("Kafka", "transactional id orders-copy-0"), "kafka"),
        (second, ("task 0, second attempt", "micro-batch 7, repeated"), "ours"),
    ):
        drawing.box(x, 10, 210, 46, lines, kind)
    drawing.text(second + 105, 188, "Spark repeats the task", "small", "middle")
    _exchange(drawing, 90, "1  take over the id", from_left=True)
    _exchange(drawing, 126, "2  read the ledger: 6", from_left=True)
    _exchange(drawing, 162, "3  produce rows", from_left=True)
    drawing.box(kafka, 96, 210, 44, ("ledger: micro-batch 6", "rows up to 6 are visible"), "kafka")
    drawing.box(kafka, 148, 210, 44, ("open transaction", "its rows are not visible"), "cache")
    drawing.box(first, 182, 210, 40, ("the worker is killed",), "kill")
    _exchange(drawing, 240, "1  take over the id", from_left=False)
    drawing.box(kafka, 218, 210, 44, ("transaction aborted", "late requests are rejected"), "cache")
    _exchange(drawing, 292, "2  read the ledger: still 6", from_left=False)
    _exchange(drawing, 328, "3  produce the rows again", from_left=False)
    _exchange(drawing, 364, "4  commit rows and ledger", from_left=False)
    drawing.box(kafka, 330, 210, 44, ("ledger: micro-batch 7", "rows of 7 are visible, once"), "kafka")
    drawing.lane(10, 410, 740, 130, "killed after the commit instead")
    drawing.box(kafka, 462, 210, 44, ("ledger: micro-batch 7", "rows of 7 are visible"), "kafka")
    drawing.box(30, 462, 190, 44, ("the worker is killed", "before Spark knows"), "kill")
    _exchange(drawing, 466, "1  take over the id", from_left=False)
    _exchange(drawing, 496, "2  read the ledger: 7", from_left=False)
    drawing.text(612, 524, "3  skip the rows", "", "middle")
    return drawing


def _exchange(drawing: Drawing, y: float, text: str, *, from_left: bool) -> None:
    """Draw a request of a task to Kafka, which stands between the two attempts."""
    start, end, middle = (10, 275, 142) if from_left else (740, 485, 612)
    drawing.arrow((start, y), (end, y))
    drawing.text(middle, y - 5, text, "", "middle")


def _state() -> Drawing:
    drawing = Drawing(
        760,
        420,
        "Where state lives",
        "The checkpoint keeps the offsets of each micro-batch and the columns of topics and pipelines. The folder "
        "state.checkpoints.dir keeps the state of upsert tables. Kafka keeps the ledgers of exactly-once sinks, and"
        " a group's offsets for monitoring. The driver's disk keeps a note. Executors' disks have caches only.",
    )
    drawing.lane(10, 10, 360, 236, "the query's storage: keep, copy and delete as one")
    drawing.box(30, 40, 320, 52, ("offsets of each micro-batch", "where a restart continues"), "ours")
    drawing.box(30, 104, 320, 52, ("columns", "of topics and pipelines whose schemas change"), "ours")
    drawing.box(30, 168, 320, 52, ("state of upsert tables", "state.checkpoints.dir: snapshots and changes"), "ours")
    drawing.text(190, 238, "checkpointLocation, except for the last one", "small", "middle")
    drawing.lane(390, 10, 360, 236, "Kafka")
    drawing.box(410, 40, 320, 52, ("ledgers of exactly-once sinks", "in the transactions that wrote the rows"), "kafka")
    drawing.box(410, 104, 320, 52, ("dead letters", "in the topic that you name"), "kafka")
    group = ("offsets of the consumer group", "for monitoring; a restart never reads them")
    drawing.box(410, 168, 320, 52, group, "cache")
    drawing.lane(10, 266, 360, 144, "the driver's disk")
    note = ("note of the last complete micro-batch", "for exactly-once queries that were idle for days")
    drawing.box(30, 296, 320, 52, note)
    drawing.lane(390, 266, 360, 144, "executors' disks")
    drawing.box(410, 296, 320, 44, ("rows of upsert tables", "restored from state.checkpoints.dir"), "cache")
    drawing.box(410, 348, 320, 44, ("messages fetched ahead", "fetched again if they are gone"), "cache")
    drawing.text(190, 388, "dashed: nothing is lost without it", "small", "middle")
    return drawing


def _schema_change() -> Drawing:
    drawing = Drawing(
        760,
        295,
        "A schema change in a pipeline",
        "In each micro-batch, executors parse the messages and report new fields. The driver merges them into the "
        "source's tables, derives the sink's tables, and stores both in the checkpoint. Then it changes the sink's "
        "tables, and only then the rows are written. If the run is killed in between, the repeated micro-batch "
        "finds the stored schemas and makes the same changes.",
    )
    drawing.box(10, 20, 150, 62, ("messages", '{"id": 7, "vip": true}', "a new field"), "kafka")
    steps = (
        ("1  parse", "executors report", "new fields"),
        ("2  merge", "vip BOOLEAN", "at the end"),
        ("3  derive", "routes, transforms,", "schema.change.behavior"),
    )
    for number, lines in enumerate(steps):
        x = 200 + number * 195
        drawing.box(x, 20, 160, 62, lines, "ours")
        drawing.arrow((x - 40 if number == 0 else x - 35, 51), (x, 51))
    drawing.arrow((670, 82), (670, 124))
    later = (
        (590, ("4  store", "both schemas", "in the checkpoint")),
        (395, ("5  change tables", "ALTER TABLE ...", "ADD COLUMN vip")),
        (200, ("6  write", "the rows of", "all tables")),
    )
    for x, lines in later:
        drawing.box(x, 124, 160, 62, lines, "ours")
    drawing.arrow((590, 155), (555, 155))
    drawing.arrow((395, 155), (360, 155))
    drawing.arrow((200, 155), (160, 155))
    drawing.box(10, 124, 150, 62, ("sink", "earlier rows:", "vip is NULL"))
    drawing.box(395, 222, 160, 62, ("killed in 5 or 6", "the micro-batch", "is repeated"), "kill")
    drawing.arrow((475, 222), (475, 186))
    drawing.arrow((555, 253), (670, 253), (670, 186))
    drawing.text(680, 246, "finds what", "small")
    drawing.text(680, 262, "4 has stored", "small")
    drawing.text(386, 246, "the same changes, then the same rows;", "small", "end")
    drawing.text(386, 262, "a column that exists is not added again", "small", "end")
    return drawing


_PICTURES: dict[str, Callable[[], Drawing]] = {
    "record-path": _record_path,
    "exactly-once": _exactly_once,
    "state": _state,
    "schema-change": _schema_change,
}
