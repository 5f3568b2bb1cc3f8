//! Pictures of a rich text, whose bytes are written in it. Pure.

/// A picture: where its bytes are written.
#[derive(Debug, Clone, Default)]
pub(super) struct RtfPicture {
    /// Where its data is written in hex, and where it is as it is.
    pub(super) hex: Vec<(usize, usize)>,
    pub(super) binary: Option<(usize, usize)>,
    pub(super) mime_type: &'static str,
    pub(super) width: Option<u32>,
    pub(super) height: Option<u32>,
    pub(super) alt: Option<String>,
}

impl RtfPicture {
    /// Its bytes, out of those of the file.
    pub(super) fn bytes(&self, file: &[u8]) -> Vec<u8> {
        if let Some((start, end)) = self.binary {
            return file.get(start..end).unwrap_or_default().to_vec();
        }
        let digits = self.hex.iter().flat_map(|(start, end)| file.get(*start..*end).unwrap_or_default());
        let digits: Vec<u8> =
            digits.filter_map(|byte| char::from(*byte).to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
    }
}
