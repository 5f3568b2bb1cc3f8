//! The headers of a message that people read.

use a2c_document_model::{DocumentProperties, ElementContent, TableContent};
use mail_parser::{Addr, Address, DateTime, Message};

/// The addresses of one header that are shown.
const ADDRESSES: usize = 200;

/// What the headers say about the message as a document.
pub(super) fn mail_properties(head: &Message<'_>) -> DocumentProperties {
    let keywords = head.keywords().as_text_list().unwrap_or_default();
    let keywords = keywords.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect();
    DocumentProperties {
        title: head.subject().map(one_line).filter(|subject| !subject.is_empty()),
        author: head.from().map(addresses).filter(|from| !from.is_empty()),
        created: head.date().and_then(iso_date),
        keywords,
        ..DocumentProperties::default()
    }
}

/// The headers as a table of names and values; `None` where there are none.
pub(super) fn header_table(head: &Message<'_>) -> Option<ElementContent> {
    let date = head.date().and_then(iso_date);
    let rows = [
        ("From", head.from().map(addresses)),
        ("To", all(head.all_to())),
        ("Cc", all(head.all_cc())),
        ("Bcc", all(head.all_bcc())),
        ("Date", date),
        ("Subject", head.subject().map(one_line)),
    ];
    let rows = rows.into_iter().filter_map(|(name, value)| {
        let value = value.filter(|value| !value.is_empty())?;
        Some(vec![name.to_owned(), value])
    });
    let rows: Vec<Vec<String>> = rows.collect();
    (!rows.is_empty()).then(|| ElementContent::Table(TableContent::whole(Vec::new(), rows)))
}

fn all<'a>(headers: impl Iterator<Item = &'a Address<'a>>) -> Option<String> {
    let shown: Vec<String> = headers.map(addresses).filter(|one| !one.is_empty()).take(ADDRESSES).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}

/// Addresses as people write them: `Ada <ada@example.com>`.
fn addresses(header: &Address<'_>) -> String {
    let mut shown: Vec<String> = match header {
        Address::List(list) => list.iter().take(ADDRESSES + 1).filter_map(address).collect(),
        Address::Group(groups) => {
            let one = |group: &mail_parser::Group<'_>| {
                let members: Vec<String> = group.addresses.iter().take(ADDRESSES).filter_map(address).collect();
                match &group.name {
                    Some(name) => format!("{}: {}", one_line(name), members.join(", ")),
                    None => members.join(", "),
                }
            };
            groups.iter().take(ADDRESSES + 1).map(one).collect()
        }
    };
    if shown.len() > ADDRESSES {
        shown.truncate(ADDRESSES);
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

fn address(one: &Addr<'_>) -> Option<String> {
    let name = one.name.as_deref().map(one_line).filter(|name| !name.is_empty());
    let address = one.address.as_deref().map(one_line).filter(|address| !address.is_empty());
    match (name, address) {
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (name, address) => name.or(address),
    }
}

/// A header without the line breaks that it is folded at.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A date in ISO 8601, with the time zone of its sender.
fn iso_date(date: &DateTime) -> Option<String> {
    let DateTime { year, month, day, hour, minute, second, tz_before_gmt, tz_hour, tz_minute } = date;
    if !(1..=12).contains(month) || !(1..=31).contains(day) || *hour > 24 || *minute > 59 || *second > 60 {
        return None;
    }
    let zone = match (tz_hour, tz_minute) {
        (0, 0) => "Z".to_owned(),
        _ => format!("{}{tz_hour:02}:{tz_minute:02}", if *tz_before_gmt { '-' } else { '+' }),
    };
    Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{zone}"))
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;

    use super::*;

    #[test]
    fn headers_are_shown_decoded_and_in_order() {
        let text = "Subject: =?utf-8?B?5Lit5paH?=\n  folded\nFrom: =?iso-8859-1?Q?J=F6rg?= <j@example.com>\nTo: a@b, \"C, D\" <c@d>\n\
                    Cc: team: x@y, z@y;\nDate: Tue, 1 Jul 2003 10:52:37 -0230\nKeywords: one, two\n\n";
        let head = MessageParser::new().parse_headers(text).unwrap();
        let Some(ElementContent::Table(table)) = header_table(&head) else { panic!("a table") };
        assert_eq!(
            table.rows,
            [
                ["From", "Jörg <j@example.com>"],
                ["To", "a@b, C, D <c@d>"],
                ["Cc", "team: x@y, z@y"],
                ["Date", "2003-07-01T10:52:37-02:30"],
                ["Subject", "中文 folded"],
            ]
        );
        let properties = mail_properties(&head);
        assert_eq!((properties.title.as_deref(), properties.keywords.len()), (Some("中文 folded"), 2));
        let none = MessageParser::new().parse_headers("X: y\n\n").unwrap();
        assert!(header_table(&none).is_none());
    }
}
