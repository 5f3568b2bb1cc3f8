//! The sections of a number format, such as `#,##0.00;[Red]-0%`, as lists of pieces.

/// The longest format that is read; Excel allows 255 characters.
const CODE_CHARS: usize = 1024;

/// One section of a format.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FormatSection {
    pub(super) pieces: Vec<FormatPiece>,
    pub(super) condition: Option<(SectionComparison, f64)>,
}

/// How a condition compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionComparison {
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

/// Reads the sections of a format.
pub(super) fn parse_sections(code: &str) -> Vec<FormatSection> {
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
    sections
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
            ("<=", SectionComparison::LessOrEqual),
            (">=", SectionComparison::GreaterOrEqual),
            ("<>", SectionComparison::NotEqual),
            ("<", SectionComparison::Less),
            (">", SectionComparison::Greater),
            ("=", SectionComparison::Equal),
        ];
        let condition = comparisons.iter().find_map(|(sign, comparison)| {
            let number = text.strip_prefix(sign)?.trim().parse().ok()?;
            Some((*comparison, number))
        });
        self.condition = condition.or(self.condition);
    }

    /// Whether a number is one that the section is for.
    pub(super) fn holds(&self, value: f64) -> bool {
        match self.condition {
            None => true,
            Some((SectionComparison::Less, than)) => value < than,
            Some((SectionComparison::LessOrEqual, than)) => value <= than,
            Some((SectionComparison::Equal, to)) => value == to,
            Some((SectionComparison::NotEqual, to)) => value != to,
            Some((SectionComparison::GreaterOrEqual, than)) => value >= than,
            Some((SectionComparison::Greater, than)) => value > than,
        }
    }

    /// Whether it shows numbers as dates or times.
    pub(super) fn is_date(&self) -> bool {
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
