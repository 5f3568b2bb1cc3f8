//! Pictures of a package as elements.

use a2c_document_model::{ElementContent, ElementDraft, InlineLink};

use super::package::OfficePackage;
use super::relationships::PartRelationships;

/// What a drawing says about its picture.
#[derive(Debug, Default)]
pub(crate) struct PictureFacts {
    /// The words of its author.
    pub(crate) alt: Option<String>,
    /// In the unit of drawings: 9,525 are a pixel.
    pub(crate) width: Option<u64>,
    /// As the width.
    pub(crate) height: Option<u64>,
    /// The relationship of the bytes, or of the address, of the picture.
    pub(crate) relation: Option<String>,
    /// Where a click leads.
    pub(crate) url: Option<String>,
    /// What is known of it besides.
    pub(crate) description: Option<String>,
    /// Whether it is hidden.
    pub(crate) hidden: bool,
}

/// A picture as an element; `None` where there is neither a part nor an address.
pub(crate) fn picture_draft(
    package: &mut OfficePackage,
    relationships: &PartRelationships,
    facts: PictureFacts,
) -> Option<ElementDraft> {
    let relation = facts.relation.as_deref()?;
    let part = relationships.part(relation).filter(|part| package.has(part));
    let url = relationships.address(relation).map(str::to_owned);
    if part.is_none() && url.is_none() {
        return None;
    }
    let blob = part.map(|part| package.blob_place(part));
    let name = part.and_then(|part| part.rsplit('/').next()).map(str::to_owned);
    let alt = facts.alt.map(|alt| alt.trim().to_owned()).filter(|alt| !alt.is_empty());
    let description = facts.description.or_else(|| if alt.is_none() { name } else { None });
    let pixels = |length: Option<u64>| length.and_then(|length| u32::try_from(length / 9525).ok()).filter(|n| *n > 0);
    let content = ElementContent::Image {
        alt,
        url,
        description,
        mime_type: blob.as_ref().map(|blob| blob.mime_type.clone()),
        width: pixels(facts.width),
        height: pixels(facts.height),
    };
    let mut draft = ElementDraft::from(content);
    draft.identity = blob.as_ref().and_then(|blob| package.fingerprint(&blob.part));
    draft.blob = blob;
    draft.metadata.hidden = facts.hidden;
    if let Some(url) = facts.url {
        draft.metadata.links.push(InlineLink { text: String::new(), url, cell: None });
    }
    Some(draft)
}
