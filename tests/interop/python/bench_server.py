"""The server of the public SDK, admitting everybody, for the hub's benchmark."""

import asyncio
import socket

import socketio
import uvicorn
from a2c_smcp.server import A2CProtocolVersionASGIMiddleware, AuthenticationProvider, SMCPNamespace


class Everybody(AuthenticationProvider):
    async def authenticate(self, sio, environ, auth, headers):
        return True


async def main():
    sio = socketio.AsyncServer(
        async_mode="asgi", namespaces="*", max_http_buffer_size=64 << 20, ping_interval=5, ping_timeout=20
    )
    sio.register_namespace(SMCPNamespace(Everybody()))
    app = A2CProtocolVersionASGIMiddleware(socketio.ASGIApp(sio, socketio_path="/smcp"), socketio_path="/smcp")
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    print(f"ready http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, log_level="error", lifespan="off", ws_max_size=64 << 20)
    await uvicorn.Server(config).serve(sockets=[listener])


asyncio.run(main())
