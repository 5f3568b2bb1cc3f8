//! The streams of a file, unpacked within bounds. The library unpacks whatever a stream asks for: what a page needs goes
//! through here instead.

use std::io::Read as _;

use a2c_document_model::UnreadableFile;
use flate2::read::{DeflateDecoder, ZlibDecoder};
use hayro_syntax::Filter;
use hayro_syntax::object::{Array, Dict, Object, Stream};

/// The most filters of a stream, one over the other.
const FILTERS: usize = 8;

/// The bytes of a stream, at most so many. Pictures stay packed: see [`crate::pictures`].
pub(crate) fn unpack(stream: &Stream<'_>, most: usize) -> Result<Vec<u8>, UnreadableFile> {
    let filters = stream.filters();
    if filters.len() > FILTERS {
        return Err(UnreadableFile::corrupt(format!("a stream has more than {FILTERS} filters")));
    }
    let mut bytes = stream.raw_data().into_owned();
    for (place, filter) in filters.iter().enumerate() {
        let params = filter_params(stream.dict(), place);
        bytes = match filter {
            Filter::FlateDecode => predicted(inflate(&bytes, most)?, params.as_ref())?,
            Filter::LzwDecode => predicted(lzw(&bytes, early_change(params.as_ref()), most)?, params.as_ref())?,
            Filter::Ascii85Decode => ascii85(&bytes),
            Filter::AsciiHexDecode => ascii_hex(&bytes),
            Filter::RunLengthDecode => run_length(&bytes, most)?,
            Filter::Crypt => bytes,
            _ => return Err(UnreadableFile::corrupt("a stream that should be text is packed as a picture")),
        };
    }
    if bytes.len() > most {
        return Err(too_large(most));
    }
    Ok(bytes)
}

fn too_large(most: usize) -> UnreadableFile {
    UnreadableFile::too_large(format!("a stream unpacks to more than {} MiB", most >> 20))
}

fn filter_params<'a>(dict: &Dict<'a>, place: usize) -> Option<Dict<'a>> {
    let object = dict.get::<Object<'_>>("DecodeParms").or_else(|| dict.get::<Object<'_>>("DP"))?;
    match object {
        Object::Dict(params) if place == 0 => Some(params),
        Object::Array(list) => list.iter::<Object<'_>>().nth(place)?.into_dict(),
        _ => None,
    }
}

/// Inflates as far as the bytes are good: what is there before a mistake counts.
pub(crate) fn inflate(bytes: &[u8], most: usize) -> Result<Vec<u8>, UnreadableFile> {
    let read = |decoder: &mut dyn std::io::Read| {
        let mut out = Vec::with_capacity((bytes.len() * 3).min(most));
        let whole = decoder.take(most as u64 + 1).read_to_end(&mut out).is_ok();
        (out, whole)
    };
    let (mut out, whole) = read(&mut ZlibDecoder::new(bytes));
    if !whole && out.is_empty() {
        // Without the head that says what it is.
        let headless = read(&mut DeflateDecoder::new(bytes)).0;
        out = match headless.is_empty() {
            true => read(&mut DeflateDecoder::new(bytes.get(2..).unwrap_or_default())).0,
            false => headless,
        };
    }
    if out.len() > most {
        return Err(too_large(most));
    }
    Ok(out)
}

fn early_change(params: Option<&Dict<'_>>) -> bool {
    params.and_then(|params| params.get::<i32>("EarlyChange")) != Some(0)
}

