//! Reads a certificate with its key, and shows what the errors of unusable files say.
//!
//! `cargo run -p a2c-pem --example read`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use rustls::crypto::ring;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = tempfile::tempdir()?;
    let [certificate, key, text] = ["hub.crt", "hub.key", "notes.txt"].map(|name| dir.path().join(name));
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    std::fs::write(&certificate, made.cert.pem())?;
    std::fs::write(&key, made.signing_key.serialize_pem())?;
    std::fs::write(&text, "no certificate")?;

    let provider = ring::default_provider();
    let identity = a2c_pem::identity(&certificate, &key, &provider)?;
    println!("the chain has {} certificate(s), and the key fits", identity.cert.len());
    for error in [a2c_pem::private_key(&certificate).err(), a2c_pem::authorities(&text).err()].into_iter().flatten() {
        println!("{error}");
    }
    Ok(())
}
