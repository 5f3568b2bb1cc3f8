// The reference server "everything" over HTTP on a free port. Usage: node mcp_everything.mjs streamableHttp|sse [PORT]
// It tells no port that it was not told: listening is watched from outside. It ends with its standard input.
import net from "node:net";

const [, , transport, port = "0"] = process.argv;
const path = transport === "sse" ? "sse" : "mcp";
const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  this.once("listening", () => console.log(`ready http://127.0.0.1:${this.address().port}/${path}`));
  return listen.call(this, { port: Number(args[0]), host: "127.0.0.1" }, args.at(-1));
};
process.env.PORT = port;
process.stdin.on("end", () => process.exit()).resume();
await import("@modelcontextprotocol/server-everything/dist/index.js");
