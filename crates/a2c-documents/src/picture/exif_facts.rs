//! What a camera notes in a picture.

use std::io::{BufRead, Seek};

use exif::{Exif, In, Reader, Tag, Value};

use super::picture_format::PictureFormat;

/// The characters of a note that are kept.
const NOTE: usize = 500;

/// What is known of how a picture was taken.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ExifFacts {
    /// When, in ISO 8601.
    pub(super) date: Option<String>,
    pub(super) camera: Option<String>,
    /// How it has to be turned, from 1 (not at all) to 8.
    pub(super) orientation: Option<u32>,
    /// The words of its author.
    pub(super) description: Option<String>,
    pub(super) artist: Option<String>,
}

impl ExifFacts {
    /// Reads the notes of a picture; one without notes, or with broken ones, has none.
    pub(super) fn read(mut file: impl BufRead + Seek) -> Self {
        let read = Reader::new().continue_on_error(true).read_from_container(&mut file);
        match read.or_else(|error| error.distill_partial_result(|_| {})) {
            Ok(exif) => Self::of(&exif),
            Err(_) => Self::default(),
        }
    }

    fn of(exif: &Exif) -> Self {
        let text = |tag: Tag| text_of(&exif.get_field(tag, In::PRIMARY)?.value);
        let date = text(Tag::DateTimeOriginal).or_else(|| text(Tag::DateTime));
        let zone = text(Tag::OffsetTimeOriginal).or_else(|| text(Tag::OffsetTime)).unwrap_or_default();
        let orientation = exif.get_field(Tag::Orientation, In::PRIMARY).and_then(|field| field.value.get_uint(0));
        Self {
            date: date.and_then(|date| iso_date(&date, &zone)),
            camera: camera(text(Tag::Make), text(Tag::Model)),
            orientation: orientation.filter(|turn| (1..=8).contains(turn)),
            description: text(Tag::ImageDescription),
            artist: text(Tag::Artist),
        }
    }

    /// Whether width and height change places when it is shown.
    pub(super) fn is_turned(&self) -> bool {
        self.orientation.is_some_and(|turn| turn >= 5)
    }

    /// The facts in a line.
    pub(super) fn sentence(&self, format: PictureFormat, size: Option<(u32, u32)>) -> String {
        let mut words = format.name().to_owned();
        if let Some((width, height)) = size {
            words += &format!(", {width} × {height} pixels");
        }
        if let Some(date) = &self.date {
            words += &format!(", taken {date}");
        }
        if let Some(camera) = &self.camera {
            words += &format!(" with {camera}");
        }
        let turn = match self.orientation {
            Some(2) => ", stored mirrored",
            Some(3) => ", stored upside down",
            Some(4) => ", stored upside down and mirrored",
            Some(5 | 7) => ", stored turned and mirrored",
            Some(6) => ", stored turned left by 90°",
            Some(8) => ", stored turned right by 90°",
            _ => "",
        };
        words + turn
    }
}

fn text_of(value: &Value) -> Option<String> {
    let Value::Ascii(lines) = value else { return None };
    let line = lines.first()?;
    let text = String::from_utf8_lossy(line);
    let text: String = text.trim_matches(|c: char| c.is_whitespace() || c == '\0').chars().take(NOTE).collect();
    (!text.is_empty()).then_some(text)
}

/// Most makers repeat their name in that of the model.
fn camera(make: Option<String>, model: Option<String>) -> Option<String> {
    match (make, model) {
        (Some(make), Some(model)) => {
            let first = make.split_whitespace().next().unwrap_or_default();
            let repeats = model.to_lowercase().starts_with(&first.to_lowercase());
            Some(if repeats { model } else { format!("{make} {model}") })
        }
        (make, model) => model.or(make),
    }
}

/// `2024:03:15 10:30:00` in ISO 8601.
fn iso_date(date: &str, zone: &str) -> Option<String> {
    let read = exif::DateTime::from_ascii(date.as_bytes()).ok()?;
    let exif::DateTime { year, month, day, hour, minute, second, .. } = read;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    let is_zone = zone.len() == 6 && zone.starts_with(['+', '-']) && zone.as_bytes()[3] == b':';
    let zone = if is_zone { zone } else { "" };
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_cameras_are_shown_as_people_read_them() {
        assert_eq!(iso_date("2024:03:15 10:30:00", "+02:00").as_deref(), Some("2024-03-15T10:30:00+02:00"));
        assert_eq!(iso_date("0000:00:00 00:00:00", ""), None);
        assert_eq!(iso_date("yesterday", ""), None);
        let make = |make: &str, model: &str| camera(Some(make.into()), Some(model.into())).unwrap();
        assert_eq!(make("NIKON CORPORATION", "NIKON D90"), "NIKON D90");
        assert_eq!(make("Canon", "EOS 5D"), "Canon EOS 5D");
        let facts = ExifFacts { date: Some("d".into()), orientation: Some(6), ..ExifFacts::default() };
        assert_eq!(
            facts.sentence(PictureFormat::Jpeg, Some((3, 4))),
            "JPEG, 3 × 4 pixels, taken d, stored turned left by 90°"
        );
    }
}
