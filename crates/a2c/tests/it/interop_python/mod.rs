//! The roles of this workspace and those of the public Python SDK, in every mixture.
//!
//! Everything runs as it would in the field: hub and Computers are processes of this program, the SDK runs in a Python
//! process that a script of `tests/interop/python` drives. A test tells that script step by step what its role does
//! and judges what comes of it, see `peers`.

mod agent;
mod computer;
mod peers;
mod server;
mod skills;
mod version;
