//! What a role learns when it cannot connect: an unreachable hub, unusable options, a missing token file.
//!
//! `cargo run -p a2c-link --example refusals`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use a2c_link::{ConnectError, Link, LinkOptions, Token};
use a2c_protocol::Role;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A port that was free a moment ago has no hub.
    let free = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let mut without_file = LinkOptions::new(format!("http://{free}"));
    without_file.token = Some(Token::File("/nowhere/token".into()));
    for options in [LinkOptions::new(format!("http://{free}")), LinkOptions::new("gopher://h"), without_file] {
        let Err(error) = Link::connect(&options, Role::Agent).await else { return Err("there is a hub".into()) };
        let kind = match &error {
            ConnectError::Unreachable { .. } => "unreachable",
            ConnectError::Options(_) => "options",
            ConnectError::Token(_) => "token",
            _ => "refused",
        };
        println!("{kind}: {error}");
    }
    Ok(())
}
