// A relay without rules on the Node socket.io server, for the hub's benchmark.
import { createServer } from "node:http";
import { Server } from "socket.io";

const web = createServer();
const io = new Server(web, { path: "/smcp", maxHttpBufferSize: 64 << 20, pingInterval: 5000, pingTimeout: 20000 });
const members = new Map();

io.of("/smcp").on("connection", (socket) => {
  socket.on("server:join_office", (seat, ack) => {
    members.set(`${seat.office_id}/${seat.name}`, socket);
    socket.join(seat.office_id);
    socket.data.office = seat.office_id;
    ack(true, null);
  });
  socket.on("server:update_desktop", (update) => {
    socket.to(socket.data.office).emit("notify:update_desktop", update);
  });
  socket.on("client:tool_call", (call, ack) => {
    const computer = members.get(`${call.office_id}/${call.computer}`);
    computer?.timeout(60000).emit("client:tool_call", call, (error, answer) => ack(error ? null : answer));
  });
});

web.listen(0, "127.0.0.1", () => console.log(`ready http://127.0.0.1:${web.address().port}`));
process.stdin.resume().on("end", () => process.exit(0));
