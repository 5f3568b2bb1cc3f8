"""An MCP server with two windows and two documents, on `pip install "mcp<2"`. It knows nothing of A2C.

Tools: `note {text}` changes a window, `add_document {doc_ref, text}` adds or replaces a document.
"""

import asyncio
import json
from urllib.parse import parse_qs, quote, unquote, urlsplit

import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError

HOST = "com.example.desk"  # yours alone
NOTE, CLOCK, LEVEL_0 = f"window://{HOST}/note", f"window://{HOST}/clock", f"dpe://{HOST}"
windows = {NOTE: "Nothing noted.", CLOCK: "It is late."}
server = Server("desk")


def page(title, *paragraphs):  # the ids are unique in the document
    elements = [{"element_id": "h-" + title, "category": "heading", "content": {"level": 1, "text": title}}]
    for n, text in enumerate(paragraphs):
        elements.append({"element_id": f"txt-{title}-{n}", "category": "text", "content": {"text": text}})
    return {"title": title, "elements": elements}


documents = {  # doc_ref: pages
    "report": [page("Overview", "All is well."), page("Details", "Sales rose.", "Costs fell.")],
    "to do": [page("Plants", "Water them.")],
}


def about(doc_ref):  # level 1, and an entry of level 0
    name = quote(doc_ref, safe="")
    return {"doc_ref": doc_ref, "uri": f"{LEVEL_0}/{name}", "file_uri": f"file:///srv/{name}.md", "file_type": "md",
            "title": doc_ref.capitalize(), "page_count": len(documents[doc_ref]), "keywords": ["desk"],
            "summary": "Begins with " + documents[doc_ref][0]["title"], "last_modified": "2026-11-16T12:00:00Z"}


@server.list_resources()
async def list_resources():
    def resource(uri, name, mime, **more):
        return types.Resource(uri=uri, name=name, mimeType=mime, **more)
    shown = [resource(uri, uri.rsplit("/", 1)[1], "text/plain", annotations={"audience": ["assistant"], "priority": p})
             for uri, p in ((CLOCK, 0.1), (NOTE, 0.9))]
    shown.append(resource(LEVEL_0, "documents", "application/json"))
    for doc in map(about, documents):  # what `_meta` says here, the Computer need not read
        meta = {key: doc[key] for key in ("file_uri", "file_type", "page_count", "keywords")}
        shown.append(resource(doc["uri"], doc["doc_ref"], "application/json", title=doc["title"], _meta=meta,
                              description=doc["summary"], annotations={"lastModified": doc["last_modified"]}))
    return shown


def missing(code, message, **what):
    return McpError(types.ErrorData(code=-32002, message=message, data={"code": code, **what}))


def find(path, query):  # [], [doc_ref], [doc_ref, "pages", N] or [doc_ref, "elements", ID]; the Computer has checked it
    begin, limit = int(query.get("offset", 0)), int(query.get("limit", 20 if path else 100))
    if not path:
        return {"documents": [about(ref) for ref in documents][begin:begin + limit], "total_count": len(documents)}
    ref = path[0]
    if ref not in documents:
        raise missing(4201, "there is no such document", doc_ref=ref)
    doc = about(ref)
    uri = doc["uri"]
    pages = [{"page_index": n, "title": page["title"], "element_count": len(page["elements"]),
              "uri": f"{uri}/pages/{n}", "doc_ref": ref} for n, page in enumerate(documents[ref])]
    if len(path) == 1:
        if query.get("depth") == "pages":
            doc.update(pages=pages[begin:begin + limit], page_offset=begin, page_limit=limit, page_total=len(pages))
        return doc
    if path[1] == "pages":
        n = int(path[2])
        if n >= len(pages):
            raise missing(4202, "there is no such page", doc_ref=ref, page_index=n, page_count=len(pages))
        elements = [element for element in documents[ref][n]["elements"]
                    if "categories" not in query or element["category"] in query["categories"].split(",")]
        return {**pages[n], "elements": elements, "element_count": len(elements)}
    for n, page in enumerate(documents[ref]):
        for element in page["elements"]:
            if element["element_id"] == path[2]:
                return {**element, "doc_ref": ref, "page_index": n, "uri": f"{uri}/elements/{quote(path[2], safe='')}"}
    raise missing(4203, "there is no such element", doc_ref=ref, element_id=path[2])


def render(found, markdown):  # a page or an element; of the levels above, the titles
    sign = {"heading": "# ", None: "- "} if markdown else {}
    pieces = found.get("elements", found.get("documents", found.get("pages", [found])))
    text = [piece["content"]["text"] if "content" in piece else piece["title"] for piece in pieces]
    return "\n\n".join(sign.get(piece.get("category"), "") + line for piece, line in zip(pieces, text))


@server.read_resource()
async def read_resource(uri):  # it comes with its query
    if str(uri) in windows:
        return [ReadResourceContents(windows[str(uri)], "text/plain")]
    url = urlsplit(str(uri))
    if (url.scheme, url.netloc) != ("dpe", HOST):
        raise McpError(types.ErrorData(code=-32002, message="there is no such resource"))
    query = {key: values[0] for key, values in parse_qs(url.query).items()}
    found, style = find([unquote(part) for part in url.path.split("/") if part], query), query.get("format", "json")
    if style == "json":
        return [ReadResourceContents(json.dumps(found), "application/json")]
    meta = {key: found[key] for key in ("page_index", "title", "doc_ref", "element_count") if key in found}
    mime = "text/markdown" if style == "markdown" else "text/plain"
    return [ReadResourceContents(render(found, style == "markdown"), mime, meta)]


@server.list_tools()
async def list_tools():
    def tool(name, *fields):
        schema = {"type": "object", "properties": {f: {"type": "string"} for f in fields}, "required": list(fields)}
        return types.Tool(name=name, inputSchema=schema)
    return [tool("note", "text"), tool("add_document", "doc_ref", "text")]


@server.call_tool()
async def call_tool(name, given):
    session = server.request_context.session
    if name == "note":
        windows[NOTE] = given["text"]
        await session.send_resource_updated(NOTE)  # it says something else
    else:
        is_new = given["doc_ref"] not in documents
        documents[given["doc_ref"]] = [page("Text", given["text"])]
        if is_new:
            await session.send_resource_list_changed()  # there is something else
        else:
            await session.send_resource_updated(about(given["doc_ref"])["uri"])
    return [types.TextContent(type="text", text="done")]


@server.subscribe_resource()
@server.unsubscribe_resource()
async def follow(uri):  # over stdio there is one client, and it wants to know everything
    pass


async def main():
    options = server.create_initialization_options(NotificationOptions(resources_changed=True))
    options.capabilities.resources.subscribe = True  # the package leaves it out, even with the handlers above
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, options)


asyncio.run(main())
