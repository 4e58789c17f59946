"""Sales from orders: a Spark query from one Kafka topic to another, complete and ready to copy."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery

import millrace

BOOTSTRAP_SERVERS = "127.0.0.1:9092"  # where your Kafka is; `millrace broker start` runs one on this machine
ORDERS_TOPIC = "orders"
SALES_TOPIC = "sales"

ORDERS = "id BIGINT, customer STRING, country STRING, product STRING, amount DOUBLE, quantity INT, ts TIMESTAMP"


def start_pipeline(spark: SparkSession, bootstrap_servers: str, checkpoint: str) -> StreamingQuery:
    """Start the query that turns orders into sales with their revenue, and leaves out returned goods."""
    orders = (
        spark.readStream.format("millrace")
        .schema(ORDERS)
        .option("properties.bootstrap.servers", bootstrap_servers)
        .option("topic", ORDERS_TOPIC)
        .option("format", "json")
        .option("scan.startup.mode", "earliest-offset")
        .option("scan.max-records-per-batch", 10_000)
        .load()
    )
    sales = (
        orders.where("quantity > 0")  # returned goods have a negative quantity
        .withColumn("revenue", sf.round(sf.col("amount") * sf.col("quantity"), 2))
        .select("id", "ts", "country", "product", "revenue")
    )
    return (
        sales.writeStream.format("millrace")
        .option("properties.bootstrap.servers", bootstrap_servers)
        .option("topic", SALES_TOPIC)
        .option("format", "json")
        .option("checkpointLocation", checkpoint)
        .trigger(processingTime="500 milliseconds")
        .start()
    )


if __name__ == "__main__":
    start_pipeline(millrace.local_session(), BOOTSTRAP_SERVERS, "checkpoint").awaitTermination()
