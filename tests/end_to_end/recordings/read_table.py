"""Prints the rows of Arrow streams and Parquet files as JSON lines, read with each library that people would use."""

import json
import math
import sys

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet


def plain(value, kind):
    """A value as JSON has it: reals by their shortest text, what is no number as text, dictionaries as what they stand for."""
    if pa.types.is_dictionary(kind):
        return value
    if pa.types.is_struct(kind):
        return {field.name: plain(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind):
        return [plain(element, kind.value_type) for element in value]
    if pa.types.is_floating(kind):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return float(str(np.float32(value))) if pa.types.is_float32(kind) else value
    return value


def rows(table):
    time = table.schema.field("time").type
    assert time == pa.timestamp("ns", "UTC"), time
    table = table.set_column(table.schema.get_field_index("time"), "time", table["time"].cast(pa.int64()))
    for row in table.to_pylist():
        yield {field.name: plain(row[field.name], field.type) for field in table.schema}


def main(path):
    if path.endswith(".parquet"):
        table = pa.parquet.read_table(path)
        frame = polars.read_parquet(path)
        [(count, last)] = duckdb.sql(f"SELECT count(*), max(sequence) FROM read_parquet('{path}')").fetchall()
    else:
        with open(path, "rb") as file:
            table = pa.ipc.open_stream(file).read_all()
        frame = polars.read_ipc_stream(path)
        samples = table  # duckdb finds it by its name
        [(count, last)] = duckdb.sql("SELECT count(*), max(sequence) FROM samples").fetchall()
    # The others see the same.
    assert frame.height == count == table.num_rows, (frame.height, count, table.num_rows)
    assert frame["sequence"].to_list() == table["sequence"].to_pylist()
    assert last == max(table["sequence"].to_pylist())
    assert str(frame["time"].dtype) == "Datetime(time_unit='ns', time_zone='UTC')", frame["time"].dtype
    print(json.dumps({key.decode(): value.decode() for key, value in table.schema.metadata.items() if key.startswith(b"oasis")}))
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema if field.metadata and b"unit" in field.metadata}
    print(json.dumps(units))
    for row in rows(table):
        print(json.dumps(row))


main(sys.argv[1])
