//! The query of a URL.

/// The first value of a query parameter, decoded.
pub(crate) fn query_value(query: &str, key: &str) -> Option<String> {
    query.split('&').filter_map(|pair| pair.split_once('=')).find(|(k, _)| *k == key).map(|(_, value)| {
        let spaces = value.replace('+', " ");
        percent_encoding::percent_decode_str(&spaces).decode_utf8_lossy().into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_are_found_and_decoded() {
        let check = |query, expected: Option<&str>| assert_eq!(query_value(query, "v").as_deref(), expected, "{query}");
        check("v=0.2.0", Some("0.2.0"));
        check("EIO=4&v=0%2E2.0&v=9", Some("0.2.0"));
        check("v=", Some(""));
        check("v", None);
        check("xv=1", None);
        check("", None);
    }
}
