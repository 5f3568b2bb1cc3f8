"""An MCP server on standard streams that repeats its environment variable KEY wherever it can. Standard library only.

Its tools are named after the way by which they tell it.
"""

import json
import os
import sys

key = os.environ["KEY"]
said = f"the key is {key}."
everywhere = {key: said, "deep": [{key: [said]}]}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name):
    return {
        "name": name,
        "title": said,
        "description": said,
        "inputSchema": {"type": "object", "title": said, "properties": {"a": {"description": said, "enum": [said]}}},
        "outputSchema": {"type": "object", "title": said, "properties": {key: {"default": everywhere}}},
        "annotations": {"title": said},
        "icons": [{"src": said}],
        "_meta": everywhere,
    }


def resource(uri):
    more = {"title": said, "description": said, "mimeType": said, "_meta": everywhere}
    return {"uri": uri, "name": said, "annotations": {"lastModified": said, "own": said}, **more}


def call(request, params):
    name = params["name"]
    if name == "result":
        content = [
            {"type": "text", "text": said, "_meta": everywhere},
            {"type": "resource", "resource": {"uri": f"a://{key}", "text": said, "mimeType": said}},
        ]
        answer = {"content": content, "structuredContent": everywhere, "_meta": everywhere}
        send({"id": request, "result": answer})
    elif name == "large":
        rows = [{"row": number, key: said} for number in range(2000)]
        answer = {"content": [{"type": "text", "text": said * 2000}], "structuredContent": {"rows": rows}}
        send({"id": request, "result": {**answer, "_meta": everywhere}})
    elif name == "failure":
        send({"id": request, "result": {"content": [{"type": "text", "text": said}], "isError": True}})
    elif name == "error":
        send({"id": request, "error": {"code": -32000, "message": said, "data": everywhere}})
    elif name == "unreadable":
        send({"id": request, "result": said})
    elif name == "progress":
        token = params.get("_meta", {}).get("progressToken")
        # The key lies across the place where a long message is cut.
        for before in range(1024 - len(said) - len(key), 1024):
            report = {"progressToken": token, "progress": before, "message": "x" * before + said}
            send({"method": "notifications/progress", "params": report})
        notice = {"level": "error", "logger": said, "data": everywhere}
        send({"method": "notifications/message", "params": notice})
        send({"method": said, "params": everywhere})
        send({"id": said, "method": said, "params": everywhere})
        send({"id": request, "result": {"content": []}})
    elif name == "lines":
        print(said, flush=True)
        print(said, file=sys.stderr, flush=True)
        send({"id": request, "result": {"content": []}})
    elif name == "end":
        print(said, file=sys.stderr, flush=True)
        os._exit(1)


tools = [tool(name) for name in ("result", "large", "failure", "error", "unreadable", "progress", "lines", "end", key)]
resources = [resource("window://leaky/w"), resource("demo://leaky"), resource(f"demo://{key}")]

for line in sys.stdin:
    message = json.loads(line)
    method, request, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}, "resources": {}}
        info = {"name": said, "version": said}
        hello = {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        send({"id": request, "result": {**hello, "instructions": said}})
    elif method == "tools/list":
        send({"id": request, "result": {"tools": tools}})
    elif method == "tools/call":
        call(request, params)
    elif method == "resources/list":
        send({"id": request, "result": {"resources": resources}})
    elif method == "resources/read" and params["uri"].startswith("demo://"):
        send({"id": request, "error": {"code": -32002, "message": said, "data": everywhere}})
    elif method == "resources/read":
        content = {"uri": params["uri"], "mimeType": "text/plain", "text": said, "_meta": everywhere}
        send({"id": request, "result": {"contents": [content]}})
    elif method == "ping":
        send({"id": request, "result": {}})
