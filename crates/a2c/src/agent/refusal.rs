//! What people can do about a refusal. Scripts get it as it was sent.

use a2c_agent::JoinError;
use a2c_protocol::ErrorCode;
use a2c_protocol::error::ErrorBody;
use anyhow::{Error, anyhow};
use serde_json::Value;

use super::show;

/// A refusal with a word on what to do, where there is one that it does not say itself.
pub(super) fn explained(refusal: &ErrorBody) -> Error {
    match hint(refusal) {
        Some(hint) => anyhow!("{refusal}; {hint}"),
        None => anyhow!("{refusal}"),
    }
}

fn hint(refusal: &ErrorBody) -> Option<String> {
    let has = |field: &str| refusal.fields.contains_key(field);
    Some(match refusal.code {
        ErrorCode::NotFound if has("uri") => {
            "--server NAME asks one in particular; `a2c agent resources COMPUTER SERVER` lists what it has".to_owned()
        }
        ErrorCode::NotFound if has("computer") => "`a2c agent members` lists who is there".to_owned(),
        ErrorCode::PageOutOfRange => {
            let count = refusal.fields.get("page_count").and_then(Value::as_u64)?;
            format!("it has {}, counted from 0", show::pages(count))
        }
        ErrorCode::NoDpeResolver => {
            "`a2c computer` takes a resolver with --dpe-resolver, such as: --dpe-resolver http".to_owned()
        }
        _ => return None,
    })
}

/// Why the Agent could not join.
pub(super) fn no_seat(office: &str, error: JoinError) -> Error {
    if matches!(error, JoinError::OfficeFull(_)) {
        return anyhow!(
            "cannot join office '{office}': {error} (an open `a2c agent watch` or `browse` occupies the seat; the owner's \
             `a2c computer call` works beside it)"
        );
    }
    Error::from(error).context(format!("cannot join office '{office}'"))
}

#[cfg(test)]
mod tests {
    use a2c_agent::RequestError;

    use super::*;

    #[test]
    fn refusals_say_what_to_do_once() {
        let check = |refusal: ErrorBody, expected: Option<&str>| {
            let text = explained(&refusal).to_string();
            match expected {
                Some(hint) => assert!(text.matches(hint).count() == 1, "{text}"),
                None => assert_eq!(text, refusal.to_string()),
            }
        };
        check(ErrorBody::computer_not_found("x"), Some("`a2c agent members`"));
        let absent = |code| ErrorBody::new(code, "it is not there");
        check(absent(ErrorCode::NotFound).with("uri", "file:///x"), Some("--server NAME"));
        check(absent(ErrorCode::NotFound), None);
        check(absent(ErrorCode::PageOutOfRange).with("page_count", 3), Some("it has 3 pages"));
        check(absent(ErrorCode::PageOutOfRange).with("page_count", "many"), None);
        check(absent(ErrorCode::NoDpeResolver), Some("--dpe-resolver, such as"));
    }

    #[test]
    fn who_holds_the_seat_is_told() {
        let hint = "`a2c computer call` works beside it";
        for (error, is_hinted) in [
            (JoinError::OfficeFull("office 'o' already has an agent".into()), true),
            (JoinError::Refused("the name is too long".into()), false),
            (JoinError::Request(RequestError::NotConnected), false),
        ] {
            let text = format!("{:#}", no_seat("o", error));
            assert!(text.starts_with("cannot join office 'o': ") && text.contains(hint) == is_hinted, "{text}");
        }
    }
}
