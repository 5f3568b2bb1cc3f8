"""An MCP server on standard streams that writes what it should not. Standard library only.

Its output has banners, logs in JSON, byte order marks, CRLF, empty lines and batches. Each tool answers wrongly in its own
way; its description is what its caller must be told at once.

With "ping" or "nonsense" as argument it sends such requests without end, once it is called, and reads nothing any more.
"""

import json
import sys

out = sys.stdout.buffer
TOOLS = {
    "fine": "done",
    "batch": "done",
    "both": "done",
    "version": "cannot be understood",
    "error": "cannot be understood",
    "cut": "is not JSON",
    "latin": "is not UTF-8",
    "huge": "is longer than",
    "late": "done",
}


def write(*chunks):
    for chunk in chunks:
        out.write(chunk)
    out.write(b"\r\n")
    out.flush()


def answer(request, result, **more):
    return json.dumps({"jsonrpc": "2.0", "id": request, "result": result, **more}).encode()


REQUESTS = {
    "ping": b'{"jsonrpc": "2.0", "id": "%0200d", "method": "ping"}',
    "nonsense": b'{"jsonrpc": "0", "id": "%0200d", "method": "m"}',
}


def ask_for_ever(request):
    number = 0
    while True:
        number += 1
        write(request % number)


def call(name, request):
    if len(sys.argv) > 1:
        ask_for_ever(REQUESTS[sys.argv[1]])
    good = answer(request, {"content": [{"type": "text", "text": "done"}]})
    head = b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"type": "text", "text": "' % request
    if name == "batch":
        notification = json.dumps({"jsonrpc": "2.0", "method": "notifications/of/another/kind"}).encode()
        write(b"[", notification, b",", good, b"]")
    elif name == "both":
        write(answer(request, {"content": [{"type": "text", "text": "done"}]}, error=None))
    elif name == "version":
        write(good.replace(b'"2.0"', b'"1.0"'))
    elif name == "error":
        write(json.dumps({"jsonrpc": "2.0", "id": request, "error": "text"}).encode())
    elif name == "cut":
        write(head)
    elif name == "latin":
        write(head, "café".encode("latin-1"), b'"}]}}')
    elif name == "huge":
        write(head, *([b"x" * (1 << 20)] * 65), b'"}]}}')
    else:
        write(good)


write(b"Noisy server, ready")
write(json.dumps({"level": "info", "message": "up"}).encode())
write()
for line in sys.stdin:
    message = json.loads(line)
    method, request, params = message.get("method"), message.get("id"), message.get("params") or {}
    write(b"\x1b[32mgot\x1b[0m ", method.encode())
    if method == "initialize":
        info = {"name": "noisy", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        write(b"\xef\xbb\xbf", answer(request, result))
    elif method == "tools/list":
        tools = [{"name": n, "description": d, "inputSchema": {"type": "object"}} for n, d in TOOLS.items()]
        write(answer(request, {"tools": tools}))
    elif method == "tools/call":
        call(params["name"], request)
    elif request is not None:
        write(answer(request, {}))
