"""Asks a DAC with the official client of the Model Context Protocol.

    client.py URL OASIS

Over HTTP in both eras of the protocol, and through `oasis mcp`. Prints the newest value that each way has read.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

NAME = {"node": "plant-7", "instance": "pump"}
TOOLS = {
    "list_instances",
    "describe_instance",
    "read_samples",
    "list_tables",
    "query_sql",
    "explain_gaps",
    "list_alarms",
    "send_command",
}


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    """Calls a tool that must succeed. Returns its answer."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    assert not result.is_error, f"{tool}: {text}"
    return json.loads(text)


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    """Calls a tool that must not succeed. Returns the reason."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, f"{tool}: {result}"
    return str(result.content[0].text)


async def use_each_tool(client: Client) -> Any:
    """Uses each tool and resource. Returns the number of the newest sample."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert tools == TOOLS, tools
    listed = await call(client, "list_instances", {"pattern": "plant-*/pump"})
    assert [one["instance"] for one in listed["instances"]] == ["pump"], listed
    described = await call(client, "describe_instance", NAME)
    assert described["ledger"]["unexplained"] == 0, described
    samples = await call(client, "read_samples", NAME | {"last": 3})
    gaps = await call(client, "explain_gaps", NAME)
    assert gaps["archive"]["missing"] == 0, gaps
    tables = await call(client, "list_tables", {"pattern": "inst*"})
    assert [table["name"] for table in tables["tables"]] == ["instances"], tables
    rows = await call(client, "query_sql", {"query": "SELECT instance FROM instances WHERE node = 'plant-7'"})
    assert ["pump"] in rows["rows"], rows
    for tool, arguments, word in [
        ("query_sql", {"query": "DELETE FROM instances"}, "SELECT"),
        ("describe_instance", NAME | {"node": "plant-8"}, "plant-8/pump"),
    ]:
        reason = await refused(client, tool, arguments)
        assert word in reason, reason
    assert (await call(client, "list_alarms", {}))["alarms"] == []
    command = NAME | {"command": "hertz", "hertz": 25}
    confirmation = (await call(client, "send_command", command))["confirmation"]
    done = await call(client, "send_command", command | {"confirmation": confirmation})
    assert done["hertz"] == 25, done
    resources = [str(found.uri) for found in (await client.list_resources()).resources]
    read = await client.read_resource(next(uri for uri in resources if "pump" in uri))
    assert json.loads(read.contents[0].text)["metrics"], read
    return samples["samples"][-1]["sequence"]


async def main() -> None:
    """Prints a line of JSON."""
    url, oasis = sys.argv[1:]
    found = {}
    for mode in ("auto", "legacy"):
        async with Client(f"{url}/mcp", mode=mode) as client:
            found[f"http {client.protocol_version}"] = await use_each_tool(client)
    command = StdioServerParameters(command=oasis, args=["mcp", "--url", url], env=dict(os.environ))
    for mode in ("auto", "legacy"):
        async with Client(stdio_client(command), mode=mode) as client:
            found[f"stdio {client.protocol_version}"] = await use_each_tool(client)
    print(json.dumps(found))


asyncio.run(main())
