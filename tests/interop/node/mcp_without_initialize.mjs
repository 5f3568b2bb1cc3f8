// An MCP server that speaks revision 2026-07-28 only: on its standard streams, or with `http` on a free port. It ends with
// its standard input.
// Tools: `echo`, `touch` (changes the window), `grow` (adds a tool). With `http moody` the first request to listen fails; a
// line `cut` on its standard input ends those that are open, and lets the next one fail.

import { createServer } from "node:http";
import { Readable } from "node:stream";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const WINDOW = "window://demo/state";
const state = { touched: 0, tools: 0 };
let notify;

const overHttp = process.argv[2] === "http";
const text = (text) => ({ content: [{ type: "text", text }] });

function make() {
  const server = new McpServer(
    { name: "demo", version: "1.0.0" },
    { capabilities: { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } } },
  );
  notify ??= { resourceUpdated: (uri) => server.server.sendResourceUpdated({ uri }) };
  server.registerResource("state", WINDOW, { mimeType: "text/plain" }, async () => ({
    contents: [{ uri: WINDOW, mimeType: "text/plain", text: `touched ${state.touched} times` }],
  }));
  server.registerTool("echo", { description: "Gives back what it gets." }, async () => text("hello"));
  server.registerTool("touch", {}, async () => {
    state.touched += 1;
    await notify.resourceUpdated(WINDOW);
    return text("touched");
  });
  const addTool = (n) => server.registerTool(`more_${n}`, {}, async () => text("more"));
  server.registerTool("grow", {}, async () => {
    state.tools += 1;
    // Over HTTP every request has a server of its own.
    if (overHttp) await notify.toolsChanged();
    else addTool(state.tools);
    return text("grown");
  });
  for (let n = 1; n <= state.tools; n += 1) addTool(n);
  return server;
}

if (overHttp) {
  const handler = createMcpHandler(make, { legacy: "reject" });
  notify = handler.notify;
  let failures = process.argv[3] === "moody" ? 1 : 0;
  const open = new Set();
  const server = createServer(async (request, response) => {
    if (request.headers["mcp-method"] === "subscriptions/listen") {
      if (failures > 0) {
        failures -= 1;
        return response.writeHead(503).end();
      }
      open.add(response);
    }
    const body = request.method === "POST" ? Readable.toWeb(request) : undefined;
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await handler.fetch(
      new Request(url, { method: request.method, headers: request.headers, body, duplex: "half" }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return response.end();
    Readable.fromWeb(answer.body).on("error", () => response.destroy()).pipe(response);
  });
  process.stdin.on("end", () => process.exit());
  process.stdin.on("data", () => {
    failures = 1;
    open.forEach((response) => response.destroy());
    open.clear();
    console.log("now cut");
  });
  server.listen(0, "127.0.0.1", () => console.log(`ready http://127.0.0.1:${server.address().port}`));
} else {
  serveStdio(make, { legacy: "reject" });
}
