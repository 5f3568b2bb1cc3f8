//! What a chart shows, in a sentence, and its numbers as people read them. Pure.

use a2c_document_model::{ChartSeries, ElementContent, ElementDraft};

/// How many names a sentence lists.
const NAMED: usize = 6;

/// A chart as an element. Its kinds are `column` (upright), `bar` (lying), `line`, `pie` and so on; a chart of several has
/// all of them.
pub(crate) fn chart_draft(kinds: &[String], title: String, axes: &[String], series: Vec<ChartSeries>) -> ElementDraft {
    let data_summary = summarize(&series, axes);
    let chart_type = if kinds.is_empty() { "chart".to_owned() } else { kinds.join("+") };
    // Office titles a chart of one series with its name, without writing so.
    let title = match series.as_slice() {
        [one] if title.is_empty() => one.name.clone(),
        _ => title,
    };
    ElementContent::Chart { chart_type, title, data_summary, series }.into()
}

/// A number of a chart's cache as it is shown: without the digits that binary fractions add, and as a percentage where its
/// format says so.
pub(crate) fn shown_number(raw: &str, format: &str) -> String {
    let Ok(number) = raw.trim().parse::<f64>() else { return raw.trim().to_owned() };
    if format.contains('%') {
        return format!("{}%", rounded(number * 100.0));
    }
    rounded(number)
}

/// Fifteen digits are what Office shows of a number.
fn rounded(number: f64) -> String {
    let text = format!("{number:.14e}");
    text.parse::<f64>().map_or(text, |number| number.to_string())
}

/// A sentence about the series of a chart.
fn summarize(series: &[ChartSeries], axes: &[String]) -> String {
    if series.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = series.iter().map(|one| one.name.as_str()).filter(|name| !name.is_empty()).collect();
    let mut words = format!("{} series", series.len());
    words += &in_parentheses(&names);
    let categories: Vec<&str> = series
        .iter()
        .map(|one| &one.categories)
        .max_by_key(|categories| categories.len())
        .map(|categories| categories.iter().map(String::as_str).collect())
        .unwrap_or_default();
    if !categories.is_empty() {
        words += &format!(" over {} categories{}", categories.len(), in_parentheses(&categories));
    }
    let values = || series.iter().flat_map(|one| &one.values).filter_map(|value| Some((number(value)?, value)));
    let smallest = values().min_by(|a, b| a.0.total_cmp(&b.0));
    let largest = values().max_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some((_, smallest)), Some((_, largest))) = (smallest, largest) {
        words += &format!("; values from {smallest} to {largest}");
    }
    if !axes.is_empty() {
        words += &format!("; axes: {}", axes.join(", "));
    }
    words
}

fn number(value: &str) -> Option<f64> {
    value.trim_end_matches('%').parse().ok()
}

fn in_parentheses(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names if names.len() <= NAMED => format!(" ({})", names.join(", ")),
        names => format!(" ({}, …, {})", names[..NAMED - 1].join(", "), names[names.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_people_read_them() {
        for (raw, format, expected) in [
            ("19.199999999999999", "General", "19.2"),
            ("0.12", "0%", "12%"),
            ("0.285", "0.0%", "28.5%"),
            ("1250", "", "1250"),
            ("#N/A", "", "#N/A"),
        ] {
            assert_eq!(shown_number(raw, format), expected);
        }
    }

    #[test]
    fn a_sentence_names_series_categories_and_bounds() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let one = ChartSeries { name: "East".into(), categories: texts(&["Q1", "Q2"]), values: texts(&["5", "30.4"]) };
        assert_eq!(summarize(&[one], &[]), "1 series (East) over 2 categories (Q1, Q2); values from 5 to 30.4");
        assert_eq!(summarize(&[], &[]), "");
        let many: Vec<&str> = vec!["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(in_parentheses(&many), " (a, b, c, d, e, …, g)");
    }
}
