//! The client against foreign servers: the Node `socket.io` server and `python-socketio`, each over
//! every transport. A scenario is written once and run for all six pairs.

mod peers;

mod binary;
mod close;
mod events;
mod handshake;
mod reconnect;
mod tls;
