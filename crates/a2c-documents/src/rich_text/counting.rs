//! Numbers as the labels of lists show them. Pure.

/// How a count is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum CountFormat {
    #[default]
    Decimal,
    DecimalZero,
    UpperRoman,
    LowerRoman,
    UpperLetter,
    LowerLetter,
    Ordinal,
    Chinese,
    Circled,
    Bullet,
    None,
}

impl CountFormat {
    /// The format of a name in the file. Formats of other scripts are shown in digits.
    pub(crate) fn of_name(name: &str) -> Self {
        match name {
            "decimalZero" => Self::DecimalZero,
            "upperRoman" => Self::UpperRoman,
            "lowerRoman" => Self::LowerRoman,
            "upperLetter" => Self::UpperLetter,
            "lowerLetter" => Self::LowerLetter,
            "ordinal" => Self::Ordinal,
            "chineseCounting"
            | "chineseCountingThousand"
            | "ideographDigital"
            | "japaneseCounting"
            | "taiwaneseCounting"
            | "taiwaneseCountingThousand" => Self::Chinese,
            "decimalEnclosedCircle" | "decimalEnclosedCircleChinese" => Self::Circled,
            "bullet" => Self::Bullet,
            "none" => Self::None,
            _ => Self::Decimal,
        }
    }

    /// Whether items are counted.
    pub(crate) fn is_counted(self) -> bool {
        !matches!(self, Self::Bullet | Self::None)
    }

    /// A count as it is shown.
    pub(crate) fn show(self, count: i64) -> String {
        match self {
            Self::Decimal => count.to_string(),
            Self::DecimalZero => format!("{count:02}"),
            Self::UpperRoman => roman(count),
            Self::LowerRoman => roman(count).to_lowercase(),
            Self::UpperLetter => letters(count),
            Self::LowerLetter => letters(count).to_lowercase(),
            Self::Ordinal => ordinal(count),
            Self::Chinese => chinese(count),
            Self::Circled => match u32::try_from(count) {
                Ok(count @ 1..=20) => char::from_u32(0x245f + count).map_or_else(String::new, String::from),
                _ => count.to_string(),
            },
            Self::Bullet | Self::None => String::new(),
        }
    }
}

/// A label: the text of a level with the counts of this and the higher levels.
pub(crate) fn number_label(text: &str, format: CountFormat, counts: &[(CountFormat, i64)]) -> String {
    if format == CountFormat::Bullet {
        // The character is often one of a symbol font, which stands for nothing here.
        return "•".to_owned();
    }
    let (mut written, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('%') {
        written.push_str(before);
        let level = after.chars().next().and_then(|digit| digit.to_digit(10)).and_then(|level| level.checked_sub(1));
        match level.and_then(|level| counts.get(level as usize)) {
            Some((format, count)) => {
                written.push_str(&format.show(*count));
                rest = &after[1..];
            }
            None => {
                written.push('%');
                rest = after;
            }
        }
    }
    written.push_str(rest);
    written.trim().to_owned()
}

fn roman(count: i64) -> String {
    const SIGNS: [(i64, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..4000).contains(&count) {
        return count.to_string();
    }
    let (mut written, mut rest) = (String::new(), count);
    for (value, sign) in SIGNS {
        while rest >= value {
            written.push_str(sign);
            rest -= value;
        }
    }
    written
}

/// A … Z, AA, BB, …: Word repeats the letter.
fn letters(count: i64) -> String {
    match count {
        1..=780 => {
            let letter = char::from(b'A' + ((count - 1) % 26) as u8);
            std::iter::repeat_n(letter, ((count - 1) / 26 + 1) as usize).collect()
        }
        _ => count.to_string(),
    }
}

fn ordinal(count: i64) -> String {
    let ending = match (count % 100, count % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{count}{ending}")
}

fn chinese(count: i64) -> String {
    const DIGITS: [&str; 10] = ["零", "一", "二", "三", "四", "五", "六", "七", "八", "九"];
    if !(1..10_000).contains(&count) {
        return count.to_string();
    }
    let (mut written, mut gap) = (String::new(), false);
    for (value, unit) in [(1000, "千"), (100, "百"), (10, "十"), (1, "")] {
        let digit = (count / value % 10) as usize;
        if digit == 0 {
            gap = !written.is_empty();
            continue;
        }
        if gap {
            written.push_str(DIGITS[0]);
            gap = false;
        }
        // 十二, not 一十二.
        if !(value == 10 && digit == 1 && written.is_empty()) {
            written.push_str(DIGITS[digit]);
        }
        written.push_str(unit);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_in_their_format() {
        for (format, count, expected) in [
            ("decimal", 12, "12"),
            ("decimalZero", 7, "07"),
            ("upperRoman", 1994, "MCMXCIV"),
            ("lowerRoman", 4, "iv"),
            ("upperLetter", 28, "BB"),
            ("lowerLetter", 26, "z"),
            ("ordinal", 22, "22nd"),
            ("chineseCounting", 12, "十二"),
            ("chineseCounting", 305, "三百零五"),
            ("decimalEnclosedCircle", 3, "③"),
            ("lowerRoman", 99_999, "99999"),
            ("unheardOf", 3, "3"),
        ] {
            assert_eq!(CountFormat::of_name(format).show(count), expected, "{format} {count}");
        }
    }

    #[test]
    fn labels_show_the_counts_of_higher_levels() {
        let counts = [(CountFormat::Decimal, 2), (CountFormat::LowerLetter, 3)];
        assert_eq!(number_label("%1.%2)", CountFormat::LowerLetter, &counts), "2.c)");
        assert_eq!(number_label("第%1章", CountFormat::Chinese, &[(CountFormat::Chinese, 3)]), "第三章");
        assert_eq!(number_label("100%%1%9%", CountFormat::Decimal, &counts), "100%2%9%");
        assert_eq!(number_label("\u{f0b7}", CountFormat::Bullet, &counts), "•");
    }
}
