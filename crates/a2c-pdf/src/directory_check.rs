//! What the directory of a file unpacks to, checked before the library unpacks it: the streams that hold objects, and those
//! that say where objects are. A stream that hides what it is from this check is left to the limits of the process.

use a2c_document_model::UnreadableFile;
use memchr::memmem;

use crate::unpack::inflate;

/// How far deflate goes at most: so many bytes of one.
const DEFLATE_RATIO: usize = 1032;

/// How far before and after its mark the dictionary of a stream reaches.
const DICTIONARY: usize = 4096;

/// Refuses a file whose directory unpacks to more than `most` bytes.
pub(crate) fn check_directory(file: &[u8], most: usize) -> Result<(), UnreadableFile> {
    let streams: Vec<&[u8]> = [&b"/ObjStm"[..], b"/XRef"]
        .iter()
        .flat_map(|mark| memmem::find_iter(file, mark))
        .filter_map(|place| stream_at(file, place))
        .collect();
    // Usual directories are far below the limit even if they were packed as tightly as can be.
    let packed: usize = streams.iter().map(|stream| stream.len()).sum();
    let is_packed_twice = streams.iter().any(|stream| inflates_to_deflate(stream));
    if packed.saturating_mul(DEFLATE_RATIO) <= most && !is_packed_twice {
        return Ok(());
    }
    let mut left = most;
    for stream in streams {
        let mut bytes = inflate(stream, left)?;
        left = left.saturating_sub(bytes.len());
        while looks_deflated(&bytes) {
            bytes = inflate(&bytes, left)?;
            left = left.saturating_sub(bytes.len());
        }
    }
    Ok(())
}

/// The bytes of the stream in whose dictionary a mark stands.
fn stream_at(file: &[u8], mark: usize) -> Option<&[u8]> {
    let dictionary = &file[mark..file.len().min(mark + DICTIONARY)];
    let start = mark + memmem::find(dictionary, b"stream")? + b"stream".len();
    let blanks = file[start..].iter().take(2).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    let body = &file[start + blanks..];
    let end = memmem::find(body, b"endstream").unwrap_or(body.len());
    Some(&body[..end])
}

fn looks_deflated(bytes: &[u8]) -> bool {
    matches!(bytes, [head, flags, ..] if head & 0x0f == 8 && (u16::from(*head) << 8 | u16::from(*flags)).is_multiple_of(31))
}

fn inflates_to_deflate(stream: &[u8]) -> bool {
    use std::io::Read as _;
    let mut first = [0; 2];
    looks_deflated(stream)
        && flate2::read::ZlibDecoder::new(stream).read_exact(&mut first).is_ok()
        && looks_deflated(&first)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn file(stream: &[u8]) -> Vec<u8> {
        [b"1 0 obj << /Type /ObjStm >> stream\r\n", stream, b"\nendstream"].concat()
    }

    #[test]
    fn directories_that_unpack_too_far_are_refused() {
        let bomb = packed(&vec![0; 2 << 20]);
        assert!(check_directory(&file(&bomb), 1 << 20).is_err());
        assert!(check_directory(&file(&bomb), 3 << 20).is_ok());
        assert!(check_directory(&file(&packed(&bomb)), 1 << 20).is_err(), "packed twice");
        assert!(check_directory(&file(b"1 0 2 5"), 1 << 20).is_ok());
        assert!(check_directory(b"/ObjStm", 10).is_ok());
    }
}
