//! Which format a file has: by its name, and by its first bytes where the name is silent or wrong.

use std::path::Path;

macro_rules! file_types {
    ($($name:ident $word:literal [$($ending:literal)*] $mime:literal $what:literal,)*) => {
        /// The format of a file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum FileType {
            $(#[doc = $what] $name,)*
        }

        impl FileType {
            /// Every format.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name, as `file_type` of a document says it.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// Its media type.
            pub fn mime_type(self) -> &'static str {
                match self { $(Self::$name => $mime),* }
            }

            /// The format that the ending of a name stands for.
            fn of_ending(ending: &str) -> Option<Self> {
                match ending {
                    $($($ending)|* => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

file_types! {
    Xlsx "xlsx" ["xlsx" "xlsm" "xltx" "xltm"] "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" "An Excel workbook.",
    Xlsb "xlsb" ["xlsb"] "application/vnd.ms-excel.sheet.binary.macroenabled.12" "A binary Excel workbook.",
    Xls "xls" ["xls" "xlt"] "application/vnd.ms-excel" "An old Excel workbook.",
    Ods "ods" ["ods" "ots"] "application/vnd.oasis.opendocument.spreadsheet" "An OpenDocument spreadsheet.",
    Docx "docx" ["docx" "docm" "dotx" "dotm"] "application/vnd.openxmlformats-officedocument.wordprocessingml.document" "A Word document.",
    Odt "odt" ["odt" "ott"] "application/vnd.oasis.opendocument.text" "An OpenDocument text.",
    Rtf "rtf" ["rtf"] "application/rtf" "Rich text.",
    Pptx "pptx" ["pptx" "pptm" "potx" "potm" "ppsx" "ppsm"] "application/vnd.openxmlformats-officedocument.presentationml.presentation" "PowerPoint slides.",
    Odp "odp" ["odp" "otp"] "application/vnd.oasis.opendocument.presentation" "OpenDocument slides.",
    Pdf "pdf" ["pdf"] "application/pdf" "A PDF.",
    Csv "csv" ["csv"] "text/csv" "Values between commas.",
    Tsv "tsv" ["tsv" "tab"] "text/tab-separated-values" "Values between tabs.",
    Markdown "md" ["md" "markdown" "mdown" "mkd"] "text/markdown" "Markdown.",
    Html "html" ["html" "htm" "xhtml"] "text/html" "A web page.",
    Text "txt" ["txt" "text" "log" "rst" "adoc" "org"] "text/plain" "Plain text.",
    Json "json" ["json" "jsonl" "ndjson" "geojson" "ipynb"] "application/json" "JSON.",
    Email "eml" ["eml"] "message/rfc822" "An e-mail.",
    Image "image" ["png" "jpg" "jpeg" "jfif" "gif" "webp" "bmp" "tif" "tiff" "ico" "svg" "avif" "heic" "heif"] "image/*" "A picture.",
    Code "code" [
        "rs" "py" "js" "mjs" "cjs" "ts" "tsx" "jsx" "java" "kt" "kts" "c" "h" "cc" "cpp" "cxx" "hpp" "cs" "go" "rb" "php" "swift"
        "scala" "sh" "bash" "zsh" "fish" "ps1" "sql" "r" "jl" "lua" "pl" "pm" "hs" "ml" "ex" "exs" "erl" "clj" "dart" "zig" "nim"
        "vue" "svelte" "css" "scss" "less" "xml" "xsd" "xsl" "yaml" "yml" "toml" "ini" "cfg" "conf" "properties" "proto" "graphql"
        "tf" "cmake" "gradle" "groovy" "make" "mk" "dockerfile" "bat" "diff" "patch" "tex" "bib" "vim" "el" "lisp" "scm" "asm" "s" "v" "vhd"
    ] "text/plain" "Source code, or a file for programs.",
}

impl FileType {
    /// The format of a file by its name and its first bytes. `None` where nothing tells.
    pub fn detect(path: &Path, head: &[u8]) -> Option<Self> {
        let by_name = Self::of_name(path);
        match (by_name, signature(head)) {
            // The name says more than the bytes: a workbook is an archive.
            (Some(named), Some(Signature::Archive)) if named.is_archive() => Some(named),
            (Some(named), Some(Signature::OldOffice)) if named == Self::Xls || named.is_archive() => Some(named),
            (_, Some(Signature::Is(kind))) => Some(kind),
            (Some(named), _) => Some(named),
            (None, None) if is_text(head) => Some(Self::Text),
            (None, _) => None,
        }
    }

    /// The format that a name stands for.
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        if ["dockerfile", "makefile", "cmakelists.txt", "rakefile", "gemfile"].contains(&name.as_str()) {
            return Some(Self::Code);
        }
        if ["readme", "license", "copying", "authors", "changelog", "notice"].contains(&name.as_str()) {
            return Some(Self::Text);
        }
        Self::of_ending(Path::new(&name).extension()?.to_str()?)
    }

    /// Whether such a file is a zip archive.
    pub fn is_archive(self) -> bool {
        matches!(self, Self::Xlsx | Self::Xlsb | Self::Ods | Self::Docx | Self::Odt | Self::Pptx | Self::Odp)
    }
}

/// What the first bytes of a file tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signature {
    Is(FileType),
    /// A zip archive, of which the name has to say more.
    Archive,
    /// The container of old Office files, and of encrypted new ones.
    OldOffice,
}

fn signature(head: &[u8]) -> Option<Signature> {
    let begins = |with: &[u8]| head.starts_with(with);
    if begins(b"PK\x03\x04") || begins(b"PK\x05\x06") {
        return Some(Signature::Archive);
    }
    if begins(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) {
        return Some(Signature::OldOffice);
    }
    let kind = if head.get(..1024.min(head.len())).is_some_and(|head| head.windows(5).any(|five| five == b"%PDF-")) {
        FileType::Pdf
    } else if begins(b"{\\rtf") {
        FileType::Rtf
    } else if begins(b"\x89PNG")
        || begins(b"\xff\xd8\xff")
        || begins(b"GIF8")
        || begins(b"II*\0")
        || begins(b"MM\0*")
        || head.get(4..12).is_some_and(|brand| matches!(brand, b"ftypavif" | b"ftypheic" | b"ftypheix" | b"ftypmif1"))
        || (begins(b"RIFF") && head.get(8..12) == Some(b"WEBP"))
    {
        FileType::Image
    } else {
        return None;
    };
    Some(Signature::Is(kind))
}

/// Whether bytes look like text of some kind.
fn is_text(head: &[u8]) -> bool {
    let head = &head[..head.len().min(4096)];
    !head.is_empty()
        && !head.contains(&0)
        && head.iter().filter(|byte| **byte < 0x20 && !b"\t\n\r\x0c\x1b".contains(byte)).count() == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_tell_the_format() {
        for (name, head, expected) in [
            ("a.xlsx", &b"PK\x03\x04"[..], Some(FileType::Xlsx)),
            ("A.XLSX", b"PK\x03\x04", Some(FileType::Xlsx)),
            ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Some(FileType::Xlsx)),
            ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Some(FileType::Xls)),
            ("a.txt", b"%PDF-1.4", Some(FileType::Pdf)),
            ("a", b"%PDF-1.4", Some(FileType::Pdf)),
            ("a", b"hello\n", Some(FileType::Text)),
            ("a", b"\x00\x01", None),
            ("a", b"", None),
            ("a.bin", b"PK\x03\x04", None),
            ("Makefile", b"all:", Some(FileType::Code)),
            ("README", b"hi", Some(FileType::Text)),
            ("a.rs", b"fn", Some(FileType::Code)),
            ("a.doc", b"{\\rtf1", Some(FileType::Rtf)),
        ] {
            assert_eq!(FileType::detect(Path::new(name), head), expected, "{name} {head:?}");
        }
    }
}
