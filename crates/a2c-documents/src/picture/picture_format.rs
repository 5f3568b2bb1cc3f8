//! The formats of pictures: by their first bytes, or by the endings of names. Pure.

use std::path::Path;

macro_rules! picture_formats {
    ($($name:ident $word:literal [$($ending:literal)*] $mime:literal,)*) => {
        /// The format of a picture.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum PictureFormat {
            $($name,)*
        }

        impl PictureFormat {
            /// As people call it.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }

            /// Its media type.
            pub(crate) fn mime_type(self) -> &'static str {
                match self { $(Self::$name => $mime),* }
            }

            fn of_ending(ending: &str) -> Option<Self> {
                match ending {
                    $($($ending)|* => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

picture_formats! {
    Png "PNG" ["png"] "image/png",
    Jpeg "JPEG" ["jpg" "jpeg" "jpe" "jfif"] "image/jpeg",
    Gif "GIF" ["gif"] "image/gif",
    WebP "WebP" ["webp"] "image/webp",
    Bmp "BMP" ["bmp" "dib"] "image/bmp",
    Tiff "TIFF" ["tif" "tiff"] "image/tiff",
    Icon "icon" ["ico"] "image/x-icon",
    Svg "SVG" ["svg"] "image/svg+xml",
    Avif "AVIF" ["avif"] "image/avif",
    Heic "HEIC" ["heic" "heif"] "image/heic",
    Emf "EMF" ["emf"] "image/emf",
    Wmf "WMF" ["wmf"] "image/wmf",
}

impl PictureFormat {
    /// The format by the first bytes of a file.
    pub(crate) fn of_bytes(head: &[u8]) -> Option<Self> {
        let begins = |with: &[u8]| head.starts_with(with);
        let brand = head.get(8..12).filter(|_| head.get(4..8) == Some(b"ftyp"));
        Some(match () {
            () if begins(b"\x89PNG\r\n\x1a\n") => Self::Png,
            () if begins(b"\xff\xd8\xff") => Self::Jpeg,
            () if begins(b"GIF87a") || begins(b"GIF89a") => Self::Gif,
            () if begins(b"RIFF") && head.get(8..12) == Some(b"WEBP") => Self::WebP,
            () if begins(b"BM") => Self::Bmp,
            () if begins(b"II*\0") || begins(b"MM\0*") => Self::Tiff,
            () if begins(b"\0\0\x01\0") => Self::Icon,
            () if matches!(brand, Some(b"avif" | b"avis")) => Self::Avif,
            () if matches!(brand, Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"mif1" | b"msf1")) => {
                Self::Heic
            }
            () => return None,
        })
    }

    /// The format that the ending of a name stands for.
    pub(crate) fn of_name(path: &Path) -> Option<Self> {
        Self::of_ending(&path.extension()?.to_str()?.to_ascii_lowercase())
    }
}

/// The media type that the name of a part stands for.
pub(crate) fn mime_type_of_name(part: &str) -> Option<&'static str> {
    PictureFormat::of_name(Path::new(part)).map(PictureFormat::mime_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_more_than_names() {
        for (head, expected) in [
            (&b"\x89PNG\r\n\x1a\n"[..], Some(PictureFormat::Png)),
            (b"\0\0\0\x1cftypavif", Some(PictureFormat::Avif)),
            (b"\0\0\0\x1cftypheic", Some(PictureFormat::Heic)),
            (b"\0\0\0\x1cftypmp42", None),
            (b"", None),
        ] {
            assert_eq!(PictureFormat::of_bytes(head), expected, "{head:?}");
        }
        assert_eq!(mime_type_of_name("Pictures/100.JPG"), Some("image/jpeg"));
        assert_eq!(mime_type_of_name("Pictures/jpg"), None);
    }
}
