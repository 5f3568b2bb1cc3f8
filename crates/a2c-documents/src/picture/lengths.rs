//! Lengths with units, as drawings and frames have them. Pure.

/// A length as a number of pixels, where it is one.
pub(super) fn whole(length: f64) -> Option<u32> {
    (length.is_finite() && length >= 0.5 && length < f64::from(u32::MAX)).then(|| length.round() as u32)
}

/// A length in pixels, of which 96 are an inch. A share of something is no length.
pub(crate) fn css_pixels(length: &str) -> Option<u32> {
    let length = length.trim();
    let unit_at = length.find(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E' || c == '%');
    let (number, unit) = length.split_at(unit_at.unwrap_or(length.len()));
    let scale = match unit {
        "" | "px" => 1.0,
        "pt" => 96.0 / 72.0,
        "pc" => 16.0,
        "in" => 96.0,
        "mm" => 96.0 / 25.4,
        "cm" => 96.0 / 2.54,
        _ => return None,
    };
    whole(number.trim().parse::<f64>().ok()? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_pixels_whatever_their_unit() {
        for (length, expected) in [
            ("10", Some(10)),
            ("1in", Some(96)),
            ("2.54cm", Some(96)),
            ("72pt", Some(96)),
            ("1e2px", Some(100)),
            ("50%", None),
            ("3em", None),
            ("-1", None),
            ("", None),
        ] {
            assert_eq!(css_pixels(length), expected, "{length}");
        }
    }
}
