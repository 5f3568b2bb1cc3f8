//! Charts as elements, with a sentence about their data.

use a2c_document_model::{CellRange, ChartSeries, ElementContent};

use super::chart_part::{ChartData, ChartPart};

/// The points of a series that a sentence names one by one.
const NAMED_POINTS: usize = 8;
/// The series that a sentence names.
const NAMED_SERIES: usize = 6;
/// The cells that a series takes out of a sheet.
const CELLS: u64 = 1000;

impl ChartData {
    /// The cells that it comes from, where the file does not remember what they showed.
    pub(super) fn missing(&self) -> Option<(String, CellRange)> {
        let reference = self.reference.as_deref().filter(|_| self.points.is_empty())?;
        let (sheet, range) = reference.rsplit_once('!')?;
        let sheet = sheet.strip_prefix('\'').and_then(|sheet| sheet.strip_suffix('\'')).unwrap_or(sheet);
        let range = CellRange::parse(range)?;
        let rows = u64::from(range.last.row - range.first.row) + 1;
        let columns = u64::from(range.last.column - range.first.column) + 1;
        (rows.saturating_mul(columns) <= CELLS).then(|| (sheet.replace("''", "'"), range))
    }
}

impl ChartPart {
    /// All data of all series.
    pub(super) fn data(&mut self) -> impl Iterator<Item = &mut ChartData> {
        self.series.iter_mut().flat_map(|series| [&mut series.name, &mut series.categories, &mut series.values])
    }

    /// The chart as an element.
    pub(super) fn element(self) -> ElementContent {
        let series = self.series.into_iter().enumerate().map(|(number, series)| ChartSeries {
            name: match series.name.points.join(" ") {
                name if name.is_empty() => format!("Series {}", number + 1),
                name => name,
            },
            categories: series.categories.points,
            values: series.values.points,
        });
        let series: Vec<ChartSeries> = series.collect();
        let chart_type = if self.kinds.is_empty() { "chart".to_owned() } else { self.kinds.join("+") };
        let data_summary = summary(&series);
        ElementContent::Chart { chart_type, title: self.title, data_summary, series }
    }
}

/// What the series show.
fn summary(series: &[ChartSeries]) -> String {
    let mut sentences: Vec<String> = series.iter().take(NAMED_SERIES).map(series_summary).collect();
    if series.len() > NAMED_SERIES {
        sentences.push(format!("and {} more series", series.len() - NAMED_SERIES));
    }
    sentences.join("; ")
}

fn series_summary(series: &ChartSeries) -> String {
    let ChartSeries { name, categories, values } = series;
    if values.is_empty() {
        return format!("{name}: no values in the file");
    }
    if values.len() <= NAMED_POINTS {
        let point = |(at, value): (usize, &String)| match categories.get(at) {
            Some(category) => format!("{category} {value}"),
            None => value.clone(),
        };
        return format!("{name}: {}", values.iter().enumerate().map(point).collect::<Vec<_>>().join(", "));
    }
    let number = |text: &&String| text.replace(',', "").trim_end_matches('%').parse::<f64>().ok();
    let numbers = || values.iter().filter_map(|text| Some((number(&text)?, text)));
    let least = numbers().min_by(|a, b| a.0.total_cmp(&b.0));
    let most = numbers().max_by(|a, b| a.0.total_cmp(&b.0));
    let mut sentence = format!("{name}: {} values", values.len());
    if let Some(((_, least), (_, most))) = least.zip(most) {
        sentence += &format!(" from {least} to {most}");
    }
    if let Some((first, last)) = categories.first().zip(categories.last()) {
        sentence += &format!(", {first} to {last}");
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_names_few_points_and_counts_many() {
        let series = |count: usize| ChartSeries {
            name: "a".into(),
            categories: (1..=count).map(|n| format!("c{n}")).collect(),
            values: (1..=count).map(|n| format!("{n},000")).collect(),
        };
        assert_eq!(summary(&[series(2)]), "a: c1 1,000, c2 2,000");
        assert_eq!(summary(&[series(12)]), "a: 12 values from 1,000 to 12,000, c1 to c12");
    }
}
