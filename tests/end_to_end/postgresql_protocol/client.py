"""Reads the samples of a DAC with psycopg: python client.py PORT. Prints what it finds as JSON."""

import datetime
import json
import sys

import psycopg


def main() -> None:
    connect = f"host=127.0.0.1 port={sys.argv[1]} user=ada dbname=plant"
    with psycopg.connect(connect) as connection:
        found = {
            "text": rows(connection.cursor()),
            "binary": rows(connection.cursor(binary=True)),
            "types": types(connection),
            "streamed": len(list(connection.cursor().stream("SELECT * FROM generate_series(1, 2500) AS i"))),
            "many": sum(row[0] for row in connection.execute("SELECT * FROM generate_series(1, 2500) AS i")),
            "array": one(connection, "SELECT count(*) FROM instances WHERE node = ANY(%s)", (["a", "x"],)),
            "prepared": [one(connection, "SELECT %s + 1", (at,)) for at in range(8)],
            "number as text": one(connection, "SELECT count(*) FROM beat WHERE sequence >= '3'", None),
            "unknown as number": one(connection, "SELECT count(*) FROM beat WHERE sequence >= %t", ("3",)),
            "pipeline": pipeline(connection),
        }
        found["errors"] = errors(connection)
        found["nested"] = nested(connection)
    print(json.dumps(found))


def rows(cursor: psycopg.Cursor) -> list:
    cursor.execute("SELECT time, node, sequence, sequence / 2.0 AS half, NULL AS nothing FROM beat WHERE node = %s ORDER BY time", ("a",))
    return [[row[0].isoformat(), *row[1:]] for row in cursor.fetchall()]


def types(connection: psycopg.Connection) -> list:
    cursor = connection.execute("SELECT time, node, sequence, 1.5 AS x, x'00ff' AS bytes, NULL AS nothing FROM beat LIMIT 1")
    value = cursor.fetchone()
    assert value[0].tzinfo is not None and value[4] == b"\x00\xff", value
    past = datetime.datetime(2026, 5, 4, tzinfo=datetime.timezone.utc)
    assert one(connection, "SELECT count(*) FROM beat WHERE time > %s", (past,)) == 2
    assert one(connection, "SELECT count(*) FROM beat WHERE time > %b", (past,)) == 2
    return [column.type_code for column in cursor.description]


def one(connection: psycopg.Connection, query: str, values: tuple | None) -> object:
    return connection.execute(query, values).fetchone()[0]


def pipeline(connection: psycopg.Connection) -> list:
    with connection.pipeline():
        cursors = [connection.execute("SELECT %s", (at,)) for at in range(5)]
        return [cursor.fetchone()[0] for cursor in cursors]


def errors(connection: psycopg.Connection) -> list:
    found = []
    for query in ("SELECT nope FROM beat", "SELECT 1", "SELECT * FROM nope", "DELETE FROM beat", "SELECT time - time FROM beat"):
        try:
            connection.execute(query)
        except psycopg.Error as error:
            found.append([error.sqlstate, error.diag.statement_position])
            # The second one finds the transaction of the first.
            if len(found) > 1:
                connection.rollback()
    connection.rollback()
    return found


def nested(connection: psycopg.Connection) -> object:
    with connection.transaction():
        try:
            with connection.transaction():
                connection.execute("SELECT nope")
        except psycopg.errors.UndefinedColumn:
            pass
        return one(connection, "SELECT 1", None)


main()
