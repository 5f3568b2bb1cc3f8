"""An MCP server of the `mcp` package that asks for a sign-in, with the package's own authorisation server beside it.

Everybody who asks is let in: `/authorize` redirects back at once. Prints `ready http://127.0.0.1:PORT`, and a line for
every request and for every code and token it gives out. Lines on standard input change what it does:
`revoke` forgets the access tokens, `forget` also the refresh tokens, `narrow` takes the scopes of the access tokens
away, `lifetime SECONDS` is how long tokens last from now on, `deny` refuses the next who wants to sign in, `secretive`
gives clients a secret though they want none, `break` answers requests for tokens with HTTP 500, `hold` keeps the answer
to them back. The last four are over when they are said again.
"""

import asyncio
import secrets
import socket
import sys
import time

import uvicorn
from mcp.server.auth import routes
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizeError,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.fastmcp import FastMCP
from mcp.shared.auth import OAuthToken

orders: set[str] = set()
released = asyncio.Event()
released.set()


class Provider:
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.lifetime = 3600

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        if "secretive" in orders:
            client_info.client_secret = secrets.token_hex(16)
            client_info.token_endpoint_auth_method = "client_secret_post"
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        if "deny" in orders:
            orders.discard("deny")
            raise AuthorizeError("access_denied", "not today")
        code = secrets.token_hex(16)
        print("code", code, flush=True)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.give(client, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        return self.give(client, scopes or refresh_token.scopes, refresh_token.resource)

    async def load_access_token(self, token):
        return self.access.get(token)

    async def revoke_token(self, token):
        self.access.pop(token.token, None)

    def give(self, client, scopes, resource):
        access, refresh = f"access-{secrets.token_hex(16)}", f"refresh-{secrets.token_hex(16)}"
        about = {"client_id": client.client_id, "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time() + self.lifetime), **about)
        self.refresh[refresh] = RefreshToken(token=refresh, **about)
        print("token", access, refresh, flush=True)
        return OAuthToken(
            access_token=access,
            token_type="Bearer",
            expires_in=self.lifetime,
            refresh_token=refresh,
            scope=" ".join(scopes),
        )


def build_metadata(*args, build=routes.build_metadata, **kwargs):
    """The package wants the client's id beside its secret in the body, which only this way of sending it does."""
    return build(*args, **kwargs).model_copy(update={"token_endpoint_auth_methods_supported": ["client_secret_post"]})


routes.build_metadata = build_metadata
listener = socket.create_server(("127.0.0.1", 0))
address = f"http://127.0.0.1:{listener.getsockname()[1]}"
provider = Provider()
server = FastMCP(
    "oauth",
    log_level="ERROR",
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=address,
        resource_server_url=f"{address}/mcp",
        validate_token_resource=True,
        required_scopes=["use"],
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["use"], default_scopes=["use"]),
    ),
)


@server.tool()
def echo(text: str) -> str:
    """The text, as it came."""
    return text


def watched(app):
    async def run(scope, receive, send):
        if scope["type"] != "http":
            return await app(scope, receive, send)
        print("request", scope["method"], scope["path"], flush=True)
        if "break" in orders and scope["path"] == "/token":
            await send({"type": "http.response.start", "status": 500, "headers": []})
            return await send({"type": "http.response.body", "body": b"broken"})
        if scope["path"] != "/token":
            return await app(scope, receive, send)

        async def held(message):
            print("answering", flush=True)
            await released.wait()
            await send(message)

        return await app(scope, receive, held)

    return run


def obey(order: list[str]) -> None:
    match order:
        case ["revoke"]:
            provider.access.clear()
        case ["forget"]:
            provider.access.clear()
            provider.refresh.clear()
        case ["narrow"]:
            for token in provider.access.values():
                token.scopes = []
        case ["lifetime", seconds]:
            provider.lifetime = int(seconds)
        case ["hold"]:
            released.clear() if released.is_set() else released.set()
        case [other]:
            orders.symmetric_difference_update([other])


async def follow_orders() -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := (await reader.readline()).decode().split():
        obey(line)
        print("now", *line, flush=True)


async def main() -> None:
    web = uvicorn.Server(uvicorn.Config(watched(server.streamable_http_app()), log_level="error"))
    following = asyncio.create_task(follow_orders())
    print(f"ready {address}", flush=True)
    await web.serve(sockets=[listener])
    following.cancel()


asyncio.run(main())
