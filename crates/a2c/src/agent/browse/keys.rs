//! What a key means.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use unicode_width::UnicodeWidthStr as _;

use super::state::Action;

/// How far the preview moves at a time.
const SCROLL: isize = 5;

/// All keys, as the help shows them.
pub(super) const HELP: &[(&str, &str)] = &[
    ("↑ ↓  k j", "move"),
    ("Enter →  l", "open"),
    ("Esc ← ⌫  h", "back"),
    ("PgDn PgUp  n p", "next, previous screen"),
    ("Home End  g G", "first, last"),
    ("J K", "scroll the text"),
    ("/", "search: documents with any of the words"),
    ("t", "next file type, in the list of documents"),
    ("r", "refresh"),
    ("?", "this help; Esc closes it"),
    ("q", "quit"),
];

/// All keys, for the help of the command.
pub(in super::super) fn help() -> String {
    let width = HELP.iter().map(|(key, _)| key.width()).max().unwrap_or(0);
    let line = |(key, what): &(&str, &str)| format!("\n  {key}{}  {what}", " ".repeat(width - key.width()));
    format!("Keys:{}", HELP.iter().map(line).collect::<String>())
}

/// The action of a key; while a search is typed, letters are letters.
pub(super) fn action(key: &KeyEvent, is_typing: bool) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && matches!(key.code, KeyCode::Char('c' | 'C')) {
        return Some(Action::Quit);
    }
    if is_typing {
        return match key.code {
            KeyCode::Enter => Some(Action::Submit),
            KeyCode::Esc => Some(Action::Cancel),
            KeyCode::Backspace => Some(Action::Erase),
            KeyCode::Char(c) if !control => Some(Action::Type(c)),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Char(_) if control => return None,
        KeyCode::Up | KeyCode::Char('k') => Action::Step(-1),
        KeyCode::Down | KeyCode::Char('j') => Action::Step(1),
        KeyCode::PageUp | KeyCode::Char('p') => Action::Leaf(-1),
        KeyCode::PageDown | KeyCode::Char('n') => Action::Leaf(1),
        KeyCode::Home | KeyCode::Char('g') => Action::First,
        KeyCode::End | KeyCode::Char('G') => Action::Last,
        KeyCode::Char('J') => Action::Scroll(SCROLL),
        KeyCode::Char('K') => Action::Scroll(-SCROLL),
        KeyCode::Enter | KeyCode::Right | KeyCode::Char('l') => Action::Open,
        KeyCode::Esc | KeyCode::Left | KeyCode::Backspace | KeyCode::Char('h') => Action::Back,
        KeyCode::Char('/') => Action::Search,
        KeyCode::Char('t') => Action::NextType,
        KeyCode::Char('r') => Action::Refresh,
        KeyCode::Char('?') => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_of_the_command_lists_every_key() {
        let help = help();
        assert_eq!(help.lines().count(), HELP.len() + 1);
        assert!(help.contains("\n  q               quit"), "{help}");
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        let plain = |code| KeyEvent::new(code, KeyModifiers::NONE);
        for (codes, expected) in [
            (vec![KeyCode::Up, KeyCode::Char('k')], Action::Step(-1)),
            (vec![KeyCode::Down, KeyCode::Char('j')], Action::Step(1)),
            (vec![KeyCode::Enter, KeyCode::Right, KeyCode::Char('l')], Action::Open),
            (vec![KeyCode::Esc, KeyCode::Left, KeyCode::Backspace, KeyCode::Char('h')], Action::Back),
            (vec![KeyCode::PageDown, KeyCode::Char('n')], Action::Leaf(1)),
            (vec![KeyCode::PageUp, KeyCode::Char('p')], Action::Leaf(-1)),
            (vec![KeyCode::Char('/')], Action::Search),
            (vec![KeyCode::Char('t')], Action::NextType),
            (vec![KeyCode::Char('r')], Action::Refresh),
            (vec![KeyCode::Char('?')], Action::Help),
            (vec![KeyCode::Char('q')], Action::Quit),
        ] {
            for code in codes {
                assert_eq!(action(&plain(code), false), Some(expected.clone()), "{code:?}");
            }
        }
        for (code, expected) in [
            (KeyCode::Char('q'), Some(Action::Type('q'))),
            (KeyCode::Char('年'), Some(Action::Type('年'))),
            (KeyCode::Enter, Some(Action::Submit)),
            (KeyCode::Esc, Some(Action::Cancel)),
            (KeyCode::Backspace, Some(Action::Erase)),
            (KeyCode::Up, None),
        ] {
            assert_eq!(action(&plain(code), true), expected, "{code:?} while typing");
        }
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert_eq!([action(&interrupt, false), action(&interrupt, true)], [Some(Action::Quit), Some(Action::Quit)]);
        let released = KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(action(&released, false), None);
    }
}
