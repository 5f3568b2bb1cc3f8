//! The placeholders of binary attachments in the text of a packet. Pure.
//!
//! A client replaces each `{"_placeholder": true, "num": N}` by attachment N. Where N leads nowhere, some clients stop
//! reading from the connection: the hub passes on only what they can read.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};

/// A placeholder of a packet leads to no attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a placeholder leads to none of the {attachments} attachments")]
pub(crate) struct StrayPlaceholder {
    pub(crate) attachments: usize,
}

/// Checks that every placeholder in a JSON text leads to one of the attachments, as far as clients can read the text: one
/// that is nested too deeply is refused too.
pub(crate) fn check(text: &str, attachments: usize) -> Result<(), StrayPlaceholder> {
    let mut is_stray = false;
    let search = Search { attachments, is_stray: &mut is_stray };
    let is_unreadable = search.deserialize(&mut serde_json::Deserializer::from_str(text)).is_err();
    if is_stray || is_unreadable { Err(StrayPlaceholder { attachments }) } else { Ok(()) }
}

/// Looks for placeholders in one value.
struct Search<'a> {
    attachments: usize,
    is_stray: &'a mut bool,
}

impl Search<'_> {
    fn again(&mut self) -> Search<'_> {
        Search { attachments: self.attachments, is_stray: self.is_stray }
    }
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = FoundValue;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<FoundValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

/// What matters of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FoundValue {
    True,
    Number(u64),
    Other,
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = FoundValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<FoundValue, E> {
        Ok(if value { FoundValue::True } else { FoundValue::Other })
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<FoundValue, E> {
        Ok(FoundValue::Number(value))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<FoundValue, E> {
        Ok(FoundValue::Other)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<FoundValue, E> {
        Ok(FoundValue::Other)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<FoundValue, E> {
        Ok(FoundValue::Other)
    }

    fn visit_unit<E: Error>(self) -> Result<FoundValue, E> {
        Ok(FoundValue::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<FoundValue, A::Error> {
        while list.next_element_seed(self.again())?.is_some() {}
        Ok(FoundValue::Other)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<FoundValue, A::Error> {
        let (mut is_placeholder, mut number) = (false, None);
        while let Some(key) = map.next_key_seed(PlaceholderKey::Other)? {
            let value = map.next_value_seed(self.again())?;
            match key {
                // Any value that a client may take for true.
                PlaceholderKey::Mark => is_placeholder = value != FoundValue::Other || is_placeholder,
                PlaceholderKey::Number => number = Some(value),
                PlaceholderKey::Other => {}
            }
        }
        let leads_somewhere =
            matches!(number, Some(FoundValue::Number(at)) if usize::try_from(at).is_ok_and(|at| at < self.attachments));
        *self.is_stray |= is_placeholder && !leads_somewhere;
        Ok(FoundValue::Other)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlaceholderKey {
    Mark,
    Number,
    Other,
}

impl<'de> DeserializeSeed<'de> for PlaceholderKey {
    type Value = PlaceholderKey;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<PlaceholderKey, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for PlaceholderKey {
    type Value = PlaceholderKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<PlaceholderKey, E> {
        Ok(match key {
            "_placeholder" => PlaceholderKey::Mark,
            "num" => PlaceholderKey::Number,
            _ => PlaceholderKey::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_leads_to_an_attachment() {
        for fine in [
            r#"["e",{"a":{"_placeholder":true,"num":0},"b":[{"num":1,"_placeholder":true}]}]"#,
            r#"["e",{"_placeholder":false,"num":7}]"#,
            r#"["e",{"_placeholder":null},{"num":9},"_placeholder",-1,1.5,null]"#,
        ] {
            assert_eq!(check(fine, 2), Ok(()), "{fine}");
        }
        for stray in [
            r#"["e",{"_placeholder":true,"num":2}]"#,
            r#"["e",{"_placeholder":true}]"#,
            r#"["e",{"_placeholder":true,"num":-1}]"#,
            r#"["e",{"_placeholder":true,"num":0.5}]"#,
            r#"["e",{"_placeholder":true,"num":"0"}]"#,
            r#"["e",{"_placeholder":true,"num":null}]"#,
            r#"["e",{"_placeholder":true,"num":18446744073709551615}]"#,
            r#"["e",{"_placeholder":true,"num":0,"deep":{"_placeholder":true,"num":3}}]"#,
            r#"["e",{"\u005fplaceholder":true,"num":3}]"#,
            r#"["e",{"_placeholder":1,"num":3}]"#,
            r#"["e",{"_placeholder":true,"num":0,"num":3}]"#,
        ] {
            assert_eq!(check(stray, 2), Err(StrayPlaceholder { attachments: 2 }), "{stray}");
        }
    }

    #[test]
    fn a_text_that_is_nested_too_deeply_is_refused() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(check(&deep, 1).is_err());
    }
}
