//! Numbers as they are shown.

use super::format_sections::FormatPiece;

/// A number without a format, as a wide enough cell shows it: eleven characters, but whole numbers as a whole.
pub(super) fn general(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs();
    if size < 1e15 && value == value.trunc() {
        return (value as i64).to_string();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    if (1e-4..1e11).contains(&size) {
        let whole = (size.log10().floor().max(0.0) as usize) + 1;
        return format!("{sign}{}", trimmed(&fixed(size, 10_usize.saturating_sub(whole))));
    }
    let plain = trimmed(&fixed(size, 9));
    if size < 1.0 && plain.parse() == Ok(size) {
        return format!("{sign}{plain}");
    }
    let (digits, exponent) = scientific(size, 5, 1);
    let exponent_sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{}E{exponent_sign}{:02}", trimmed(&digits), exponent.abs())
}

/// Without the zeros at its end.
fn trimmed(decimal: &str) -> String {
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => decimal.to_owned(),
    }
}

/// A number with so many decimals. Spreadsheets round the fifteen decimal digits that they show, half away from zero; the
/// binary number may lie just below the half.
fn fixed(size: f64, decimals: usize) -> String {
    const POWERS: [f64; 10] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
    if let Some(power) = POWERS.get(decimals)
        && size * power < 9e14
    {
        let scaled = (size * power * (1.0 + 4e-16) + 0.5).floor() as u64;
        let power = *power as u64;
        return match decimals {
            0 => scaled.to_string(),
            _ => format!("{}.{:0decimals$}", scaled / power, scaled % power),
        };
    }
    format!("{size:.*}", decimals.min(30))
}

/// The digits before the exponent and the exponent, which is a multiple of `step`.
fn scientific(size: f64, decimals: usize, step: i32) -> (String, i32) {
    if size == 0.0 {
        return (fixed(0.0, decimals), 0);
    }
    let exponent_of = |size: f64| (size.log10().floor() as i32).div_euclid(step) * step;
    let mut exponent = exponent_of(size);
    let mut digits = fixed(size / 10_f64.powi(exponent), decimals);
    // Rounding may have made one digit more.
    let limit = step as usize;
    if digits.split('.').next().is_some_and(|whole| whole.len() > limit) {
        exponent += step;
        digits = fixed(size / 10_f64.powi(exponent), decimals);
    }
    (digits, exponent)
}

/// A number that is not negative, by the pieces of a section.
pub(super) fn number(pieces: &[FormatPiece], size: f64) -> String {
    if pieces.contains(&FormatPiece::General) {
        return literals(pieces, &FormatPiece::General, &general(size));
    }
    if !size.is_finite() {
        return size.to_string();
    }
    let percents = pieces.iter().filter(|piece| **piece == FormatPiece::Percent).count();
    let size = (0..percents.min(4)).fold(size, |size, _| size * 100.0);
    let is_digit = |piece: &FormatPiece| matches!(piece, FormatPiece::Digit(_));
    if pieces.contains(&FormatPiece::Slash) && pieces.iter().any(is_digit) {
        return fraction(pieces, size);
    }
    let first = pieces.iter().position(is_digit);
    let Some((first, last)) = first.zip(pieces.iter().rposition(is_digit)) else {
        return pieces.iter().map(as_literal).collect();
    };
    let end = pieces.iter().position(|piece| matches!(piece, FormatPiece::Exponent { .. }));
    let mantissa_end = end.unwrap_or(last + 1);
    let point = pieces[..mantissa_end].iter().position(|piece| *piece == FormatPiece::Point);
    let whole = &pieces[first.min(point.unwrap_or(first))..point.unwrap_or(mantissa_end)];
    let decimals = &pieces[point.map_or(mantissa_end, |point| point + 1)..mantissa_end];
    let count = decimals.iter().filter(|piece| is_digit(piece)).count();
    let last_whole = whole.iter().rposition(is_digit).map_or(0, |at| at + 1);
    let grouped = whole[..last_whole].contains(&FormatPiece::Comma);
    // Commas after the last place of a digit divide by thousand.
    let after = pieces[last + 1..].iter().take_while(|piece| **piece == FormatPiece::Comma).count();
    let before_point = whole[last_whole..].iter().filter(|piece| **piece == FormatPiece::Comma).count();
    let commas = if end.is_some() { 0 } else { after + if point.is_some() { before_point } else { 0 } };
    let size = (0..commas.min(6)).fold(size, |size, _| size / 1000.0);

    let step = whole.iter().filter(|piece| is_digit(piece)).count().max(1) as i32;
    let (digits, exponent) = match end {
        Some(_) => scientific(size, count, step),
        None => (fixed(size, count), 0),
    };
    let (whole_digits, decimal_digits) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut shown: String = pieces[..first.min(point.unwrap_or(first))].iter().map(as_literal).collect();
    shown += &whole_part(whole, whole_digits, grouped);
    if point.is_some() {
        let decimals = decimal_part(decimals, decimal_digits);
        shown.push('.');
        shown += &decimals;
    }
    if let Some(at) = end {
        let FormatPiece::Exponent { plus } = pieces[at] else { return shown };
        let places = pieces[at..=last.max(at)].iter().filter(|piece| is_digit(piece)).count();
        let sign = match (exponent < 0, plus) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        shown += &format!("E{sign}{:0places$}", exponent.abs());
    }
    shown.extend(pieces[(last + 1).max(mantissa_end)..].iter().map(as_literal));
    shown
}

