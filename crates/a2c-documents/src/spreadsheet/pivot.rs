//! Pivot tables: what is counted by what.

use a2c_document_model::{CellPlace, CellRange, ElementContent, UnreadableFile};

use crate::limits::ReadLimits;
use crate::xml::{XmlEvent, XmlReader};

/// The fields of a pivot table that are kept; Excel allows 16,384.
const FIELDS: usize = 16_384;

/// The data behind a pivot table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PivotCache {
    /// The names of its fields.
    fields: Vec<String>,
    /// Where it comes from.
    source: Option<String>,
}

/// Reads the definition of the data behind a pivot table.
pub(super) fn read_cache(bytes: &[u8], part: &str, limits: &ReadLimits) -> Result<PivotCache, UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let mut cache = PivotCache::default();
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) => match tag.name() {
                b"worksheetSource" => {
                    let named = tag.attribute("name");
                    cache.source = match (tag.attribute("sheet"), tag.attribute("ref")) {
                        (Some(sheet), Some(range)) => Some(format!("{sheet}!{range}")),
                        (None, Some(range)) => Some(range),
                        (_, None) => named,
                    };
                }
                b"cacheField" if cache.fields.len() < FIELDS => {
                    cache.fields.push(tag.attribute("name").unwrap_or_default());
                    // Its values may be many, and are not wanted.
                    reader.skip()?;
                }
                _ => {}
            },
            XmlEvent::Eof => return Ok(cache),
            _ => {}
        }
    }
}

/// Reads a pivot table, and where it stands.
pub(super) fn read_pivot(
    bytes: &[u8],
    part: &str,
    cache: &PivotCache,
    limits: &ReadLimits,
) -> Result<(CellPlace, Option<CellRange>, ElementContent), UnreadableFile> {
    let mut reader = XmlReader::new(bytes, part, limits);
    let (mut name, mut range) = (String::new(), None);
    let [mut rows, mut columns, mut values, mut filters]: [Vec<String>; 4] = Default::default();
    let mut section = Vec::new();
    let field = |number: Option<String>| {
        // Field -2 stands for the values themselves.
        let number: usize = number?.parse().ok()?;
        cache.fields.get(number).cloned()
    };
    loop {
        match reader.event()? {
            XmlEvent::Start(tag) => match tag.name() {
                b"pivotTableDefinition" => name = tag.attribute("name").unwrap_or_default(),
                b"location" => range = tag.attribute("ref").and_then(|range| CellRange::parse(&range)),
                b"pivotFields" => reader.skip()?,
                section_name @ (b"rowFields" | b"colFields") => section = section_name.to_vec(),
                b"field" if section == b"rowFields" && rows.len() < FIELDS => rows.extend(field(tag.attribute("x"))),
                b"field" if columns.len() < FIELDS => columns.extend(field(tag.attribute("x"))),
                b"pageField" if filters.len() < FIELDS => filters.extend(field(tag.attribute("fld"))),
                b"dataField" if values.len() < FIELDS => {
                    values.extend(tag.attribute("name").or_else(|| field(tag.attribute("fld"))));
                }
                _ => {}
            },
            XmlEvent::Eof => break,
            _ => {}
        }
    }
    let place = range.map_or_else(CellPlace::default, |range| range.first);
    let content = ElementContent::PivotTable { name, source: cache.source.clone(), rows, columns, values, filters };
    Ok((place, range, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pivot_table_names_its_fields() {
        let limits = ReadLimits::default();
        let cache = r#"<pivotCacheDefinition><cacheSource type="worksheet"><worksheetSource ref="A1:C9" sheet="Data"/></cacheSource>
            <cacheFields><cacheField name="Region"><sharedItems><s v="x"/></sharedItems></cacheField><cacheField name="Year"/><cacheField name="Sum"/></cacheFields></pivotCacheDefinition>"#;
        let cache = read_cache(cache.as_bytes(), "c.xml", &limits).unwrap();
        let pivot = r#"<pivotTableDefinition name="Pivot1"><location ref="B3:D9"/><pivotFields><pivotField axis="axisRow"/></pivotFields>
            <rowFields><field x="0"/></rowFields><colFields><field x="-2"/></colFields><pageFields><pageField fld="1"/></pageFields>
            <dataFields><dataField name="Sum of Sum" fld="2"/></dataFields></pivotTableDefinition>"#;
        let (place, _, content) = read_pivot(pivot.as_bytes(), "p.xml", &cache, &limits).unwrap();
        assert_eq!(place.to_string(), "B3");
        let expected = ElementContent::PivotTable {
            name: "Pivot1".into(),
            source: Some("Data!A1:C9".into()),
            rows: vec!["Region".into()],
            columns: vec![],
            values: vec!["Sum of Sum".into()],
            filters: vec!["Year".into()],
        };
        assert_eq!(content, expected);
    }
}
