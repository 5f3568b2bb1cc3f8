//! The formats of pictures.

/// The format of a picture by its name.
pub(super) fn mime_type_of(part: &str) -> Option<&'static str> {
    let ending = part.rsplit('.').next()?.to_ascii_lowercase();
    Some(match ending.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "bmp" => "image/bmp",
        "svg" => "image/svg+xml",
        "tif" | "tiff" => "image/tiff",
        "webp" => "image/webp",
        "emf" => "image/emf",
        "wmf" => "image/wmf",
        _ => return None,
    })
}
