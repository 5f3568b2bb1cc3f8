"""A small MCP server of the `mcp` package over HTTP, on a free port.

Usage: python fastmcp_http.py streamable-http|sse. Prints `ready URL`; ends with its standard input.
"""

import os
import socket
import sys
import threading

import uvicorn
from mcp.server.fastmcp import Context, FastMCP, Image

server = FastMCP("http", log_level="ERROR")


@server.tool()
def repeat(text: str, times: int) -> str:
    """Gives the text back, several times."""
    return text * times


@server.tool()
def fail(text: str) -> str:
    """Always fails."""
    raise ValueError(text)


@server.tool()
def picture(size: int) -> Image:
    """An image of that many bytes."""
    return Image(data=bytes(i % 251 for i in range(size)), format="png")


@server.tool()
async def steps(count: int, context: Context) -> str:
    """Tells of its progress."""
    for done in range(count):
        await context.report_progress(done + 1, count)
    return "done"


@server.tool()
async def grow(name: str, context: Context) -> str:
    """Adds a tool and says so."""
    server.add_tool(lambda: "grown", name=name, description="Was not there before.")
    await context.session.send_tool_list_changed()
    return "grown"


def end_with_input():
    sys.stdin.read()
    os._exit(0)


transport = sys.argv[1]
app = server.sse_app() if transport == "sse" else server.streamable_http_app()
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
threading.Thread(target=end_with_input, daemon=True).start()
# Bound and listening: a client that connects before uvicorn accepts waits in the backlog.
path = "sse" if transport == "sse" else "mcp"
print(f"ready http://127.0.0.1:{listener.getsockname()[1]}/{path}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])
