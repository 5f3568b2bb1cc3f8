//! Says what addresses are, and which of them a client for public documents connects to.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_net::{AddressKind, AddressPolicy};

fn main() -> Result<(), std::net::AddrParseError> {
    for text in ["93.184.216.34", "10.0.0.7", "::127.0.0.1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "fd00:ec2::254"] {
        let address = text.parse()?;
        let verdict = if AddressPolicy::PUBLIC.allows(address) { "connect" } else { "refuse" };
        println!("{text:20} {:16} {verdict}", AddressKind::of(address).to_string());
    }
    Ok(())
}
