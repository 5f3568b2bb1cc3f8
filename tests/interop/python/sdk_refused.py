"""What a client library sees of a refused handshake, on either transport.

Usage: python sdk_refused.py '{"url": "http://127.0.0.1:1"}'
"""

import asyncio
import json
import sys

import aiohttp
from sdk_steps import run_steps


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class HandshakeClient:
    def __init__(self, url):
        self.url = url

    async def handshake(self, path, transport, query):
        url = f"{self.url}/{path}/?EIO=4&transport={transport}&{query}"
        headers = UPGRADE if transport == "websocket" else {}
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
            return {
                "status": answer.status,
                "code": answer.headers.get("X-A2C-Error-Code"),
                "body": await answer.json(),
            }


async def main():
    await run_steps(HandshakeClient(**json.loads(sys.argv[1])))


asyncio.run(main())
