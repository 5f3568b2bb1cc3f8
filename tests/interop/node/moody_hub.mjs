// A hub that changes its mind: what it is told on standard input, one JSON text per line, decides about clients to come.
//   {"refuse": "429 wait"}  refuses them with this message      {"refuse": null}  lets them in
//   {"drop": true}          ends the connections that there are
// Usage: node moody_hub.mjs '{"refuse": "401"}'. Prints what happens: "refused TOKEN", "connected TOKEN",
// "joined TOKEN", and "told" when an order is in force.
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { Server } from "socket.io";

let { refuse = null } = JSON.parse(process.argv[2] ?? "{}");
const web = createServer();
const io = new Server(web, { path: "/smcp" });
const hub = io.of("/smcp");

hub.use((socket, next) => {
  const token = socket.handshake.auth.token ?? "-";
  console.log(`${refuse === null ? "connected" : "refused"} ${token}`);
  next(refuse === null ? undefined : new Error(refuse));
});
hub.on("connection", (socket) => {
  socket.on("server:join_office", (_, ack) => {
    console.log(`joined ${socket.handshake.auth.token ?? "-"}`);
    ack(true, null);
  });
});

const orders = createInterface({ input: process.stdin });
orders.on("line", (line) => {
  const order = JSON.parse(line);
  if ("refuse" in order) refuse = order.refuse;
  if (order.drop) for (const [, socket] of hub.sockets) socket.conn.close();
  console.log("told");
});
orders.on("close", () => process.exit(0));
web.listen(0, "127.0.0.1", () => console.log(`ready http://127.0.0.1:${web.address().port}`));
