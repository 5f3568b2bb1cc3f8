//! The container of old Office files. A new file in it is an encrypted one: Office puts the encrypted package into a stream
//! named `EncryptedPackage`.

use std::io::Read as _;

use a2c_document_model::{UnreadableCode, UnreadableFile};

use crate::source::Source;

const SIGNATURE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/// How much of a container is searched for the name of a stream: its directory is near the beginning or the end.
const SEARCHED: u64 = 64 << 20;

/// An error where a file that should be a package is an old container.
pub(super) fn refuse(source: &Source) -> Result<(), UnreadableFile> {
    let mut head = Vec::with_capacity(8);
    source.reader()?.take(8).read_to_end(&mut head).map_err(|error| crate::source::failed(&error))?;
    if head != SIGNATURE {
        return Ok(());
    }
    let mut bytes = Vec::new();
    source.reader()?.take(SEARCHED).read_to_end(&mut bytes).map_err(|error| crate::source::failed(&error))?;
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    Err(match bytes.windows(name.len()).any(|window| window == name) {
        true => UnreadableFile::new(
            UnreadableCode::Encrypted,
            "the file is encrypted: open it in Office with its password and save it without one",
        ),
        false => UnreadableFile::new(
            UnreadableCode::Unsupported,
            "the file has the format of Office 97 in spite of its name: save it in the current format",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_container_is_encrypted_or_old() {
        let container = |stream: &str| {
            let name = stream.encode_utf16().flat_map(u16::to_le_bytes);
            let bytes: Vec<u8> = SIGNATURE.iter().copied().chain([0; 500]).chain(name).collect();
            refuse(&Source::Bytes(bytes.into())).unwrap_err().code
        };
        assert_eq!(container("EncryptedPackage"), UnreadableCode::Encrypted);
        assert_eq!(container("WordDocument"), UnreadableCode::Unsupported);
        assert!(refuse(&Source::Bytes(b"PK".to_vec().into())).is_ok());
    }
}
