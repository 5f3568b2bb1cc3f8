//! The pictures of a file: what is known of them, and their bytes.

use a2c_document_model::{BlobPlace, ElementContent, ElementDraft, UnreadableFile};
use a2c_documents::ReadLimits;
use hayro_syntax::Filter;
use hayro_syntax::object::stream::ImageDecodeParams;
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::xref::XRef;

use crate::png::{PixelKind, png_file};
use crate::unpack::unpack;

/// What is known of a picture without unpacking it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PictureObject {
    /// Its number in the file; pictures within the content of a page have none.
    id: Option<ObjectIdentifier>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    mime_type: &'static str,
    /// Tells it from other pictures.
    fingerprint: u64,
}

impl PictureObject {
    /// The facts of a picture; `None` for what is no picture to look at, such as a stencil or an empty one.
    pub(crate) fn of(stream: &Stream<'_>, id: Option<ObjectIdentifier>) -> Option<Self> {
        let dict = stream.dict();
        let number = |long: &str, short: &str| dict.get::<u32>(long).or_else(|| dict.get::<u32>(short));
        let (width, height) = (number("Width", "W")?, number("Height", "H")?);
        let is_tiny = width < 4 || height < 4;
        if is_tiny {
            return None;
        }
        let mime_type = match stream.filters().last() {
            Some(Filter::DctDecode) => "image/jpeg",
            Some(Filter::JpxDecode) => "image/jp2",
            _ => "image/png",
        };
        let fingerprint = match id {
            Some(_) => fingerprint(&stream.raw_data()),
            None => 0,
        };
        Some(Self { id, width, height, mime_type, fingerprint })
    }

    /// The picture as an element.
    pub(crate) fn draft(&self) -> ElementDraft {
        let mime_type = self.id.map(|_| self.mime_type.to_owned());
        let content = ElementContent::Image {
            alt: None,
            url: None,
            description: Some(format!("{} × {} pixels", self.width, self.height)),
            mime_type: mime_type.clone(),
            width: Some(self.width),
            height: Some(self.height),
        };
        let mut draft = ElementDraft::from(content);
        draft.blob = self
            .id
            .zip(mime_type)
            .map(|(id, mime_type)| BlobPlace { part: format!("{} {}", id.obj_number, id.gen_number), mime_type });
        draft.identity = Some(format!("{:x} {} {}", self.fingerprint, self.width, self.height));
        draft
    }
}

