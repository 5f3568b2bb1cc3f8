"""An MCP server of the `mcp` package over HTTP: `mcp_http.py MODE [PORT]`, where MODE is `stateful`, `stateless`, `json`
(streamable HTTP with each of its ways to answer) or `sse`.

Prints `ready http://127.0.0.1:PORT` and, for every request, `request METHOD PATH` with the headers the tests look at.
Lines on standard input change what it does: `refuse STATUS` answers everything with that status, `accept` ends that.
"""

import asyncio
import json
import socket
import sys

import uvicorn
from mcp.server.fastmcp import Context, FastMCP

MODE = sys.argv[1]
refusing: int | None = None
server = FastMCP("http", stateless_http=MODE == "stateless", json_response=MODE == "json", log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    """The text, as it came."""
    return text


@server.tool()
def long(megabytes: int) -> str:
    """A text of that many megabytes."""
    return "x" * (megabytes << 20)


@server.tool()
async def grow(context: Context) -> str:
    """Adds a tool and says so."""
    server.add_tool(lambda: "new", name="grown", description="New.")
    await context.session.send_tool_list_changed()
    return "grown"


def tell(scope) -> None:
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    kept = {name: headers[name] for name in ("authorization", "x-key", "mcp-session-id") if name in headers}
    print("request", scope["method"], scope["path"], json.dumps(kept), flush=True)


def watched(app):
    """Tells of every request, and refuses it where that was asked for."""

    async def run(scope, receive, send):
        if scope["type"] != "http":
            return await app(scope, receive, send)
        tell(scope)
        if refusing is None:
            return await app(scope, receive, send)
        await send({"type": "http.response.start", "status": refusing, "headers": []})
        await send({"type": "http.response.body", "body": b"secret details of the server"})

    return run


async def follow_orders() -> None:
    global refusing
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := (await reader.readline()).decode().split():
        refusing = int(line[1]) if line[0] == "refuse" else None
        print("now", *line, flush=True)


async def main() -> None:
    listener = socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0))
    app = server.sse_app() if MODE == "sse" else server.streamable_http_app()
    web = uvicorn.Server(uvicorn.Config(watched(app), log_level="error", timeout_graceful_shutdown=1))
    orders = asyncio.create_task(follow_orders())
    print(f"ready http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    await web.serve(sockets=[listener])
    orders.cancel()


asyncio.run(main())
