// Engine.IO clients that talk without a pause, driven by the engine's tests: everything said on either side has to
// arrive once and in order, also while a session moves from polling to a websocket.
// Usage: node engine_client.mjs URL polling|websocket|upgrade CLIENTS
import { Socket } from "engine.io-client";

const [url, way, clients] = process.argv.slice(2);
const transports = { polling: ["polling"], websocket: ["websocket"], upgrade: ["polling", "websocket"] }[way];
const MESSAGES = 400;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

function client(n) {
  return new Promise((resolve, reject) => {
    const socket = new Socket(url, { transports, path: "/engine.io/" });
    socket.binaryType = "nodebuffer";
    const fail = (what) => reject(new Error(`client ${n} on ${socket.transport?.name}: ${what}`));
    let [acks, pushes, upgraded, expectBlob] = [0, 0, way !== "upgrade", 0];
    let blobs = 0;
    const complete = () => acks === MESSAGES && pushes === MESSAGES && blobs === 3 && upgraded;
    const finish = () => {
      if (!complete()) return;
      const name = way === "polling" ? "polling" : "websocket";
      if (socket.transport.name !== name) return fail("the wrong transport");
      socket.off("close");
      socket.on("close", () => resolve());
      socket.close();
    };
    socket.on("error", (error) => fail(`${error.message} ${error.description ?? ""}`));
    socket.on("close", (reason, detail) => fail(`closed: ${reason} ${detail?.message ?? ""} after ${acks} ${pushes}`));
    socket.on("upgradeError", (error) => fail(`no upgrade: ${error.message}`));
    socket.on("upgrade", () => {
      upgraded = true;
      finish();
    });
    socket.on("message", (data) => {
      if (typeof data !== "string") {
        const size = [0, 3, 100_000][blobs++];
        const good = expectBlob-- === 1 && Buffer.compare(Buffer.from(data), Buffer.alloc(size, 7)) === 0;
        return good ? finish() : fail(`a wrong blob of ${data.length}`);
      }
      const [word, number] = data.split(" ");
      if (word === "blob") expectBlob++;
      else if (word === "ack" && Number(number) === acks) acks++;
      else if (word === "push" && Number(number) === pushes) pushes++;
      else return fail(`unexpected ${data.slice(0, 100)}, have ${acks} acks and ${pushes} pushes`);
      finish();
    });
    socket.on("open", async () => {
      // Not all at the same moment of the upgrade.
      await pause(n % 10);
      socket.send(`stream ${MESSAGES}`);
      for (let i = 0; i < MESSAGES; i++) {
        socket.send(`seq ${i}`);
        if (i === 20) socket.send(Buffer.alloc(0, 7));
        if (i === 40) socket.send(Buffer.alloc(3, 7));
        if (i === 60) socket.send(Buffer.alloc(100_000, 7));
        if (i % 5 === n % 5) await pause(n % 3);
      }
    });
  });
}

console.log("ready");
process.stdin.on("end", () => process.exit()).resume();
try {
  await Promise.all(Array.from({ length: Number(clients) }, (_, n) => client(n)));
  console.log("done");
} catch (error) {
  console.error(error.stack);
  process.exit(1);
}