/// What a piece shows that is no place of a digit.
fn as_literal(piece: &FormatPiece) -> &str {
    match piece {
        FormatPiece::Literal(text) => text,
        FormatPiece::Percent => "%",
        FormatPiece::Point => ".",
        _ => "",
    }
}

/// The pieces with one of them replaced by a text.
fn literals(pieces: &[FormatPiece], place: &FormatPiece, text: &str) -> String {
    pieces.iter().map(|piece| if piece == place { text } else { as_literal(piece) }).collect()
}

/// The digits before the point: filled in from the right, with what stands between their places.
fn whole_part(pieces: &[FormatPiece], digits: &str, grouped: bool) -> String {
    let mut left = if digits == "0" { "" } else { digits }.bytes().rev();
    let (mut shown, mut count) = (Vec::new(), 0);
    let mut push = |shown: &mut Vec<char>, digit: u8| {
        if grouped && count > 0 && count % 3 == 0 {
            shown.push(',');
        }
        count += 1;
        shown.push(char::from(digit));
    };
    let first = pieces.iter().position(|piece| matches!(piece, FormatPiece::Digit(_)));
    for (at, piece) in pieces.iter().enumerate().rev() {
        match piece {
            FormatPiece::Digit(place) => {
                match left.next() {
                    Some(digit) => push(&mut shown, digit),
                    None if *place == '0' => push(&mut shown, b'0'),
                    None => {}
                }
                if Some(at) == first {
                    left.by_ref().for_each(|digit| push(&mut shown, digit));
                }
            }
            other => shown.extend(as_literal(other).chars().rev()),
        }
    }
    // No place before the point, such as `.00`.
    left.for_each(|digit| push(&mut shown, digit));
    shown.into_iter().rev().collect()
}

/// The digits behind the point; zeros at the end are shown where the format has a `0`.
fn decimal_part(pieces: &[FormatPiece], digits: &str) -> String {
    let mut shown = String::new();
    let mut digits = digits.chars();
    let (mut kept, mut places) = (0, 0);
    for piece in pieces {
        match piece {
            FormatPiece::Digit(place) => {
                let digit = digits.next().unwrap_or('0');
                shown.push(digit);
                places += 1;
                if *place == '0' || digit != '0' {
                    kept = shown.len();
                }
            }
            other => {
                shown += as_literal(other);
                kept = shown.len();
            }
        }
    }
    if places > 0 {
        shown.truncate(kept);
    }
    shown
}

/// A number as a fraction: `1 1/2`.
fn fraction(pieces: &[FormatPiece], size: f64) -> String {
    let slash = pieces.iter().position(|piece| *piece == FormatPiece::Slash).unwrap_or(0);
    let is_digit = |piece: &FormatPiece| matches!(piece, FormatPiece::Digit(_));
    let above: Vec<usize> = (0..slash).filter(|at| is_digit(&pieces[*at])).collect();
    // Places that are not beside the bar are those of the whole number.
    let mixed = above.windows(2).any(|pair| pair[1] > pair[0] + 1);
    let below: String = pieces[slash + 1..]
        .iter()
        .map_while(|piece| match piece {
            FormatPiece::Digit(place) => Some(place.to_string()),
            FormatPiece::Literal(text) if text.trim().bytes().all(|byte| byte.is_ascii_digit()) => Some(text.clone()),
            _ => None,
        })
        .collect();
    let given: Option<u64> = below.trim().parse().ok().filter(|number| (1..=10_000).contains(number));
    let (whole, rest) = if mixed { (size.trunc(), size.fract()) } else { (0.0, size) };
    let places = below.chars().filter(|place| matches!(place, '?' | '#' | '0')).count().clamp(1, 3);
    let (above, below) = match given {
        Some(below) => ((rest * below as f64).round() as u64, below),
        None => nearest(rest, 10_u64.pow(places as u32) - 1),
    };
    let (whole, above) = if mixed && above == below { (whole + 1.0, 0) } else { (whole, above) };
    match (mixed, whole == 0.0, above) {
        (true, _, 0) => general(whole),
        (true, false, _) => format!("{} {above}/{below}", general(whole)),
        _ => format!("{above}/{below}"),
    }
}

/// The fraction nearest to a number.
fn nearest(value: f64, most: u64) -> (u64, u64) {
    let error = |below: u64| ((value * below as f64).round() / below as f64 - value).abs();
    let best = (1..=most).fold(1, |best, below| if error(below) + 1e-12 < error(best) { below } else { best });
    ((value * best as f64).round() as u64, best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_without_a_format_are_as_short_as_they_are_exact() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (42.0, "42"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333"),
            (1_234.567_890_12, "1234.56789"),
            (4_006_381_333_931.0, "4006381333931"),
            (1e15, "1E+15"),
            (1.234_567_89e20, "1.23457E+20"),
            (0.00001, "0.00001"),
            (0.000_012_345_678, "1.23457E-05"),
            (-1.5e-10, "-1.5E-10"),
            (f64::MAX, "1.79769E+308"),
        ] {
            assert_eq!(general(value), expected, "{value:e}");
        }
    }
}
