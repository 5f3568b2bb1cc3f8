//! Dates as spreadsheets count them: in days, the time of day as a fraction.

/// Which day is the first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum DateSystem {
    /// Day 1 is the first of January 1900; there is a 29th of February 1900, for the sake of Lotus 1-2-3.
    #[default]
    Since1900,
    /// Day 0 is the first of January 1904.
    Since1904,
}

/// A day and a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CalendarTime {
    pub(super) year: i64,
    pub(super) month: u32,
    pub(super) day: u32,
    pub(super) hour: u32,
    pub(super) minute: u32,
    pub(super) second: u32,
    pub(super) millisecond: u32,
}

impl CalendarTime {
    /// The day and the time of a number; `None` outside the years that spreadsheets know.
    pub(super) fn of_serial(serial: f64, system: DateSystem) -> Option<Self> {
        if !(0.0..2_958_466.0).contains(&serial) {
            return None;
        }
        let milliseconds = (serial * 86_400_000.0).round() as i64;
        let (mut day, milliseconds) = (milliseconds / 86_400_000, milliseconds % 86_400_000);
        let phantom = system == DateSystem::Since1900 && day == 60;
        day += match system {
            DateSystem::Since1904 => 1462,
            DateSystem::Since1900 if day < 60 => 1,
            DateSystem::Since1900 => 0,
        };
        let (year, month, day) = if phantom { (1900, 2, 29) } else { civil(day - 25_569) };
        let seconds = (milliseconds / 1000) as u32;
        Some(Self {
            year,
            month,
            day,
            hour: seconds / 3600,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            millisecond: (milliseconds % 1000) as u32,
        })
    }

    /// Its date in ISO 8601.
    pub(super) fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Its time in ISO 8601, with milliseconds where there are any.
    pub(super) fn time(&self) -> String {
        let time = format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second);
        match self.millisecond {
            0 => time,
            milliseconds => format!("{time}.{milliseconds:03}"),
        }
    }

    /// Whether it is the beginning of its day.
    pub(super) fn is_midnight(&self) -> bool {
        (self.hour, self.minute, self.second, self.millisecond) == (0, 0, 0, 0)
    }
}

/// The date of a day counted from 1970, by counting years from the first of March in eras of 400 years.
fn civil(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted + 2) / 5 + 1) as u32;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 } as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_spreadsheets_do() {
        for (serial, system, expected) in [
            (1.0, DateSystem::Since1900, "1900-01-01 00:00:00"),
            (59.0, DateSystem::Since1900, "1900-02-28 00:00:00"),
            (60.0, DateSystem::Since1900, "1900-02-29 00:00:00"),
            (61.0, DateSystem::Since1900, "1900-03-01 00:00:00"),
            (45366.4375, DateSystem::Since1900, "2024-03-15 10:30:00"),
            (45_366.999_999_999, DateSystem::Since1900, "2024-03-16 00:00:00"),
            (0.0, DateSystem::Since1904, "1904-01-01 00:00:00"),
            (43904.0, DateSystem::Since1904, "2024-03-15 00:00:00"),
            (2_958_465.0, DateSystem::Since1900, "9999-12-31 00:00:00"),
            (0.000_001_5, DateSystem::Since1900, "1899-12-31 00:00:00.130"),
        ] {
            let time = CalendarTime::of_serial(serial, system).unwrap();
            assert_eq!(format!("{} {}", time.date(), time.time()), expected, "{serial}");
        }
        for serial in [-1.0, 2_958_466.0, f64::NAN, f64::INFINITY] {
            assert_eq!(CalendarTime::of_serial(serial, DateSystem::Since1900), None);
        }
    }
}
