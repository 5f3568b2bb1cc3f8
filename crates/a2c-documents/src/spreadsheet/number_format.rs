//! Number formats, such as `#,##0.00;[Red]-0%`: their sections, as lists of pieces.

use super::serial_date::DateSystem;
use super::{date_display, number_display};

/// The longest format that is read; Excel allows 255 characters.
const CODE_CHARS: usize = 1024;

/// A number format.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberFormat {
    /// For positive numbers, negative ones, zero, and texts; fewer serve for several of them.
    sections: Vec<FormatSection>,
}

/// One section of a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FormatSection {
    pub(super) pieces: Vec<FormatPiece>,
    condition: Option<(Comparison, f64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FormatPiece {
    /// Text that is shown as it is.
    Literal(String),
    /// The place of a digit: `0` shows zeros, `#` and `?` do not.
    Digit(char),
    /// The decimal point.
    Point,
    /// Groups digits, or divides by thousand after the last of them.
    Comma,
    /// A hundredth.
    Percent,
    /// `E+` or `E-`.
    Exponent { plus: bool },
    /// The bar of a fraction.
    Slash,
    /// The text of the cell.
    Text,
    /// What the program thinks best.
    General,
    /// A letter of a date or a time, and how often it stands there.
    DateLetter(char, usize),
    /// Hours, minutes or seconds that do not begin again.
    Elapsed(char),
    /// `AM/PM`.
    HalfDay,
}

impl NumberFormat {
    /// Reads a format.
    pub(super) fn parse(code: &str) -> Self {
        let code = if code.is_empty() { "General" } else { code };
        let mut sections = vec![FormatSection::default()];
        let mut letters = code.chars().take(CODE_CHARS).peekable();
        while let Some(letter) = letters.next() {
            if letter == ';' {
                if sections.len() == 4 {
                    break;
                }
                sections.push(FormatSection::default());
                continue;
            }
            let Some(section) = sections.last_mut() else { break };
            match letter {
                '"' => section.literal(&letters.by_ref().take_while(|letter| *letter != '"').collect::<String>()),
                '\\' | '!' => section.literal(&letters.next().map(String::from).unwrap_or_default()),
                // A blank as wide as the next letter, or that letter as often as there is room.
                '_' | '*' => _ = letters.next(),
                '[' => section.bracket(&letters.by_ref().take_while(|letter| *letter != ']').collect::<String>()),
                '0' | '#' | '?' => section.pieces.push(FormatPiece::Digit(letter)),
                '.' => section.pieces.push(FormatPiece::Point),
                ',' => section.pieces.push(FormatPiece::Comma),
                '%' => section.pieces.push(FormatPiece::Percent),
                '/' => section.pieces.push(FormatPiece::Slash),
                '@' => section.pieces.push(FormatPiece::Text),
                'E' | 'e' if matches!(letters.peek(), Some('+' | '-')) => {
                    section.pieces.push(FormatPiece::Exponent { plus: letters.next() == Some('+') });
                }
                'G' | 'g' if word_follows(&mut letters, "eneral") => section.pieces.push(FormatPiece::General),
                'A' | 'a' if word_follows(&mut letters, "m/pm") || word_follows(&mut letters, "/p") => {
                    section.pieces.push(FormatPiece::HalfDay);
                }
                'y' | 'Y' | 'm' | 'M' | 'd' | 'D' | 'h' | 'H' | 's' | 'S' | 'e' | 'E' | 'g' | 'G' | 'b' | 'B' | 'a'
                | 'A' => section.date_letter(letter.to_ascii_lowercase()),
                other => section.literal(other.encode_utf8(&mut [0; 4])),
            }
        }
        sections.iter_mut().for_each(FormatSection::tell_minutes_from_months);
        Self { sections }
    }

    /// Whether numbers look as the program thinks best.
    pub(super) fn is_general(&self) -> bool {
        matches!(&self.sections[..], [section] if section.pieces == [FormatPiece::General])
    }

    /// Whether it shows numbers as dates or times.
    pub(super) fn is_date(&self) -> bool {
        self.sections.first().is_some_and(FormatSection::is_date)
    }

    /// A number as it is shown.
    pub(super) fn number(&self, value: f64, system: DateSystem) -> String {
        let Some((section, signed)) = self.section(value) else { return number_display::general(value) };
        if section.is_date() {
            return date_display::date(&section.pieces, value, system)
                .unwrap_or_else(|| number_display::general(value));
        }
        let shown = number_display::number(&section.pieces, value.abs());
        match signed && value < 0.0 && shown.contains(|letter: char| matches!(letter, '1'..='9')) {
            true => format!("-{shown}"),
            false => shown,
        }
    }

    /// A text as it is shown; `None` where the format changes nothing.
    pub(super) fn text(&self, text: &str) -> Option<String> {
        let section = match &self.sections[..] {
            [_, _, _, section] => section,
            [.., section] if section.pieces.contains(&FormatPiece::Text) => section,
            _ => return None,
        };
        if section.pieces == [FormatPiece::Text] {
            return None;
        }
        let piece = |piece: &FormatPiece| match piece {
            FormatPiece::Text | FormatPiece::General => text.to_owned(),
            FormatPiece::Literal(literal) => literal.clone(),
            _ => String::new(),
        };
        Some(section.pieces.iter().map(piece).collect())
    }

    /// The section for a number, and whether its sign has to be shown besides.
    fn section(&self, value: f64) -> Option<(&FormatSection, bool)> {
        let numbers = match &self.sections[..] {
            [numbers @ .., text] if text.pieces.contains(&FormatPiece::Text) && !numbers.is_empty() => numbers,
            all => &all[..all.len().min(3)],
        };
        if numbers.iter().any(|section| section.condition.is_some()) {
            let found = numbers.iter().find(|section| section.holds(value)).or(numbers.last())?;
            return Some((found, true));
        }
        match numbers {
            [one] => Some((one, true)),
            [_, negative, ..] if value < 0.0 => Some((negative, false)),
            [_, _, zero] if value == 0.0 => Some((zero, false)),
            [positive, ..] => Some((positive, false)),
            [] => None,
        }
    }
}

/// Takes a word, in whatever case, if it comes next.
fn word_follows(letters: &mut std::iter::Peekable<impl Iterator<Item = char> + Clone>, word: &str) -> bool {
    let mut ahead = letters.clone();
    let follows = word.chars().all(|letter| ahead.next().is_some_and(|next| next.to_ascii_lowercase() == letter));
    if follows {
        *letters = ahead;
    }
    follows
}

impl FormatSection {
    fn literal(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(FormatPiece::Literal(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.pieces.push(FormatPiece::Literal(text.to_owned())),
        }
    }

    fn date_letter(&mut self, letter: char) {
        match self.pieces.last_mut() {
            Some(FormatPiece::DateLetter(before, count)) if *before == letter => *count += 1,
            _ => self.pieces.push(FormatPiece::DateLetter(letter, 1)),
        }
    }

    /// What stands in brackets: a currency, a condition, a time that does not begin again; or a colour, which is no text.
    fn bracket(&mut self, text: &str) {
        if let Some(currency) = text.strip_prefix('$') {
            let symbol = currency.split_once('-').map_or(currency, |(symbol, _)| symbol);
            self.literal(symbol);
            return;
        }
        if let Some(letter) = text.chars().next().map(|letter| letter.to_ascii_lowercase())
            && matches!(letter, 'h' | 'm' | 's')
            && text.chars().all(|other| other.to_ascii_lowercase() == letter)
        {
            self.pieces.push(FormatPiece::Elapsed(letter));
            return;
        }
        let comparisons = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<>", Comparison::NotEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
            ("=", Comparison::Equal),
        ];
        let condition = comparisons.iter().find_map(|(sign, comparison)| {
            let number = text.strip_prefix(sign)?.trim().parse().ok()?;
            Some((*comparison, number))
        });
        self.condition = condition.or(self.condition);
    }

    fn holds(&self, value: f64) -> bool {
        match self.condition {
            None => true,
            Some((Comparison::Less, than)) => value < than,
            Some((Comparison::LessOrEqual, than)) => value <= than,
            Some((Comparison::Equal, to)) => value == to,
            Some((Comparison::NotEqual, to)) => value != to,
            Some((Comparison::GreaterOrEqual, than)) => value >= than,
            Some((Comparison::Greater, than)) => value > than,
        }
    }

    fn is_date(&self) -> bool {
        let date = |piece: &FormatPiece| {
            matches!(piece, FormatPiece::DateLetter(..) | FormatPiece::Elapsed(_) | FormatPiece::HalfDay)
        };
        self.pieces.iter().any(date) && !self.pieces.contains(&FormatPiece::General)
    }

    /// `m` is a month, but a minute after hours or before seconds; minutes are called `n` here.
    fn tell_minutes_from_months(&mut self) {
        let mut before: Option<(usize, char)> = None;
        for at in 0..self.pieces.len() {
            let letter = match self.pieces[at] {
                FormatPiece::DateLetter(letter, _) | FormatPiece::Elapsed(letter) => letter,
                _ => continue,
            };
            match (letter, before) {
                ('m', Some((_, 'h'))) => self.call_minute(at),
                ('s', Some((month, 'm'))) => self.call_minute(month),
                _ => {}
            }
            before = Some((at, letter));
        }
    }

    fn call_minute(&mut self, at: usize) {
        if let FormatPiece::DateLetter(letter @ 'm', _) = &mut self.pieces[at] {
            *letter = 'n';
        }
    }
}

/// The format that a number below 164 stands for, where the file does not say.
pub(super) fn built_in(number: u32) -> &'static str {
    match number {
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 | 6 => "$#,##0;-$#,##0",
        7 | 8 => "$#,##0.00;-$#,##0.00",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14 | 27..=31 | 36 | 50..=54 | 57 | 58 => "yyyy-mm-dd",
        15 => "d-mmm-yy",
        16 => "d-mmm",
        17 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 | 32 | 34 | 55 => "h:mm",
        21 | 33 | 35 | 56 => "h:mm:ss",
        22 => "yyyy-mm-dd h:mm",
        37 | 38 => "#,##0;(#,##0)",
        39 | 40 => "#,##0.00;(#,##0.00)",
        41 | 42 => "#,##0;-#,##0;\"-\"",
        43 | 44 => "#,##0.00;-#,##0.00;\"-\"",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => "General",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(code: &str, value: f64) -> String {
        NumberFormat::parse(code).number(value, DateSystem::Since1900)
    }

    #[test]
    fn numbers_look_as_their_format_says() {
        for (code, value, expected) in [
            ("General", 1250.0, "1250"),
            ("", 1250.5, "1250.5"),
            ("#,##0", 1250.0, "1,250"),
            ("#,##0.00", -1_234_567.891, "-1,234,567.89"),
            ("0%", 0.12, "12%"),
            ("+0%;-0%;0%", 0.12, "+12%"),
            ("+0%;-0%;0%", -0.12, "-12%"),
            ("+0%;-0%;0%", 0.0, "0%"),
            ("0.0%", 0.1234, "12.3%"),
            ("0.00", 1.005, "1.01"),
            ("0", 2.5, "3"),
            ("0", -0.4, "0"),
            ("0.00", 0.0, "0.00"),
            ("#", 0.0, ""),
            ("#.##", 0.5, ".5"),
            ("00000", 42.0, "00042"),
            ("000-00-0000", 123_456_789.0, "123-45-6789"),
            ("(000) 000-0000", 5_551_234_567.0, "(555) 123-4567"),
            ("$#,##0.00", 9.5, "$9.50"),
            ("[$€-407] #,##0.00", 9.5, "€ 9.50"),
            ("\"CHF\" 0", 3.0, "CHF 3"),
            ("0 \"件\"", 3.0, "3 件"),
            ("[Red]-0;0", 3.0, "-3"),
            ("_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)", -5.0, "$(5.00)"),
            ("_($* #,##0.00_);_($* (#,##0.00);_($* \"-\"??_);_(@_)", 0.0, "$-"),
            ("0.00E+00", 12345.0, "1.23E+04"),
            ("##0.0E+0", 12345.0, "12.3E+3"),
            ("0.0E-0", 0.00012, "1.2E-4"),
            ("# ?/?", 1.5, "1 1/2"),
            ("# ?/?", 0.25, "1/4"),
            ("# ??/??", 3.0, "3"),
            ("?/?", 1.5, "3/2"),
            ("# ?/8", 0.5, "4/8"),
            ("#,##0,", 1_234_567.0, "1,235"),
            ("0.0,,\"M\"", 1_234_567.0, "1.2M"),
            ("[>=1000]#,##0,\"k\";0", 2500.0, "3k"),
            ("[>=1000]#,##0,\"k\";0", 250.0, "250"),
            (";;;", 5.0, ""),
            ("0;;", -5.0, ""),
            ("General\" units\"", 5.0, "5 units"),
        ] {
            assert_eq!(show(code, value), expected, "{code} of {value}");
        }
    }

    #[test]
    fn dates_are_shown_in_iso_order_whatever_their_format() {
        for (code, value, expected) in [
            ("m/d/yy", 45366.0, "2024-03-15"),
            ("yyyy\"年\"m\"月\"d\"日\"", 45366.0, "2024-03-15"),
            ("[$-409]d\\-mmm\\-yy;@", 45366.0, "2024-03-15"),
            ("dd.mm.yyyy hh:mm", 45366.4375, "2024-03-15 10:30:00"),
            ("h:mm AM/PM", 45366.4375, "10:30:00"),
            ("mm:ss", 0.4375, "10:30:00"),
            ("mmm-yy", 45366.0, "2024-03"),
            ("yyyy", 45366.0, "2024"),
            ("[h]:mm:ss", 1.5, "36:00:00"),
            ("[mm]:ss", 0.0625, "90:00"),
            ("[s]", 0.001, "86"),
            ("yyyy-mm-dd", -5.0, "-5"),
            ("[Red]0", 5.0, "5"),
        ] {
            assert_eq!(show(code, value), expected, "{code} of {value}");
        }
        assert!(NumberFormat::parse("h:mm").is_date() && !NumberFormat::parse("\"day\" 0").is_date());
    }

    #[test]
    fn texts_change_only_where_the_format_says_so() {
        let text = |code: &str| NumberFormat::parse(code).text("a");
        assert_eq!(text("@"), None);
        assert_eq!(text("0.00"), None);
        assert_eq!(text("0;0;0;\"<\"@\">\""), Some("<a>".to_owned()));
        assert_eq!(text(";;;"), Some(String::new()));
    }
}
