"""A small MCP server for the SDK's Computer. Its tool `reword` changes another one."""

from mcp.server.fastmcp import Context, FastMCP, Image

server = FastMCP("sample", log_level="ERROR")


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
def fail(text: str) -> str:
    """Always fails."""
    raise ValueError(text)


@server.tool()
def picture(size: int) -> Image:
    """An image of that many bytes."""
    return Image(data=bytes(i % 251 for i in range(size)), format="png")


@server.tool()
async def reword(description: str, context: Context) -> str:
    """Describes `echo` in other words and says that the list of tools changed."""
    # A new tool would show less: the SDK's Computer passes the change on, but goes on listing the
    # tools whose names it saw when it started.
    server.remove_tool("echo")
    server.add_tool(echo, description=description)
    await context.session.send_tool_list_changed()
    return "reworded"


server.run("stdio")
