"""Metrics by the names that Kafka's Java clients give them, out of librdkafka's statistics.

Only those with the same meaning: see "Producer monitoring" and "Consumer monitoring" in Kafka's documentation, and
librdkafka's STATISTICS.md. Rates are left out, since they are the growth of the totals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_PER_MS = 1_000
"""Microseconds, which librdkafka measures latencies in."""

_TOTALS = {
    "rx": "response-total",
    "rx_bytes": "incoming-byte-total",
    "tx": "request-total",
    "tx_bytes": "outgoing-byte-total",
}


def java_metrics(report: Mapping[str, Any]) -> dict[str, float]:
    """Return a client's totals and its state at the time of a report, without metrics that have no value yet.

    Args:
        report: The statistics, as librdkafka reports them.
    """
    brokers, topics = tuple(report["brokers"].values()), tuple(report["topics"].values())
    metrics = {java: report[name] for name, java in _TOTALS.items()}
    metrics["network-io-total"] = report["tx"] + report["rx"]
    metrics["connection-creation-total"] = sum(broker["connects"] for broker in brokers)
    metrics["connection-close-total"] = sum(broker["disconnects"] for broker in brokers)
    metrics["connection-count"] = sum(broker["state"] == "UP" for broker in brokers)
    metrics |= _average("request-size", report["tx_bytes"], report["tx"])
    specific = _producer_metrics if report["type"] == "producer" else _consumer_metrics
    return {**metrics, **specific(report, brokers, topics)}


def java_interval_metrics(report: Mapping[str, Any]) -> dict[str, float]:
    """Return a client's averages and maxima of the interval that a report covers, without those of nothing.

    Args:
        report: The statistics, as librdkafka reports them.
    """
    brokers, topics = tuple(report["brokers"].values()), tuple(report["topics"].values())
    throttle_time = "produce-throttle-time" if report["type"] == "producer" else "fetch-throttle-time"
    metrics = {
        **_window("request-latency", (broker["rtt"] for broker in brokers), _PER_MS),
        **_window(throttle_time, (broker["throttle"] for broker in brokers)),
    }
    if report["type"] == "producer":
        metrics |= _window("record-queue-time", (broker["int_latency"] for broker in brokers), _PER_MS)
        metrics |= _window("batch-size", (topic["batchsize"] for topic in topics))
    return metrics


def _producer_metrics(
    report: Mapping[str, Any], brokers: tuple[dict[str, Any], ...], topics: tuple[dict[str, Any], ...]
) -> dict[str, float]:
    ages = [topic["metadata_age"] for topic in topics]
    return {
        "record-send-total": report["txmsgs"],
        "requests-in-flight": sum(broker["waitresp_cnt"] for broker in brokers),
        "buffer-total-bytes": report["msg_size_max"],
        "buffer-available-bytes": report["msg_size_max"] - report["msg_size"],
        **({"metadata-age": min(ages) / 1_000} if ages else {}),
        **_average("record-size", report["txmsg_bytes"], report["txmsgs"]),
    }


def _consumer_metrics(
    report: Mapping[str, Any], brokers: tuple[dict[str, Any], ...], topics: tuple[dict[str, Any], ...]
) -> dict[str, float]:
    fetches = sum(broker["req"].get("Fetch", 0) for broker in brokers)
    partitions = (partition for topic in topics for partition in topic["partitions"].values())
    active = [partition for partition in partitions if partition["fetch_state"] == "active"]
    lags = [partition["consumer_lag"] for partition in active if partition["consumer_lag"] >= 0]
    known = [partition for partition in active if min(partition["app_offset"], partition["lo_offset"]) >= 0]
    leads = [partition["app_offset"] - partition["lo_offset"] for partition in known]
    return {
        "records-consumed-total": report["rxmsgs"],
        "bytes-consumed-total": report["rxmsg_bytes"],
        "fetch-total": fetches,
        **({"records-lag-max": max(lags)} if lags else {}),
        **({"records-lead-min": min(leads)} if leads else {}),
        **_average("fetch-size", report["rxmsg_bytes"], fetches),
        **_average("records-per-request", report["rxmsgs"], fetches),
    }


def _average(name: str, total: float, count: int) -> dict[str, float]:
    return {f"{name}-avg": round(total / count, 3)} if count else {}


def _window(name: str, windows: Iterable[Mapping[str, Any]], divisor: int = 1) -> dict[str, float]:
    """Return the average and the maximum of what was measured in an interval; nothing where nothing was."""
    measured = [window for window in windows if window["cnt"]]
    if not measured:
        return {}
    count = sum(window["cnt"] for window in measured)
    total = sum(window["avg"] * window["cnt"] for window in measured)
    maximum = max(window["max"] for window in measured)
    return {f"{name}-avg": round(total / count / divisor, 3), f"{name}-max": round(maximum / divisor, 3)}
