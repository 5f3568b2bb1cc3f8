"""The Agent of the public SDK.

Usage: python sdk_agent.py '{"url": "http://127.0.0.1:1", "office": "o", "name": "a"}'
"""

import asyncio
import json
import sys

from a2c_smcp.agent import AsyncSMCPAgentClient, DefaultAgentAuthProvider
from a2c_smcp.agent import client as sdk
from a2c_smcp.utils.handshake import build_handshake_url
from sdk_steps import happened, run_steps


class Handler:
    """Tells what the SDK tells its event handler."""

    async def on_computer_enter_office(self, data, client):
        happened("enter_office", data=data)

    async def on_computer_leave_office(self, data, client):
        happened("leave_office", data=data)

    async def on_computer_update_config(self, data, client):
        happened("update_config", data=data)

    async def on_tools_received(self, computer, tools, client):
        happened("tools_received", computer=computer, tools=sorted(t["name"] for t in tools))

    async def on_skills_received(self, computer, skills, client):
        happened("skills_received", computer=computer, skills=sorted(s["name"] for s in skills))


class Agent:
    def __init__(self, url, office, name):
        self.url, self.office, self.name = url, office, name
        provider = DefaultAgentAuthProvider(agent_id=name, office_id=office)
        self.client = AsyncSMCPAgentClient(auth_provider=provider, event_handler=Handler())
        # What the SDK does with a Desktop that it fetched by itself is to log it.
        self.client.process_desktop_response = lambda answer, computer: happened(
            "desktop_received", computer=computer, desktops=answer["desktops"]
        )

    async def connect(self, transports, path="socket.io", version=None):
        if version is not None:
            sdk.PROTOCOL_VERSION = version
        # The namespace gets one second by default, which a busy machine may need for itself.
        options = {"transports": transports, "socketio_path": path, "wait_timeout": 30}
        if transports == ["websocket"]:
            # `connect_to_server` puts polling first whatever it is told; the inherited `connect` does not.
            url = build_handshake_url(self.url, sdk.PROTOCOL_VERSION)
            await self.client.connect(url, namespaces=[self.client.namespace], **options)
        else:
            await self.client.connect_to_server(self.url, **options)
        return {"transport": self.client.transport()}

    async def connected(self):
        return {"connected": self.client.connected}

    async def join(self):
        # Without the namespace the SDK emits on "/", where no member is connected.
        await self.client.join_office(self.office, self.name, namespace=self.client.namespace)

    async def leave(self):
        await self.client.leave_office(self.office, namespace=self.client.namespace)

    async def computers(self):
        return {"computers": await self.client.get_computers_in_office(self.office, timeout=60)}

    async def tools(self, computer):
        return {"tools": (await self.client.get_tools_from_computer(computer, timeout=60))["tools"]}

    async def call(self, computer, tool, params, timeout=60):
        result = await self.client.emit_tool_call(computer, tool, params, timeout)
        return {"result": result.model_dump(mode="json", by_alias=True)}

    async def desktop(self, computer, size=None, window=None):
        answer = await self.client.get_desktop_from_computer(computer, size=size, window=window, timeout=60)
        return {"desktops": answer["desktops"]}

    async def resources(self, computer, server, cursor=None):
        return {"page": await self.client.get_resources(computer, server, cursor, timeout=60)}

    async def skills(self, computer):
        return {"skills": (await self.client.get_skills(computer, timeout=60))["skills"]}

    async def skill(self, computer, name):
        return {"skill": await self.client.get_skill(computer, name, timeout=60)}

    async def send_bytes(self, computer, hex):
        """Sends bytes to the Computer's `client:mirror`, which sends them back."""
        request = {"agent": self.name, "req_id": "bytes", "computer": computer, "bytes": bytes.fromhex(hex)}
        answer = await self.client.call("client:mirror", request, namespace=self.client.namespace, timeout=60)
        return {"hex": answer["request"]["bytes"].hex()}

    async def disconnect(self):
        await self.client.disconnect()


async def main():
    await run_steps(Agent(**json.loads(sys.argv[1])))


asyncio.run(main())
