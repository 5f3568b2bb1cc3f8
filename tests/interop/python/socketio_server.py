"""The Socket.IO server of the client's tests; socketio_server.mjs answers in the same way.

Usage: python socketio_server.py '{"port": 0, "path": "/socket.io", "ping": [25000, 20000]}'
"""

import asyncio
import json
import os
import socket
import sys
import threading
from urllib.parse import parse_qsl

import socketio
import uvicorn

options = json.loads(sys.argv[1] if len(sys.argv) > 1 else "{}")
PATH = options.get("path", "/socket.io")
PING_INTERVAL, PING_TIMEOUT = options.get("ping", [25000, 20000])
sio = socketio.AsyncServer(
    async_mode="asgi",
    namespaces="*",
    max_http_buffer_size=10_000_000,
    ping_interval=PING_INTERVAL / 1000,
    ping_timeout=PING_TIMEOUT / 1000,
)
requests = []
queries = {}


def query_of(scope):
    return dict(parse_qsl(scope["query_string"].decode()))


class Front:
    """Remembers every request, and refuses it when its path or query says so."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] in ("http", "websocket"):
            query = query_of(scope)
            header = dict(scope["headers"]).get(b"x-test")
            requests.append(
                {
                    "method": scope.get("method", "GET"),
                    "query": query,
                    "header": header and header.decode(),
                }
            )
            if scope["path"] != PATH + "/":
                return await self.refuse(scope["type"], 404, {}, send)
            if "refuse_upgrade" in query and scope["type"] == "websocket":
                return await self.refuse(scope["type"], 400, {}, send)
            if "refuse" in query:
                body = {"code": int(query["refuse"]), "message": "refused by the test"}
                return await self.refuse(scope["type"], 400, body, send)
        await self.app(scope, receive, send)

    async def refuse(self, kind, status, answer, send):
        body = json.dumps(answer).encode()
        prefix = "http.response" if kind == "http" else "websocket.http.response"
        headers = [(b"content-type", b"application/json"), (b"x-reason", b"test")]
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": f"{prefix}.start", "status": status, "headers": headers})
        await send({"type": f"{prefix}.body", "body": body})


def register(namespace):
    on = lambda name: sio.on(name, namespace=namespace)  # noqa: E731
    counts = {}

    @on("connect")
    async def connect(sid, environ, auth):
        if (auth or {}).get("reject"):
            raise socketio.exceptions.ConnectionRefusedError("no entry", {"code": 7})
        query = query_of(environ["asgi.scope"]).get("k")
        queries[sid] = query
        await sio.emit("hello", {"auth": auth or {}, "query": query}, to=sid, namespace=namespace)

    @on("echo")
    async def echo(sid, *args):
        await sio.emit("echo", args, to=sid, namespace=namespace)

    @on("echo_ack")
    async def echo_ack(sid, *args):
        return args

    @on("two")
    async def two(sid):
        return "first", {"second": 2}

    @on("ask")
    async def ask(sid, question):
        return await sio.call("question", question, to=sid, namespace=namespace)

    @on("burst")
    async def burst(sid, count):
        for i in range(count):
            await sio.emit("tick", i, to=sid, namespace=namespace)

    @on("count")
    async def count(sid, i):
        counted, in_order = counts.get(sid, (0, True))
        counts[sid] = (counted + 1, in_order and i == counted)

    @on("counted")
    async def counted(sid):
        number, in_order = counts.get(sid, (0, True))
        return {"counted": number, "inOrder": in_order}

    @on("never")
    async def never(sid):
        print(f"never {sid}", flush=True)
        await asyncio.Event().wait()

    @on("requests")
    async def seen(sid):
        return [request for request in requests if request["query"].get("k") == queries[sid]]

    @on("kick")
    async def kick(sid):
        await sio.disconnect(sid, namespace=namespace)

    @on("disconnect")
    async def disconnect(sid, reason):
        print(f"disconnect {sid} {reason}", flush=True)


def end_with_owner():
    sys.stdin.read()
    os._exit(0)


async def main():
    for namespace in ("/", "/other"):
        register(namespace)
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.get("port", 0)))
    app = socketio.ASGIApp(sio, socketio_path=PATH)
    server = uvicorn.Server(uvicorn.Config(Front(app), log_level="warning", lifespan="off"))
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    print(f"ready {listener.getsockname()[1]}", flush=True)
    await serving


threading.Thread(target=end_with_owner, daemon=True).start()
asyncio.run(main())
