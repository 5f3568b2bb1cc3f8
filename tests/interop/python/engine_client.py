"""Engine.IO clients of python-engineio, driven by the engine's tests: many packets at once, both ways, in order.

Usage: engine_client.py URL polling|websocket|upgrade CLIENTS
"""

import asyncio
import sys

import engineio

MESSAGES = 200
WAYS = {"polling": ["polling"], "websocket": ["websocket"], "upgrade": ["polling", "websocket"]}


async def client(url: str, way: str) -> None:
    eio = engineio.AsyncClient()
    got: list[str] = []
    blobs: list[bytes] = []
    admitted, complete = asyncio.Event(), asyncio.Event()

    @eio.on("message")
    def message(data: str | bytes) -> None:
        if data == "welcome":
            admitted.set()
        elif isinstance(data, bytes):
            blobs.append(data)
        elif data != "blob":
            got.append(data)
        if len(got) == 2 * MESSAGES and len(blobs) == 1:
            complete.set()

    await eio.connect(url, transports=WAYS[way])
    assert eio.transport() == ("polling" if way == "polling" else "websocket")
    # Everything that waits goes into one request, which may be long only for those who are known.
    await eio.send("echo welcome")
    await asyncio.wait_for(admitted.wait(), 20)
    await eio.send(f"count {MESSAGES}")
    await eio.send(bytes(range(256)))
    for n in range(MESSAGES):
        await eio.send(f"seq {n}")
    try:
        await asyncio.wait_for(complete.wait(), 20)
    except TimeoutError:
        sys.exit(f"{way}: {len(got)} texts, the last of them {got[-3:]}, and {len(blobs)} blobs came")
    assert [g for g in got if not g.startswith("ack ")] == [str(n) for n in range(MESSAGES)]
    assert [g for g in got if g.startswith("ack ")] == [f"ack {n}" for n in range(MESSAGES)]
    assert blobs == [bytes(range(256))]
    await eio.disconnect()


async def main() -> None:
    url, way, clients = sys.argv[1:]
    print("ready", flush=True)
    await asyncio.gather(*(client(url, way) for _ in range(int(clients))))
    print("done", flush=True)


asyncio.run(main())
