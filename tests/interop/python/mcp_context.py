"""An MCP server with windows and documents that its tools change, on the low-level server of the `mcp` package.

Its only argument is a JSON object, or @FILE with one:
  resources   what `resources/list` gives, in order; each is an MCP Resource, plus under "read" what reading it gives:
              a text, a list of texts, {"json": …}, {"blob": …}, {"mime": …, "text": …}, {"error": …}, {"hang": true},
              {"slow": SECONDS, "text": …} or null
  page        how many resources a page of the list has; all where it is absent
  circles     whether the list leads back to its beginning for ever
  subscribe   whether the capability is declared (default: yes)
  reads       contents of URIs that are not listed
"""

import asyncio
import base64
import collections
import json
import sys

import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError

given = sys.argv[1]
says = json.loads(open(given[1:]).read() if given.startswith("@") else given)
listed = {entry["uri"]: entry for entry in says.get("resources", [])}
unlisted = dict(says.get("reads", {}))
counts = collections.Counter()
subscribed = collections.Counter()
server = Server("context")
session = None


def tool(name, **fields):
    return types.Tool(name=name, description=name, inputSchema={"type": "object", "properties": fields})


@server.list_tools()
async def tools():
    return [tool(name) for name in ("put", "drop", "touch", "burst", "counts", "swap")]


@server.call_tool(validate_input=False)
async def call(name, given):
    global session
    session = server.request_context.session
    answer = "done"
    if name == "put":  # a resource, listed last if it is new
        listed[given["resource"]["uri"]] = given["resource"]
        if given.get("tell", True):
            await session.send_resource_list_changed()
    elif name == "drop":
        listed.pop(given["uri"], None)
        await session.send_resource_list_changed()
    elif name == "touch":  # changes what reading gives, and tells of it
        if "read" in given:
            entry = listed.get(given["uri"])
            if entry is not None:
                entry["read"] = given["read"]
            else:
                unlisted[given["uri"]] = given["read"]
        await session.send_resource_updated(given["uri"])
    elif name == "burst":
        for number in range(given["count"]):
            listed[given["uri"]]["read"] = str(number)
            await session.send_resource_updated(given["uri"])
    elif name == "swap":  # the order of the list, and nothing else
        for uri in list(reversed(list(listed))):
            listed[uri] = listed.pop(uri)
        await session.send_resource_list_changed()
    elif name == "counts":
        answer = json.dumps({"asked": counts, "subscribed": subscribed})
    return [types.TextContent(type="text", text=answer)]


async def resources(request: types.ListResourcesRequest):
    counts["list"] += 1
    entries = [{key: value for key, value in entry.items() if key != "read"} for entry in listed.values()]
    size = says.get("page") or len(entries) or 1
    begin = int(request.params.cursor) if request.params and request.params.cursor else 0
    if begin % size or begin > len(entries):
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="this is not a cursor of mine"))
    more = begin + size < len(entries)
    # Not validated: what other libraries let through, this one is to send.
    page = [types.Resource.model_construct(**entry) for entry in entries[begin : begin + size]]
    cursor = "0" if says.get("circles") else str(begin + size) if more else None
    return types.ServerResult(types.ListResourcesResult.model_construct(resources=page, nextCursor=cursor))


server.request_handlers[types.ListResourcesRequest] = resources


async def contents(request: types.ReadResourceRequest):
    uri = str(request.params.uri)
    counts[f"read {uri}"] += 1
    # The library normalises URLs: the path of a host alone becomes "/".
    found = [known for known in (uri, uri.rstrip("/")) if known in listed or known in unlisted]
    if not found:
        raise McpError(types.ErrorData(code=-32002, message="resource not found"))
    read = listed[found[0]].get("read") if found[0] in listed else unlisted[found[0]]
    return types.ServerResult(types.ReadResourceResult(contents=await parts(uri, read)))


server.request_handlers[types.ReadResourceRequest] = contents


async def parts(uri, read):
    if read is None:
        return []
    if isinstance(read, list):
        return [part for each in read for part in await parts(uri, each)]
    if isinstance(read, str):
        return [types.TextResourceContents(uri=uri, mimeType="text/plain", text=read)]
    if "error" in read:
        raise McpError(types.ErrorData(**read["error"]))
    if read.get("hang"):
        await asyncio.Event().wait()
    if "slow" in read:
        await asyncio.sleep(read["slow"])
    if "json" in read:
        return [types.TextResourceContents(uri=uri, mimeType="application/json", text=json.dumps(read["json"]))]
    if "blob" in read:
        blob = base64.b64encode(read["blob"].encode()).decode()
        return [types.BlobResourceContents(uri=uri, mimeType="application/octet-stream", blob=blob)]
    return [types.TextResourceContents(uri=uri, mimeType=read.get("mime", "text/plain"), text=read["text"])]


@server.subscribe_resource()
async def subscribe(uri):
    subscribed[str(uri)] += 1


@server.unsubscribe_resource()
async def unsubscribe(uri):
    subscribed[str(uri)] -= 1


async def main():
    capabilities = server.get_capabilities(NotificationOptions(resources_changed=True), {})
    capabilities.resources.subscribe = says.get("subscribe", True)
    options = InitializationOptions(server_name="context", server_version="1", capabilities=capabilities)
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


asyncio.run(main())
