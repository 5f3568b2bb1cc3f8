//! Pixels as a PNG file. Pure.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// How the pixels of a picture are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PixelKind {
    Gray,
    Rgb,
}

/// A PNG file of pixels, eight bits a channel. Pixels that are missing are black.
pub(crate) fn png_file(width: u32, height: u32, kind: PixelKind, pixels: &[u8]) -> Vec<u8> {
    let (color, channels) = match kind {
        PixelKind::Gray => (0, 1),
        PixelKind::Rgb => (2, 3),
    };
    let row = width as usize * channels;
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut head = [width.to_be_bytes(), height.to_be_bytes()].concat();
    head.extend([8, color, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &head);
    // Packing costs more than all the rest: the first level is enough.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    let blank = vec![0; row];
    for line in 0..height as usize {
        let start = line * row;
        let here = pixels.get(start..(start + row).min(pixels.len())).unwrap_or_default();
        // Writing to memory does not fail.
        let _ = encoder
            .write_all(&[0])
            .and_then(|()| encoder.write_all(here))
            .and_then(|()| encoder.write_all(&blank[here.len()..]));
    }
    chunk(&mut file, b"IDAT", &encoder.finish().unwrap_or_default());
    chunk(&mut file, b"IEND", &[]);
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    file.extend(length.to_be_bytes());
    let mut sum = Crc::new();
    sum.update(name);
    sum.update(data);
    file.extend(name);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unpack::inflate;

    #[test]
    fn rows_are_written_whole() {
        let file = png_file(2, 2, PixelKind::Gray, &[1, 2, 3]);
        assert!(file.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x02\x08\0"));
        let data = file.windows(4).position(|four| four == b"IDAT").unwrap() + 4;
        assert_eq!(inflate(&file[data..file.len() - 16], 100).unwrap(), [0, 1, 2, 0, 3, 0]);
        assert!(file.ends_with(b"IEND\xae\x42\x60\x82"));
    }
}
