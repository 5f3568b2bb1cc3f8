//! What is printed above and below the pages of a sheet.

/// The words of a header or a footer, without the codes for fonts and places: `&L&"Arial"&12Plan&RPage &P`.
pub(super) fn printed_text(code: &str) -> String {
    let mut parts = vec![String::new()];
    let mut letters = code.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(part) = parts.last_mut() else { break };
        if letter != '&' {
            part.push(letter);
            continue;
        }
        match letters.next() {
            Some('L' | 'C' | 'R') => parts.push(String::new()),
            Some('&') => part.push('&'),
            // Numbers and names that are known only when it is printed.
            Some('P' | 'N') => part.push('#'),
            Some('"') => _ = letters.by_ref().find(|letter| *letter == '"'),
            Some('K') => (0..6).for_each(|_| _ = letters.next()),
            Some(digit) if digit.is_ascii_digit() => while letters.next_if(char::is_ascii_digit).is_some() {},
            _ => {}
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_no_words() {
        assert_eq!(printed_text("&L&\"Arial,Bold\"&12 Plan A&&B&RPage &P of &N"), "Plan A&B | Page # of #");
        assert_eq!(printed_text("&C&KFF0000red&D"), "red");
        assert_eq!(printed_text("&"), "");
    }
}
