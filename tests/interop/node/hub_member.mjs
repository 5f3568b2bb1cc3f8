// A member of a hub, driven by the hub's tests: it joins, then serves as a Computer or calls as an Agent.
// Usage: node hub_member.mjs '{"url": URL, "path": "/socket.io", "transports": ["polling", "websocket"], "role": "agent"}'
import { io } from "socket.io-client";

const { url, path, transports, role, upgraded = false } = JSON.parse(process.argv[2]);
const socket = io(`${url}/smcp`, {
  path,
  transports,
  auth: { role },
  query: { a2c_version: "0.2.0" },
  reconnection: false,
});
const ask = (event, ...args) => socket.timeout(30_000).emitWithAck(event, ...args);
const fail = (what) => {
  console.error(what);
  process.exit(1);
};
const check = (what, holds) => holds || fail(`${what} does not hold`);

socket.on("connect_error", (error) => fail(`refused: ${error.message}`));
socket.on("notify:enter_office", ({ computer, agent }) => console.log(`entered ${computer ?? agent}`));
socket.on("notify:leave_office", ({ computer, agent }) => console.log(`left ${computer ?? agent}`));
socket.on("disconnect", (reason) => console.log(`disconnected ${reason}`));

// As a Computer: answers what it is asked.
socket.on("client:echo", (request, ack) => ack({ request, blob: request.blob ?? null }));
socket.on("client:big", ({ bytes }, ack) => ack({ text: "x".repeat(bytes) }));
socket.on("client:big_binary", ({ bytes }, ack) => ack({ blob: Buffer.alloc(bytes, 7) }));

// As an Agent: calls a Computer and judges the answers.
async function call(computer) {
  const echoed = await ask("client:echo", { agent: "x", computer, req_id: "1", n: 1.5 });
  check("the agent is stamped", echoed.request.agent === "node agent" && echoed.request.n === 1.5);
  const blob = Buffer.from([0, 1, 2, 254, 255]);
  const binary = await ask("client:echo", { computer, req_id: "2", blob, deep: [{ blob }] });
  check("bytes come back", Buffer.compare(Buffer.from(binary.blob), blob) === 0);
  check("deep bytes arrive", Buffer.compare(Buffer.from(binary.request.deep[0].blob), blob) === 0);
  const big = await ask("client:big", { computer, req_id: "3", bytes: 1 << 20 });
  check("a mebibyte of text comes back", big.text === "x".repeat(1 << 20));
  const bytes = await ask("client:big_binary", { computer, req_id: "4", bytes: 1 << 20 });
  check("a mebibyte of bytes comes back", Buffer.compare(Buffer.from(bytes.blob), Buffer.alloc(1 << 20, 7)) === 0);
  const many = await Promise.all(
    Array.from({ length: 500 }, (_, n) => ask("client:echo", { computer, req_id: `many ${n}`, n })),
  );
  check("answers find their calls", many.every(({ request }, n) => request.n === n));
  const missing = await ask("client:echo", { computer: "missing", req_id: "5" });
  check("an unknown computer is 404", missing.code === 404 && missing.error.code === 404);
  const unknown = await ask("what is this", 1, 2);
  check("an unknown event is 400", unknown.code === 400);
}

socket.on("connect", async () => {
  // The upgrade may be over before the namespace is connected.
  const { engine } = socket.io;
  if (upgraded && engine.transport.name !== "websocket") await new Promise((done) => engine.once("upgrade", done));
  // Two arguments: emitWithAck would drop the second.
  socket.emit("server:join_office", { role, name: `node ${role}`, office_id: "o" }, (ok, error) => {
    check("the join is accepted", ok === true && error === null);
    console.log(`ready ${socket.io.engine.transport.name}`);
  });
});

let typed = "";
process.stdin.on("data", (chunk) => {
  const lines = (typed + chunk).split("\n");
  typed = lines.pop();
  for (const line of lines) {
    const [word, ...rest] = line.split(" ");
    if (word === "call") call(rest.join(" ")).then(() => console.log("called"), (error) => fail(error.stack));
    if (word === "close") socket.close();
  }
});
process.stdin.on("end", () => process.exit());
