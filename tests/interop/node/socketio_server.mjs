// The Socket.IO server of the client's tests; socketio_server.py answers in the same way.
// Usage: node socketio_server.mjs '{"port": 0, "path": "/socket.io", "ping": [25000, 20000],
//   "tls": {"cert": PEM, "key": PEM, "ca": PEM, "requestCert": true, "rejectUnauthorized": true}}'
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { Server } from "socket.io";

const { port = 0, path = "/socket.io", ping = [25000, 20000], tls } = JSON.parse(process.argv[2] ?? "{}");
const web = tls ? createTlsServer(tls) : createServer();
const io = new Server(web, {
  path,
  maxHttpBufferSize: 1e7,
  pingInterval: ping[0],
  pingTimeout: ping[1],
});

// Every request is remembered, and refused when its path or query says so, before Socket.IO
// sees it.
const requests = [];
for (const event of ["request", "upgrade"]) {
  const accept = web.listeners(event);
  web.removeAllListeners(event);
  web.on(event, (request, target, ...rest) => {
    const { pathname, searchParams } = new URL(request.url, "http://x");
    const query = Object.fromEntries(searchParams);
    requests.push({ method: request.method, query, header: request.headers["x-test"] ?? null });
    if (pathname !== `${path}/`) return refuse(event, target, "404 Not Found", {});
    if (query.refuse_upgrade && event === "upgrade") {
      return refuse(event, target, "400 Bad Request", {});
    }
    if (query.refuse) {
      const body = { code: Number(query.refuse), message: "refused by the test" };
      return refuse(event, target, "400 Bad Request", body);
    }
    for (const listener of accept) listener.call(web, request, target, ...rest);
  });
}

function refuse(event, target, status, answer) {
  const body = JSON.stringify(answer);
  if (event === "request") {
    const headers = { "content-type": "application/json", "x-reason": "test" };
    target.writeHead(Number.parseInt(status), headers).end(body);
    return;
  }
  target.write(
    `HTTP/1.1 ${status}\r\nconnection: close\r\nx-reason: test\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`,
  );
  // Apart from the head, as a proxy might send it.
  setTimeout(() => target.end(body), 20);
}

for (const name of ["/", "/other"]) {
  const namespace = io.of(name);
  namespace.use((socket, next) => {
    if (!socket.handshake.auth.reject) return next();
    const refusal = new Error("no entry");
    refusal.data = { code: 7 };
    next(refusal);
  });
  namespace.on("connection", (socket) => {
    let counted = 0;
    let inOrder = true;
    const certificate = socket.request.socket.getPeerCertificate?.();
    socket.emit("hello", { auth: socket.handshake.auth, query: socket.handshake.query.k ?? null });
    socket.on("echo", (...args) => socket.emit("echo", ...args));
    socket.on("echo_ack", (...args) => args.pop()(...args));
    socket.on("two", (ack) => ack("first", { second: 2 }));
    socket.on("ask", (question, ack) => socket.emit("question", question, ack));
    socket.on("burst", (count) => {
      for (let i = 0; i < count; i += 1) socket.emit("tick", i);
    });
    socket.on("count", (i) => {
      inOrder &&= i === counted;
      counted += 1;
    });
    socket.on("counted", (ack) => ack({ counted, inOrder }));
    socket.on("never", () => console.log(`never ${socket.id}`));
    socket.on("requests", (ack) =>
      ack(requests.filter(({ query }) => query.k === socket.handshake.query.k)),
    );
    socket.on("who_am_i", (ack) => ack(certificate?.subject?.CN ?? null));
    socket.on("kick", () => socket.disconnect());
    socket.on("disconnect", (reason) => console.log(`disconnect ${socket.id} ${reason}`));
  });
}

web.listen(port, "127.0.0.1", () => console.log(`ready ${web.address().port}`));
process.stdin.on("end", () => process.exit()).resume();
