"""An MCP server on standard streams whose messages are large. Standard library only.

Its tools answer with as many bytes as they are told:

dense   nothing but the smallest objects
rows    rows of a table
text    one text

With `list` as its argument it lists half a million tools when it is asked for the second time.
"""

import json
import sys

asked = 0


def write(message):
    sys.stdout.write(message + "\n")
    sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def call(request, name, size):
    if name == "dense":
        items = ",".join(['{"":0}'] * (size // 7))
        result = '{"content":[{"type":"text","text":"many"}],"structuredContent":{"all":[' + items + "]}}"
    elif name == "rows":
        row = '{"id":12345,"name":"a name","active":true,"amount":17.25,"tags":["one","two"]}'
        result = '{"content":[],"structuredContent":{"rows":[' + ",".join([row] * (size // len(row))) + "]}}"
    else:
        result = '{"content":[{"type":"text","text":"' + "a line of text\\n" * (size // 16) + '"}]}'
    write('{"jsonrpc":"2.0","id":' + json.dumps(request) + ',"result":' + result + "}")


for line in sys.stdin:
    message = json.loads(line)
    method, request, params = message.get("method"), message.get("id"), message.get("params") or {}
    if method == "initialize":
        capabilities = {"tools": {"listChanged": True}}
        info = {"name": "large", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
        send({"id": request, "result": result})
    elif method == "tools/list":
        asked += 1
        if sys.argv[1:] == ["list"] and asked == 2:
            tools = ",".join('{"name":"t%d","inputSchema":{}}' % number for number in range(500_000))
            write('{"jsonrpc":"2.0","id":' + json.dumps(request) + ',"result":{"tools":[' + tools + "]}}")
        else:
            names = ["dense", "rows", "text", "relist"]
            send({"id": request, "result": {"tools": [{"name": name, "inputSchema": {}} for name in names]}})
    elif method == "tools/call" and params["name"] == "relist":
        send({"method": "notifications/tools/list_changed"})
        send({"id": request, "result": {"content": []}})
    elif method == "tools/call":
        call(request, params["name"], params["arguments"]["bytes"])
    elif method == "ping":
        send({"id": request, "result": {}})
