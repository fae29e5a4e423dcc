"""Answers queries over a Parquet file with DuckDB: reads `{"parquet": path, "queries": [...]}`, prints a list of rows for each query."""

import json
import sys

import duckdb


def main() -> None:
    asked = json.load(sys.stdin)
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    # As the tables of an archive: times in nanoseconds, and numbers with 64 bits, of which sums have no others.
    connection.execute(
        "CREATE TABLE probe AS SELECT * REPLACE (node::VARCHAR AS node, instance::VARCHAR AS instance, run::VARCHAR AS run, "
        "epoch::VARCHAR AS epoch, value::BIGINT AS value, sequence::BIGINT AS sequence, "
        "CASE WHEN isnan(level) THEN NULL ELSE level END AS level), epoch_ns(time) AS time_ns "
        f"FROM read_parquet('{asked['parquet']}')"
    )
    answers = [connection.execute(query).fetchall() for query in asked["queries"]]
    json.dump(answers, sys.stdout)


main()
