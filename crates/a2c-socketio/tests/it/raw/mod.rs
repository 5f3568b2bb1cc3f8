//! The client against scripted servers: hostile answers, full queues, and failed reconnects.

mod script;

mod hostile_handshakes;
mod hostile_links;
mod queues;
mod retries;
