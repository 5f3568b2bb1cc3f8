//! What the files of a Computer are named after.

use a2c_link::Seat;
use sha2::{Digest as _, Sha256};

/// The longest one: the address of a socket has room for about a hundred bytes, its folder included.
const LONGEST: usize = 48;

/// A name for files of the Computer with this seat: `name@office` where that can be one, else something like it. Seats
/// that differ have names that differ.
pub fn file_name_of(seat: &Seat) -> String {
    let Seat { name, office } = seat;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let safe = |text: &str| text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect::<String>();
    let readable = format!("{}@{}", safe(name), safe(office));
    let is_hidden = readable.starts_with('.');
    if readable == format!("{name}@{office}") && readable.len() <= LONGEST && !is_hidden {
        return readable;
    }
    // Two seats must not share a file because they look alike without their special characters.
    let digest = Sha256::digest(format!("{name}\0{office}"));
    let digest: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let beginning: String = readable.trim_start_matches('.').chars().take(LONGEST - digest.len() - 1).collect();
    format!("{beginning}~{digest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_seat_has_a_name_of_its_own() {
        let named = |(name, office): (&str, &str)| file_name_of(&Seat { name: name.into(), office: office.into() });
        assert_eq!(named(("desk", "demo")), "desk@demo");
        let long = "x".repeat(300);
        let seats = [
            ("a/b", "o"),
            ("a_b", "o"),
            ("a b", "o"),
            ("..", "/"),
            ("a", "b@c"),
            ("a@b", "c"),
            (&long, "o"),
            ("ü", "o"),
            ("", ""),
            (".a", "o"),
            ("a", "o"),
        ];
        let names: std::collections::BTreeSet<_> = seats.into_iter().map(named).collect();
        assert_eq!(names.len(), seats.len(), "{names:?}");
        for name in names {
            assert!(name.len() <= LONGEST && name.is_ascii(), "{name}");
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
        }
    }
}
