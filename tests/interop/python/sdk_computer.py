"""The Computer of the public SDK, with sdk_mcp_server.py as its MCP server.

Usage: python sdk_computer.py '{"url": "http://127.0.0.1:1", "name": "c"}'
"""

import asyncio
import json
import sys
from pathlib import Path

from a2c_smcp.computer.computer import Computer
from a2c_smcp.computer.mcp_clients.model import (
    MCPServerPromptStringInput,
    StdioServerConfig,
    ToolMeta,
)
from a2c_smcp.computer.socketio import client as sdk
from mcp import StdioServerParameters
from sdk_steps import run_steps

MCP_SERVER = Path(__file__).with_name("sdk_mcp_server.py")


def sample():
    program = StdioServerParameters(command=sys.executable, args=[str(MCP_SERVER)])
    return StdioServerConfig(
        name="sample", server_parameters=program, default_tool_meta=ToolMeta(auto_apply=True)
    )


async def mirror(request):
    """An event that no version knows: what arrived, beside a field of its own."""
    return {"request": request, "req_id": request["req_id"], "later": {"unheard": ["of", None, 1.5]}}


class ComputerSteps:
    def __init__(self, url, name):
        self.url = url
        question = MCPServerPromptStringInput(id="token", description="A token.", password=True)
        self.computer = Computer(name=name, inputs={question}, mcp_servers={sample()})
        self.client = sdk.SMCPComputerClient(computer=self.computer)
        self.client.on("client:mirror", mirror, namespace=self.client.namespace)

    async def connect(self, transports, path="socket.io", version=None):
        if version is not None:
            sdk.PROTOCOL_VERSION = version
        await self.client.connect(
            self.url,
            transports=transports,
            socketio_path=path,
            namespaces=[self.client.namespace],
            wait_timeout=30,
        )
        return {"transport": self.client.transport()}

    async def connected(self):
        return {"connected": self.client.connected}

    async def boot(self):
        await self.computer.boot_up()

    async def join(self, office):
        await self.client.join_office(office)

    async def leave(self, office):
        await self.client.leave_office(office)

    async def update_config(self):
        await self.client.emit_update_config()

    async def announce(self, what, fields):
        """Tells the office of a change that no version knows."""
        await self.client.emit(f"server:update_{what}", fields)

    async def write_skill(self, name, text):
        """What a user does to add a skill; the SDK watches the folder and tells the office."""
        folder = self.computer.skill_home / "user" / name
        folder.mkdir(parents=True)
        body = f"---\nname: {name}\ndescription: Says {name}.\n---\n{text}"
        (folder / "SKILL.md").write_text(body)
        # Some file systems of containers report no changes: say it once more, it is debounced.
        self.computer.mark_skills_dirty()

    async def disconnect(self):
        await self.client.disconnect()


async def main():
    await run_steps(ComputerSteps(**json.loads(sys.argv[1])))


asyncio.run(main())