fn lzw(bytes: &[u8], early: bool, most: usize) -> Result<Vec<u8>, UnreadableFile> {
    const CLEAR: usize = 256;
    const END: usize = 257;
    let mut out: Vec<u8> = Vec::new();
    // Where in the output the text of each code from 258 on is.
    let mut table: Vec<(usize, usize)> = Vec::new();
    let (mut bits, mut held, mut width) = (0_u32, 0_u32, 9_u32);
    let mut last: Option<(usize, usize)> = None;
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        held += 8;
        if held < width {
            continue;
        }
        held -= width;
        let code = (bits >> held) as usize & ((1 << width) - 1);
        bits &= (1 << held) - 1;
        if code == CLEAR {
            table.clear();
            (width, last) = (9, None);
            continue;
        }
        if code == END {
            break;
        }
        let start = out.len();
        match table.get(code.wrapping_sub(258)) {
            _ if code < 256 => out.push(code as u8),
            Some((from, length)) => out.extend_from_within(*from..from + length),
            None => {
                // The code that is being made just now: the last text and its first byte.
                let Some((from, length)) = last else { break };
                out.extend_from_within(from..from + length);
                out.extend_from_within(from..=from);
            }
        }
        if out.len() > most {
            return Err(too_large(most));
        }
        if let Some((from, length)) = last
            && table.len() < 4096 - 258
        {
            table.push((from, length + 1));
        }
        last = Some((start, out.len() - start));
        width = match table.len() + 258 + usize::from(last.is_some()) - usize::from(!early) {
            ..512 => 9,
            512..1024 => 10,
            1024..2048 => 11,
            _ => 12,
        };
    }
    Ok(out)
}

fn ascii85(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() / 5 * 4 + 4);
    let mut group = [0_u8; 5];
    let mut count = 0;
    let word =
        |group: &[u8; 5]| group.iter().fold(0_u32, |word, digit| word.wrapping_mul(85).wrapping_add(u32::from(*digit)));
    let bytes = bytes.strip_prefix(b"<~").unwrap_or(bytes);
    for byte in bytes {
        match byte {
            b'z' if count == 0 => out.extend([0; 4]),
            b'!'..=b'u' => {
                group[count] = byte - b'!';
                count += 1;
                if count == 5 {
                    out.extend(word(&group).to_be_bytes());
                    count = 0;
                }
            }
            b'~' => break,
            _ => {}
        }
    }
    if count > 1 {
        group[count..].fill(84);
        out.extend(&word(&group).to_be_bytes()[..count - 1]);
    }
    out
}

fn ascii_hex(bytes: &[u8]) -> Vec<u8> {
    let digits = bytes.iter().take_while(|byte| **byte != b'>').filter_map(|byte| char::from(*byte).to_digit(16));
    let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

fn run_length(bytes: &[u8], most: usize) -> Result<Vec<u8>, UnreadableFile> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(length) = bytes.get(at).copied().filter(|length| *length != 128) {
        let length = usize::from(length);
        if length < 128 {
            let end = (at + 2 + length).min(bytes.len());
            out.extend_from_slice(&bytes[at + 1..end]);
            at += 2 + length;
        } else {
            let Some(byte) = bytes.get(at + 1) else { break };
            out.extend(std::iter::repeat_n(*byte, 257 - length));
            at += 2;
        }
        if out.len() > most {
            return Err(too_large(most));
        }
    }
    Ok(out)
}

/// Undoes what was done to rows so that they pack better.
fn predicted(bytes: Vec<u8>, params: Option<&Dict<'_>>) -> Result<Vec<u8>, UnreadableFile> {
    let Some(params) = params else { return Ok(bytes) };
    let predictor = params.get::<u32>("Predictor").unwrap_or(1);
    if predictor < 2 {
        return Ok(bytes);
    }
    let number = |key: &str, otherwise: u32| params.get::<u32>(key).unwrap_or(otherwise) as usize;
    let (colors, depth, columns) = (number("Colors", 1), number("BitsPerComponent", 8), number("Columns", 1));
    let bits = colors.checked_mul(depth).and_then(|bits| Some((bits, bits.checked_mul(columns)?)));
    let Some((pixel, row)) = bits.filter(|(pixel, row)| *pixel > 0 && *row > 0 && *row < 1 << 31) else {
        return Err(UnreadableFile::corrupt("the rows of a stream have no size"));
    };
    let (pixel, row) = (pixel.div_ceil(8), row.div_ceil(8));
    if predictor == 2 {
        let mut bytes = bytes;
        if depth == 8 {
            for line in bytes.chunks_mut(row) {
                (pixel..line.len()).for_each(|at| line[at] = line[at].wrapping_add(line[at - pixel]));
            }
        }
        return Ok(bytes);
    }
    Ok(png_rows(&bytes, pixel, row))
}