/// A number for bytes: of their length, their beginning, middle and end.
fn fingerprint(bytes: &[u8]) -> u64 {
    const PART: usize = 4096;
    let middle = bytes.len() / 2;
    let parts = [
        &bytes[..bytes.len().min(PART)],
        &bytes[middle..bytes.len().min(middle + PART)],
        &bytes[bytes.len().saturating_sub(PART)..],
    ];
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ bytes.len() as u64;
    parts
        .iter()
        .flat_map(|part| part.iter())
        .fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The bytes of a picture as a file that programs can show.
pub(crate) fn picture_bytes(xref: &XRef, place: &BlobPlace, limits: &ReadLimits) -> Result<Vec<u8>, UnreadableFile> {
    let missing = || UnreadableFile::corrupt(format!("there is no picture at `{}`", place.part));
    let (number, generation) = place.part.split_once(' ').ok_or_else(missing)?;
    let (Ok(number), Ok(generation)) = (number.parse(), generation.parse()) else { return Err(missing()) };
    let stream = xref.get::<Stream<'_>>(ObjectIdentifier::new(number, generation)).ok_or_else(missing)?;
    if PictureObject::of(&stream, None).is_none() {
        return Err(missing());
    }
    let filters = stream.filters();
    match filters.as_slice() {
        // A photograph is a file of its own within the file.
        [Filter::DctDecode | Filter::JpxDecode] => Ok(stream.raw_data().into_owned()),
        _ => pixels(&stream, limits),
    }
}

/// The colours of a picture.
enum ColorTable {
    Gray,
    Rgb,
    Cmyk,
    /// Numbers of colours, each of three bytes.
    Indexed(Vec<u8>),
}

fn pixels(stream: &Stream<'_>, limits: &ReadLimits) -> Result<Vec<u8>, UnreadableFile> {
    let dict = stream.dict();
    let unknown = || UnreadableFile::corrupt("the picture is written in a way that is not known");
    let (width, height) = (dict.get::<u32>("Width").unwrap_or(0), dict.get::<u32>("Height").unwrap_or(0));
    if (width as usize).saturating_mul(height as usize) > limits.picture_pixels {
        return Err(UnreadableFile::too_large(format!("the picture has {width} × {height} pixels")));
    }
    let is_mask = dict.get::<bool>("ImageMask").unwrap_or(false);
    let depth = if is_mask { 1 } else { dict.get::<u8>("BitsPerComponent").unwrap_or(8) };
    let most = (width as usize + 8) * (height as usize + 1) * 8;
    let colors = match is_mask {
        true => ColorTable::Gray,
        false => color_table(dict, most).ok_or_else(unknown)?,
    };
    let channels = match &colors {
        ColorTable::Gray | ColorTable::Indexed(_) => 1,
        ColorTable::Rgb => 3,
        ColorTable::Cmyk => 4,
    };
    let is_scan = stream.filters().iter().any(|filter| {
        matches!(filter, Filter::CcittFaxDecode | Filter::Jbig2Decode | Filter::DctDecode | Filter::JpxDecode)
    });
    let (data, depth) = match is_scan {
        true => {
            let params = ImageDecodeParams {
                is_indexed: matches!(colors, ColorTable::Indexed(_)),
                bpc: Some(depth),
                num_components: Some(channels),
                target_dimension: None,
                width,
                height,
            };
            let decoded = stream.decoded_image(&params).map_err(|_| unknown())?;
            let depth = decoded.image_data.as_ref().map_or(depth, |image| image.bits_per_component);
            (decoded.data.into_owned(), depth)
        }
        false => (unpack(stream, most)?, depth),
    };
    let mut samples = samples(&data, width as usize, height as usize, usize::from(channels), depth);
    if is_inverted(dict) {
        samples.iter_mut().for_each(|sample| *sample = !*sample);
    }
    Ok(match colors {
        ColorTable::Gray => png_file(width, height, PixelKind::Gray, &samples),
        ColorTable::Rgb => png_file(width, height, PixelKind::Rgb, &samples),
        ColorTable::Cmyk => png_file(width, height, PixelKind::Rgb, &cmyk_to_rgb(&samples)),
        ColorTable::Indexed(table) => {
            let color = |index: &u8| {
                // Samples are spread over a byte: back to the number.
                let number =
                    if depth < 8 { usize::from(*index) * ((1 << depth) - 1) / 255 } else { usize::from(*index) };
                table.get(number * 3..number * 3 + 3).map_or([0; 3], |rgb| [rgb[0], rgb[1], rgb[2]])
            };
            let rgb: Vec<u8> = samples.iter().flat_map(color).collect();
            png_file(width, height, PixelKind::Rgb, &rgb)
        }
    })
}

/// One byte a sample, whatever its depth is, row by row.
fn samples(data: &[u8], width: usize, height: usize, channels: usize, depth: u8) -> Vec<u8> {
    let count = width * channels;
    let row = (count * usize::from(depth)).div_ceil(8).max(1);
    let mut out = Vec::with_capacity(count * height);
    for line in data.chunks(row).take(height) {
        let before = out.len();
        match depth {
            8 => out.extend_from_slice(&line[..count.min(line.len())]),
            16 => out.extend(line.chunks(2).take(count).map(|pair| pair[0])),
            1 | 2 | 4 => {
                let most = (1_u16 << depth) - 1;
                let each = usize::from(8 / depth);
                let sample = |place: usize| {
                    let byte = line.get(place / each).copied().unwrap_or(0);
                    let shift = 8 - usize::from(depth) * (place % each + 1);
                    ((u16::from(byte >> shift) & most) * 255 / most) as u8
                };
                out.extend((0..count).map(sample));
            }
            _ => {}
        }
        out.resize(before + count, 0);
    }
    out
}

fn is_inverted(dict: &Dict<'_>) -> bool {
    let decode = dict.get::<Array<'_>>("Decode").map(|list| list.iter::<f32>().take(2).collect::<Vec<_>>());
    decode.is_some_and(|ends| ends == [1.0, 0.0])
}

fn cmyk_to_rgb(samples: &[u8]) -> Vec<u8> {
    let color = |four: &[u8]| {
        let rest = 255 - u16::from(four[3]);
        [0, 1, 2].map(|channel| ((255 - u16::from(four[channel])) * rest / 255) as u8)
    };
    samples.chunks_exact(4).flat_map(color).collect()
}

fn color_table(dict: &Dict<'_>, most: usize) -> Option<ColorTable> {
    match dict.get::<Object<'_>>("ColorSpace")? {
        Object::Name(name) => named_colors(&name),
        Object::Array(list) => listed_colors(&list, most),
        _ => None,
    }
}

