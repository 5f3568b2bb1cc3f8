"""The synchronous Agent of the public SDK; its steps are those of sdk_agent.py.

Usage: python sdk_sync_agent.py '{"url": "http://127.0.0.1:1", "office": "o", "name": "a"}'
"""

import asyncio
import json
import sys

from a2c_smcp.agent import DefaultAgentAuthProvider, SMCPAgentClient
from sdk_steps import happened, run_steps


class Handler:
    """Tells what the SDK tells its event handler."""

    def on_computer_enter_office(self, data, client):
        happened("enter_office", data=data)

    def on_computer_leave_office(self, data, client):
        happened("leave_office", data=data)

    def on_computer_update_config(self, data, client):
        happened("update_config", data=data)

    def on_tools_received(self, computer, tools, client):
        happened("tools_received", computer=computer, tools=sorted(t["name"] for t in tools))


class Agent:
    def __init__(self, url, office, name):
        self.url, self.office, self.name = url, office, name
        provider = DefaultAgentAuthProvider(agent_id=name, office_id=office)
        self.client = SMCPAgentClient(auth_provider=provider, event_handler=Handler())
        # What the SDK does with a Desktop that it fetched by itself is to log it.
        self.client.process_desktop_response = lambda answer, computer: happened(
            "desktop_received", computer=computer, desktops=answer["desktops"]
        )

    async def connect(self, transports):
        # The namespace gets one second by default, which a busy machine may need for itself.
        options = {"transports": transports, "wait_timeout": 30}
        await asyncio.to_thread(self.client.connect_to_server, self.url, **options)
        return {"transport": self.client.transport()}

    async def join(self):
        # Without the namespace the SDK emits on "/", where no member is connected.
        namespace = self.client.namespace
        await asyncio.to_thread(self.client.join_office, self.office, self.name, namespace=namespace)

    async def leave(self):
        namespace = self.client.namespace
        await asyncio.to_thread(self.client.leave_office, self.office, namespace=namespace)

    async def computers(self):
        found = await asyncio.to_thread(self.client.get_computers_in_office, self.office, timeout=60)
        return {"computers": found}

    async def tools(self, computer):
        answer = await asyncio.to_thread(self.client.get_tools_from_computer, computer, timeout=60)
        return {"tools": answer["tools"]}

    async def call(self, computer, tool, params, timeout=60):
        result = await asyncio.to_thread(self.client.emit_tool_call, computer, tool, params, timeout)
        return {"result": result.model_dump(mode="json", by_alias=True)}

    async def desktop(self, computer, size=None, window=None):
        fetch = self.client.get_desktop_from_computer
        answer = await asyncio.to_thread(fetch, computer, size=size, window=window, timeout=60)
        return {"desktops": answer["desktops"]}

    async def resources(self, computer, server, cursor=None):
        return {"page": await asyncio.to_thread(self.client.get_resources, computer, server, cursor, timeout=60)}

    async def skills(self, computer):
        answer = await asyncio.to_thread(self.client.get_skills, computer, timeout=60)
        return {"skills": answer["skills"]}

    async def disconnect(self):
        await asyncio.to_thread(self.client.disconnect)


async def main():
    await run_steps(Agent(**json.loads(sys.argv[1])))


asyncio.run(main())
