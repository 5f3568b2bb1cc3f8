//! The encodings of texts, by the numbers that RTF has for them. Pure.

use encoding_rs::{Encoding, WINDOWS_1252};

/// The encoding of a code page.
pub(super) fn of_code_page(number: i32) -> &'static Encoding {
    let label = match number {
        874 => "windows-874",
        932 => "shift_jis",
        936 => "gbk",
        949 => "euc-kr",
        950 => "big5",
        866 => "ibm866",
        10000 => "macintosh",
        10007 => "x-mac-cyrillic",
        54936 => "gb18030",
        65001 => "utf-8",
        1250..=1258 => return Encoding::for_label(format!("windows-{number}").as_bytes()).unwrap_or(WINDOWS_1252),
        _ => return WINDOWS_1252,
    };
    Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252)
}

/// The encoding of a font with this charset; `None` where it is that of the file.
pub(super) fn of_charset(charset: i32) -> Option<&'static Encoding> {
    let code_page = match charset {
        77 => 10000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    Some(of_code_page(code_page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_for_encodings() {
        assert_eq!(of_code_page(936).decode(b"\xd6\xd0").0, "中");
        assert_eq!(of_code_page(1251).decode(b"\xcf").0, "П");
        assert_eq!(of_code_page(-7), WINDOWS_1252);
        assert_eq!(of_charset(136).map(Encoding::name), Some("Big5"));
        assert_eq!(of_charset(0), None);
    }
}
