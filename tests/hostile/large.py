"""An MCP server whose messages are large: on its standard streams, or with `streamable` or `sse` on a free port. Standard
library only. Over HTTP it prints `ready URL` and ends with its standard input.

Its tools answer with as many bytes as they are told:

dense   nothing but the smallest objects
rows    rows of a table
text    one text

With `list` as its argument it lists half a million tools when it is asked for the second time.
"""

import json
import os
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

asked = 0


def result_of(name, size):
    if name == "dense":
        items = ",".join(['{"":0}'] * (size // 7))
        return '{"content":[{"type":"text","text":"many"}],"structuredContent":{"all":[' + items + "]}}"
    if name == "rows":
        row = '{"id":12345,"name":"a name","active":true,"amount":17.25,"tags":["one","two"]}'
        return '{"content":[],"structuredContent":{"rows":[' + ",".join([row] * (size // len(row))) + "]}}"
    return '{"content":[{"type":"text","text":"' + "a line of text\\n" * (size // 16) + '"}]}'


def answers(message):
    """The messages that answer a message, as texts."""
    global asked
    method, request, params = message.get("method"), message.get("id"), message.get("params") or {}
    result = None
    if method == "initialize":
        info = {"name": "large", "version": "1"}
        capabilities = {"tools": {"listChanged": True}}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": capabilities, "serverInfo": info}
    elif method == "tools/list":
        asked += 1
        names = ["dense", "rows", "text", "relist"]
        result = {"tools": [{"name": name, "inputSchema": {}} for name in names]}
        if sys.argv[1:] == ["list"] and asked == 2:
            tools = ",".join('{"name":"t%d","inputSchema":{}}' % number for number in range(500_000))
            result = '{"tools":[' + tools + "]}"
    elif method == "tools/call" and params["name"] == "relist":
        yield json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        result = {"content": []}
    elif method == "tools/call":
        result = result_of(params["name"], params["arguments"]["bytes"])
    elif method == "ping":
        result = {}
    if result is not None:
        text = result if isinstance(result, str) else json.dumps(result)
        yield '{"jsonrpc":"2.0","id":' + json.dumps(request) + ',"result":' + text + "}"


class Http(BaseHTTPRequestHandler):
    """Streamable HTTP that answers with JSON, and the older HTTP with one stream of events."""

    protocol_version = "HTTP/1.1"
    events = queue.Queue()

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", media="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = list(answers(message))
        if self.path == "/messages":
            for text in texts:
                self.events.put(text)
            return self.answer(202)
        # Over JSON there is no place for a notification beside the answer.
        return self.answer(200, texts[-1].encode()) if texts else self.answer(202)

    def do_GET(self):
        if self.path != "/sse":
            return self.answer(405)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        while True:
            self.wfile.write(b"event: message\ndata: " + self.events.get().encode() + b"\n\n")

    def do_DELETE(self):
        self.answer(200)


if sys.argv[1:2] in (["streamable"], ["sse"]):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Http)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    path = "sse" if sys.argv[1] == "sse" else "mcp"
    print(f"ready http://127.0.0.1:{server.server_address[1]}/{path}", flush=True)
    sys.stdin.read()
    os._exit(0)

for line in sys.stdin:
    for text in answers(json.loads(line)):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