fn png_rows(bytes: &[u8], pixel: usize, row: usize) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(bytes.len());
    for line in bytes.chunks(row + 1) {
        let (kind, data) = (line[0], &line[1..]);
        let start = out.len();
        for (place, byte) in data.iter().enumerate() {
            let left = if place >= pixel { out[start + place - pixel] } else { 0 };
            let above = if start >= row { out[start - row + place] } else { 0 };
            let corner = if start >= row && place >= pixel { out[start - row + place - pixel] } else { 0 };
            let guess = match kind {
                1 => left,
                2 => above,
                3 => ((u16::from(left) + u16::from(above)) / 2) as u8,
                4 => paeth(left, above, corner),
                _ => 0,
            };
            out.push(byte.wrapping_add(guess));
        }
    }
    out
}

fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(above), i16::from(corner));
    let guess = a + b - c;
    let (pa, pb, pc) = ((guess - a).abs(), (guess - b).abs(), (guess - c).abs());
    if pa <= pb && pa <= pc {
        left
    } else if pb <= pc {
        above
    } else {
        corner
    }
}

/// The streams of an entry that is one stream or a list of them, at most so many.
pub(crate) fn streams_of<'a>(dict: &Dict<'a>, key: &str, most: usize) -> Vec<Stream<'a>> {
    match dict.get::<Object<'_>>(key) {
        Some(Object::Stream(stream)) => vec![stream],
        Some(Object::Array(list)) => streams_in(&list, most),
        _ => Vec::new(),
    }
}

fn streams_in<'a>(list: &Array<'a>, most: usize) -> Vec<Stream<'a>> {
    list.iter::<Object<'_>>().take(most).filter_map(Object::into_stream).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    #[test]
    fn text_encodings_are_undone() {
        assert_eq!(ascii85(b"<~87cURD_*#4DfTZ)~>"), b"Hello, World");
        assert_eq!(ascii85(b"z!!"), [0, 0, 0, 0, 0]);
        assert_eq!(ascii_hex(b"48 65 6C6c 7>00"), b"Hellp");
        assert_eq!(run_length(&[2, b'a', b'b', b'c', 254, b'x', 128, 9], 100).unwrap(), b"abcxxx");
    }

    #[test]
    fn lzw_is_undone() {
        // The example of the standard: 45 45 45 45 45 65 45 45 45 66.
        let packed = [0x80, 0x0b, 0x60, 0x50, 0x22, 0x0c, 0x0c, 0x85, 0x01];
        assert_eq!(lzw(&packed, true, 100).unwrap(), [45, 45, 45, 45, 45, 65, 45, 45, 45, 66]);
        assert!(lzw(&packed, true, 5).is_err());
    }

    #[test]
    fn what_inflates_too_far_is_refused_and_what_breaks_off_is_kept() {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![b'x'; 5 << 20]).unwrap();
        let packed = encoder.finish().unwrap();
        assert!(inflate(&packed, 1 << 20).is_err());
        assert_eq!(inflate(&packed, 6 << 20).unwrap().len(), 5 << 20);
        assert!(!inflate(&packed[..packed.len() / 2], 6 << 20).unwrap().is_empty());
        assert_eq!(inflate(b"no", 100).unwrap(), b"");
    }

    #[test]
    fn rows_are_undone() {
        assert_eq!(png_rows(&[1, 1, 1, 1, 2, 1, 1, 1], 1, 3), [1, 2, 3, 2, 3, 4]);
        assert_eq!(png_rows(&[4, 5, 5, 3, 5, 5], 1, 2), [5, 10, 7, 13]);
    }
}
