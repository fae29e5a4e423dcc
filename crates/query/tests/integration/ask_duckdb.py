"""Answers queries over Parquet files with DuckDB.

Reads `{"tables": {name: path}, "queries": [...]}`, and prints for each query a list of rows or the text of an error.
"""

import decimal
import json
import math
import sys

import duckdb

# Choices of DuckDB that a setting makes those of SQLite: docs/reference/sql-engines.md.
SETTINGS = """
SET threads = 1;
SET TimeZone = 'UTC';
SET default_null_order = 'sqlite';
SET integer_division = true;
SET error_on_division_by_zero = false;
"""

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def columns(name: str, expression: str, kind) -> list[str]:
    """The columns of a table of an archive for a column of Parquet."""
    if kind.id == "struct":
        return [
            column
            for member, of in kind.children
            for column in columns(f"{name}.{member}", f"{expression}.{quoted(member)}", of)
        ]
    if kind.id == "list":
        expression = f"CAST(to_json({expression}) AS VARCHAR)"
    elif kind.id == "enum":
        expression = f"{expression}::VARCHAR"
    elif kind.id in ("float", "double"):
        # The shortest text, so that 0.1 is 0.1.
        real = f"{expression}::VARCHAR::DOUBLE" if kind.id == "float" else expression
        expression = f"CASE WHEN isnan({expression}) THEN NULL ELSE {real} END"
    elif str(kind) in INTEGERS:
        # Numbers with 64 bits, of which sums have no others.
        expression = f"{expression}::BIGINT"
    elif str(kind) == "UBIGINT":
        expression = f"{expression}::HUGEINT"
    elif str(kind).startswith("TIMESTAMP"):
        return [f"make_timestamp_ns(epoch_ns({expression})) AS {quoted(name)}", f"epoch_ns({expression}) AS time_ns"]
    return [f"{expression} AS {quoted(name)}"]


def load(connection: duckdb.DuckDBPyConnection, table: str, path: str) -> None:
    source = connection.sql(f"SELECT * FROM read_parquet('{path}')")
    selected = [
        column
        for name, kind in zip(source.columns, source.types, strict=True)
        for column in columns(name, quoted(name), kind)
    ]
    connection.execute(f"CREATE TABLE {table} AS SELECT {', '.join(selected)} FROM read_parquet('{path}')")


def cell(value: object) -> object:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | int):
        return {"integer": str(int(value))}
    if isinstance(value, decimal.Decimal):
        value = float(value)
    if isinstance(value, float):
        if math.isinf(value):
            return {"real": "inf" if value > 0 else "-inf"}
        return {"real": repr(value)}
    raise TypeError(f"{value!r} is no cell")


def answer(connection: duckdb.DuckDBPyConnection, query: str) -> object:
    try:
        result = connection.sql(query)
        times = [str(kind).startswith("TIMESTAMP") for kind in result.types]
        if any(times):
            # Python's times have microseconds.
            names = [f"c{at}" for at in range(len(times))]
            text = ", ".join(f"{name}::VARCHAR" if is_time else name for name, is_time in zip(names, times, strict=True))
            result = connection.sql(f"SELECT {text} FROM ({query}) AS t({', '.join(names)})")
        rows = result.fetchall()
    except duckdb.Error as error:
        return str(error)
    return [[time(value) if is_time else cell(value) for value, is_time in zip(row, times, strict=True)] for row in rows]


def time(text: str | None) -> str | None:
    """A time as SQL over an archive shows it."""
    if text is None:
        return None
    whole, _, fraction = text.replace(" ", "T").partition(".")
    return f"{whole}.{fraction:0<9}Z"


def main() -> None:
    asked = json.load(sys.stdin)
    connection = duckdb.connect()
    connection.execute(SETTINGS)
    for table, path in asked["tables"].items():
        load(connection, table, path)
    for statement in asked.get("statements", []):
        connection.execute(statement)
    answers = [answer(connection, query) for query in asked["queries"]]
    json.dump(answers, sys.stdout)


main()