fn named_colors(name: &Name<'_>) -> Option<ColorTable> {
    match name.as_str() {
        "DeviceGray" | "CalGray" | "G" => Some(ColorTable::Gray),
        "DeviceRGB" | "CalRGB" | "RGB" => Some(ColorTable::Rgb),
        "DeviceCMYK" | "CMYK" => Some(ColorTable::Cmyk),
        _ => None,
    }
}

fn listed_colors(list: &Array<'_>, most: usize) -> Option<ColorTable> {
    let mut parts = list.iter::<Object<'_>>();
    let kind = parts.next()?.into_name()?;
    match kind.as_str() {
        "ICCBased" => match parts.next()?.into_stream()?.dict().get::<u8>("N")? {
            1 => Some(ColorTable::Gray),
            3 => Some(ColorTable::Rgb),
            4 => Some(ColorTable::Cmyk),
            _ => None,
        },
        "Indexed" | "I" => {
            let base = match parts.next()? {
                Object::Name(name) => named_colors(&name)?,
                Object::Array(list) if list.iter::<Object<'_>>().next()?.into_name()?.as_str() != "Indexed" => {
                    listed_colors(&list, most)?
                }
                _ => return None,
            };
            let _last = parts.next()?;
            let table = match parts.next()? {
                Object::String(bytes) => bytes.as_bytes().to_vec(),
                Object::Stream(stream) => unpack(&stream, most.max(1024)).ok()?,
                _ => return None,
            };
            let table = match base {
                ColorTable::Gray => table.iter().flat_map(|gray| [*gray; 3]).collect(),
                ColorTable::Rgb => table,
                ColorTable::Cmyk => cmyk_to_rgb(&table),
                ColorTable::Indexed(_) => return None,
            };
            Some(ColorTable::Indexed(table))
        }
        // One ink: the more of it, the darker.
        "Separation" => None,
        _ => named_colors(&kind),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_of_any_depth_become_bytes() {
        assert_eq!(samples(&[0b1010_0000, 0b0100_0000], 3, 2, 1, 1), [255, 0, 255, 0, 255, 0]);
        assert_eq!(samples(&[0x1f], 2, 1, 1, 4), [17, 255]);
        assert_eq!(samples(&[9, 8, 7], 2, 2, 1, 8), [9, 8, 7, 0]);
        assert_eq!(samples(&[9, 0, 7, 0], 2, 1, 1, 16), [9, 7]);
        assert_eq!(cmyk_to_rgb(&[0, 255, 255, 0, 0, 0, 0, 255]), [255, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn pictures_that_differ_have_other_fingerprints() {
        assert_ne!(fingerprint(b"one"), fingerprint(b"two"));
        assert_ne!(fingerprint(&[0; 10]), fingerprint(&[0; 11]));
        assert_eq!(fingerprint(b""), fingerprint(b""));
    }
}
