"""An MCP server whose tool `meta` gives back what came with its request besides the arguments."""

import json

from mcp.server.fastmcp import Context, FastMCP

server = FastMCP("meta", log_level="ERROR")


@server.tool()
def meta(context: Context) -> str:
    """The request's `_meta`, as JSON."""
    sent = context.request_context.meta
    return json.dumps(sent.model_dump(exclude_none=True) if sent else {})


server.run("stdio")
