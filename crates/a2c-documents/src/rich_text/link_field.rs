//! Where the fields of word processors lead that are links. Pure.

/// The address that an instruction links to.
pub(crate) fn link_address(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start();
    let word = rest.get(..9).filter(|word| word.eq_ignore_ascii_case("HYPERLINK"))?;
    let (mut address, mut anchor, mut of_anchor) = (None, None, false);
    for token in tokens(&rest[word.len()..]) {
        match token.as_str() {
            "\\l" => of_anchor = true,
            switch if switch.starts_with('\\') && switch.len() == 2 => of_anchor = false,
            _ if of_anchor => anchor = anchor.or(Some(token)),
            _ => address = address.or(Some(token)),
        }
    }
    match (address, anchor) {
        (Some(address), Some(anchor)) => Some(format!("{address}#{anchor}")),
        (Some(address), None) => Some(address),
        (None, Some(anchor)) => Some(format!("#{anchor}")),
        (None, None) => None,
    }
}

/// Words, and what stands within quotation marks.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut rest) = (Vec::new(), text.trim_start());
    while !rest.is_empty() && tokens.len() < 16 {
        let (token, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        tokens.push(token.to_owned());
        rest = after.trim_start();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_link_is_found() {
        for (instruction, expected) in [
            (" HYPERLINK \"http://a/b c\" ", Some("http://a/b c")),
            ("hyperlink http://a \\o \"tip\"", Some("http://a")),
            ("HYPERLINK \\l \"part\"", Some("#part")),
            ("HYPERLINK \"http://a\" \\l \"part\" \\h", Some("http://a#part")),
            ("PAGE", None),
            ("HYPERLINK", None),
            ("", None),
        ] {
            assert_eq!(link_address(instruction).as_deref(), expected, "{instruction}");
        }
    }
}
