//! The text of bytes whose encoding nobody names.

use std::borrow::Cow;

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, UTF_8};

/// How much of a file is looked at to find out its encoding.
const LOOKED_AT: usize = 1 << 20;

/// The encoding of a text: by its mark, UTF-8 where the bytes are that, else the likeliest one.
pub(crate) fn encoding_of(bytes: &[u8]) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return encoding;
    }
    let looked_at = &bytes[..bytes.len().min(LOOKED_AT)];
    let valid = match std::str::from_utf8(looked_at) {
        Ok(_) => true,
        // A character may be cut in two where looking ends.
        Err(error) => error.error_len().is_none() && looked_at.len() < bytes.len(),
    };
    if valid {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new();
    detector.feed(looked_at, true);
    detector.guess(None, false)
}

/// The text of bytes, without a mark.
pub(crate) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_of(bytes).decode(bytes).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_encodings_are_found_out() {
        let chinese = "这是一个中文文本文件，用来测试编码的检测是否正确。第二行也是中文。";
        let french = "Le café était très près de la forêt, où l’été passait sans être pressé.";
        for (text, label) in [(chinese, "gb18030"), (chinese, "big5"), (french, "windows-1252"), (chinese, "utf-8")] {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let traditional = if label == "big5" {
                "這是一個中文文字檔案，用來測試編碼的偵測是否正確。"
            } else {
                text
            };
            let (bytes, _, lossy) = encoding.encode(traditional);
            assert!(!lossy);
            assert_eq!(decoded(&bytes), traditional, "{label}");
        }
        let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("中a".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        assert_eq!(decoded(&utf16), "中a");
        assert_eq!(decoded(b"\xef\xbb\xbfa"), "a");
    }
}
