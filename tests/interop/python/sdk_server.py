"""The server of the public SDK: its namespace behind its version middleware.

Usage: python sdk_server.py '{"token": "secret"}'
"""

import asyncio
import json
import socket
import sys
from urllib.parse import parse_qsl

import socketio
import uvicorn
from a2c_smcp.server import A2CProtocolVersionASGIMiddleware, AuthenticationProvider, SMCPNamespace
from sdk_steps import run_steps


class Token(AuthenticationProvider):
    def __init__(self, token):
        self.token = token

    async def authenticate(self, sio, environ, auth, headers):
        return (auth or {}).get("token") == self.token


class HandshakeLog:
    """Keeps every handshake: each request that belongs to no session yet."""

    def __init__(self, app):
        self.app = app
        self.seen = []

    async def __call__(self, scope, receive, send):
        if scope["type"] in ("http", "websocket"):
            query = dict(parse_qsl(scope["query_string"].decode()))
            if "sid" not in query:
                self.seen.append({"version": query.get("a2c_version"), "transport": query.get("transport")})
        await self.app(scope, receive, send)

    async def handshakes(self, version):
        return {"transports": [s["transport"] for s in self.seen if s["version"] == version]}


async def main():
    token = json.loads(sys.argv[1])["token"]
    sio = socketio.AsyncServer(async_mode="asgi", namespaces="*")
    sio.register_namespace(SMCPNamespace(Token(token)))
    log = HandshakeLog(A2CProtocolVersionASGIMiddleware(socketio.ASGIApp(sio)))
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = uvicorn.Config(log, log_level="warning", lifespan="off")
    serving = asyncio.create_task(uvicorn.Server(config).serve(sockets=[listener]))
    # Bound and listening: a client that connects before uvicorn accepts waits in the backlog.
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    await asyncio.gather(serving, run_steps(log, url=address))


asyncio.run(main())
