//! Number formats: how numbers and texts look.

use super::format_sections::{FormatPiece, FormatSection, parse_sections};
use super::serial_date::DateSystem;
use super::{date_display, number_display};

/// A number format.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NumberFormat {
    /// For positive numbers, negative ones, zero, and texts; fewer serve for several of them.
    sections: Vec<FormatSection>,
}

impl NumberFormat {
    /// Reads a format.
    pub(super) fn parse(code: &str) -> Self {
        Self { sections: parse_sections(code) }
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
