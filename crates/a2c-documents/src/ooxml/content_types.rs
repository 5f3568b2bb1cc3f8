//! The media types of the parts of a package.

use std::collections::HashMap;

use a2c_document_model::UnreadableFile;

use crate::limits::ReadLimits;
use crate::picture::mime_type_of_name;
use crate::xml::{XmlEvent, XmlReader};

/// The media types of parts, by their names and by the endings of their names; all in lower case.
#[derive(Debug, Default)]
pub(super) struct ContentTypes {
    by_part: HashMap<String, String>,
    by_ending: HashMap<String, String>,
}

impl ContentTypes {
    pub(super) fn read(bytes: &[u8], limits: &ReadLimits) -> Result<Self, UnreadableFile> {
        let mut xml = XmlReader::new(bytes, "[Content_Types].xml", limits);
        let mut types = Self::default();
        while let Some(event) = xml.within(0)? {
            let XmlEvent::Start(tag) = event else { continue };
            let Some(kind) = tag.attribute("ContentType") else { continue };
            if let Some(part) = tag.attribute("PartName") {
                types.by_part.insert(part.trim_start_matches('/').to_lowercase(), kind);
            } else if let Some(ending) = tag.attribute("Extension") {
                types.by_ending.insert(ending.to_lowercase(), kind);
            }
        }
        Ok(types)
    }

    /// The media type of a part. What browsers know is told by the ending where the package is silent.
    pub(super) fn of(&self, part: &str) -> String {
        let part = part.to_lowercase();
        let ending = part.rsplit_once('.').map_or("", |(_, ending)| ending);
        let known = self.by_part.get(&part).or_else(|| self.by_ending.get(ending)).cloned();
        known.unwrap_or_else(|| mime_type_of_name(&part).unwrap_or_else(|| by_ending(ending)).to_owned())
    }
}

/// What the ending of a name stands for, where it is no picture.
fn by_ending(ending: &str) -> &'static str {
    match ending {
        "mp4" | "m4v" => "video/mp4",
        "mov" => "video/quicktime",
        "wmv" => "video/x-ms-wmv",
        "avi" => "video/x-msvideo",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "m4a" => "audio/mp4",
        _ => "application/octet-stream",
    }
}
