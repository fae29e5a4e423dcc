//! Finds the columns of times, names and values.

use super::{
    dialect::Dialect,
    lines::Fields,
    zone::{HeaderZone, has_zone, zone_of},
};
use crate::{
    input::{
        DateOrder, FreeNames, InputError, InputOptions, TIME_NAMES, TimeForm, TimeUnit, longer_unit_of_name,
        split_unit, time_unit_of_name, unit_of_column,
    },
    visible::shortened,
};
use std::ops::Range;

/// The columns of `oasis export --format csv`.
const OWN: [&str; 7] = ["node", "instance", "run", "time", "time_ns", "sequence", "state"];
/// The place of the instance in them.
const INSTANCE: usize = 1;
/// Names of the columns of the long form.
const LONG_NAMES: [&str; 9] =
    ["name", "signal", "channel", "topic", "metric", "variable", "series", "key", "tag"];
const LONG_VALUES: [&str; 2] = ["value", "val"];
const LONG_UNITS: [&str; 2] = ["unit", "units"];
/// Most columns of a file.
const MAX_COLUMNS: usize = 65_536;
/// Columns that an error names.
const MAX_NAMED_COLUMNS: usize = 20;
/// A number of seconds from which on a column without a name can be times.
const MIN_EPOCH_SECONDS: f64 = 9e8;

/// Days since 1899-12-30 in spreadsheets: 1954 to 2118.
const SERIAL_DAYS: Range<i128> = 20_000..80_000;
/// Names of columns of times of the day, in lower case.
const CLOCK_NAMES: [&str; 4] = ["time", "clock", "uhrzeit", "zeit"];
/// Names of columns of dates, in lower case. Numbers of days have no other mark.
const DATE_NAMES: [&str; 3] = ["date", "datetime", "date_time"];

/// The columns of a file.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The names, each once.
    pub names: Vec<String>,
    pub units: Vec<Option<String>>,
    pub times: Times,
    pub form: Form,
    /// Number of fields of a record.
    pub width: usize,
    /// Columns with a name that another one has.
    pub renamed: Vec<(String, String)>,
}

/// The times of the records.
#[derive(Debug, Clone)]
pub enum Times {
    Column {
        at: usize,
        form: TimeForm,
        /// The column with the time of the day, if the other one has days only.
        clock: Option<usize>,
        /// Nanoseconds east of UTC of times that name no zone, by the header.
        offset: i128,
    },
    /// Records a second.
    Rate(f64),
}

/// The meaning of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// One sample in each record.
    Wide,
    /// One value in each record, with its name.
    Long { name: usize, value: usize, unit: Option<usize> },
    /// An export of OASIS.
    Own,
}

impl Layout {
    /// The name of the series of a record, if the record has it.
    pub fn channel<'r>(&self, record: Fields<'r>) -> Option<&'r str> {
        let at = match self.form {
            Form::Wide => return None,
            Form::Long { name, .. } => name,
            Form::Own => INSTANCE,
        };
        str::from_utf8(record.get(at)?).ok()
    }

    /// Finds the columns.
    ///
    /// # Errors
    /// If no column has times, and no option says which one.
    pub fn find(dialect: &Dialect, options: &InputOptions) -> Result<Self, InputError> {
        let Some(first) = dialect.records.first() else {
            return Err(InputError::file("the file has no line", "check the file"));
        };
        let header = match &dialect.comment_names {
            Some(names) => Some(names),
            None => dialect.has_header.then_some(first),
        };
        // A header may lack the empty field after the last delimiter of each record.
        let widths = || dialect.records.iter().map(Vec::len);
        let most_frequent = |width: &usize| widths().filter(|other| other == width).count();
        let width =
            if dialect.has_header { first.len() } else { widths().max_by_key(most_frequent).unwrap_or(1) };
        if width > MAX_COLUMNS {
            let why =
                format!("the first lines have {width} columns or more, and a file can have {MAX_COLUMNS}");
            let remedy = "choose the delimiter with --delimiter, or import a part of the columns";
            return Err(InputError::file(why, remedy));
        }
        let (mut free_names, mut names, mut units, mut renamed) =
            (FreeNames::default(), Vec::new(), Vec::new(), Vec::new());
        for at in 0..width {
            let (name, unit) = match header.and_then(|header| header.get(at)).map(|name| name.trim()) {
                Some(name) if !name.is_empty() => split_unit(name),
                _ => (format!("column_{}", at + 1), None),
            };
            let of_line = || dialect.units.as_ref().and_then(|units| units.get(at).cloned().flatten());
            let unit = unit.or_else(of_line).map(|unit| unit_of_column(&name, unit));
            let free = free_names.take(&name);
            if free != name {
                renamed.push((name, free.clone()));
            }
            names.push(free);
            units.push(unit);
        }
        let records = dialect.rows();
        if records.is_empty() {
            return Err(InputError::file("the file has no line after its header", "check the file"));
        }
        let mut layout = Self { names, units, times: Times::Rate(1.0), form: Form::Wide, width, renamed };
        layout.times = layout.times(records, dialect, options)?;
        layout.form = layout.form();
        Ok(layout)
    }

    fn times(
        &self,
        records: &[Vec<String>],
        dialect: &Dialect,
        options: &InputOptions,
    ) -> Result<Times, InputError> {
        if let Some(rate) = options.rate {
            return Ok(Times::Rate(rate));
        }
        let named = match &options.time_column {
            Some(wanted) => Some(self.column(wanted)?),
            None => None,
        };
        let is_free = named.is_none() && options.time_format.is_none();
        if let Some(times) = self.compact_times(records).filter(|_| is_free).transpose()? {
            return Ok(times);
        }
        let by_name = || TIME_NAMES.iter().filter_map(|name| self.position(&[*name]));
        let candidates: Vec<usize> = match named {
            Some(at) => vec![at],
            None => by_name().chain(0..self.width).collect(),
        };
        for (rank, at) in candidates.iter().copied().enumerate() {
            let is_named = named.is_some() || rank < candidates.len() - self.width;
            if let Some(form) = self.time_form(at, records, dialect, options, is_named)? {
                let clock = match form {
                    TimeForm::Date(_) => self.clock(at, records, TimeForm::is_day),
                    TimeForm::SerialDays { .. } => self.clock(at, records, |text| form.is_whole_day(text)),
                    _ => None,
                };
                let offset = self.offset(at, &form, clock, records, options)?;
                return Ok(Times::Column { at, form, clock, offset });
            }
        }
        let shown: Vec<_> = self.names.iter().take(MAX_NAMED_COLUMNS).map(|name| shortened(name)).collect();
        let why = match named {
            Some(at) => format!("the column {:?} has no times", self.names[at]),
            None => "no column with times".to_owned(),
        };
        let remedy = format!(
            "name it with --time-column and its form with --time-format, or give the samples in a second with --rate. The columns: {}",
            shown.join(", ")
        );
        Err(InputError::file(why, remedy))
    }

    /// The columns `Date` and `Time` of a file with `20240131,120000`; `None` if it has no such dates beside numbers.
    ///
    /// # Errors
    /// If the numbers are not all of six digits: they would be read as seconds since 1970.
    fn compact_times(&self, records: &[Vec<String>]) -> Option<Result<Times, InputError>> {
        let all = |at: usize, is_so: &dyn Fn(&str) -> bool| {
            let texts = || records.iter().filter_map(|record| record.get(at)).map(|text| text.trim());
            texts().any(|text| !text.is_empty()) && texts().all(|text| text.is_empty() || is_so(text))
        };
        let has_digits =
            |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        let whole = |text: &str| text.split(['.', ',']).next().unwrap_or_default().to_owned();
        let is_number = |text: &str| {
            !whole(text).is_empty()
                && text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
        };
        let at = self.position(&DATE_NAMES)?;
        let clock =
            self.position(&CLOCK_NAMES).filter(|clock| *clock != at && self.units[*clock].is_none())?;
        let is_day = |text: &str| has_digits(text, 8) && TimeForm::is_day(text);
        if !all(at, &is_day) || !all(clock, &is_number) {
            return None;
        }
        let form = TimeForm::Date(DateOrder::YearMonthDay);
        let is_clock = |text: &str| has_digits(&whole(text), 6) && form.parse_day("20000101", text).is_ok();
        if all(clock, &is_clock) {
            return Some(Ok(Times::Column { at, form, clock: Some(clock), offset: 0 }));
        }
        let why = format!(
            "the columns {:?} and {:?} have dates and numbers, which are no times of the day with six digits",
            shortened(&self.names[at]),
            shortened(&self.names[clock])
        );
        let remedy =
            "write the times as HH:MM:SS or HHMMSS, or name one column: --time-column, --time-format";
        Some(Err(InputError::file(why, remedy)))
    }

    /// The form of the times in a column; `None` if it has none.
    fn time_form(
        &self,
        at: usize,
        records: &[Vec<String>],
        dialect: &Dialect,
        options: &InputOptions,
        is_named: bool,
    ) -> Result<Option<TimeForm>, InputError> {
        let has_comma = dialect.numbers.has_comma;
        if let Some(format) = &options.time_format {
            let form = TimeForm::named(format, has_comma).ok_or_else(|| {
                let remedy = "write s, ms, us, ns, iso, or a pattern such as %d.%m.%Y %H:%M:%S";
                InputError::file(format!("unknown --time-format {format:?}"), remedy)
            })?;
            let first =
                records.iter().filter_map(|record| record.get(at)).find(|text| !text.trim().is_empty());
            return Ok((is_named || first.is_some_and(|text| form.parse(text).is_ok())).then_some(form));
        }
        let texts: Vec<&str> =
            records.iter().filter_map(|record| record.get(at)).map(|text| text.trim()).collect();
        let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        if texts.is_empty() {
            return Ok(None);
        }
        // Defective lines must not hide a column with the right name.
        let dates: Vec<&str> = texts.iter().copied().filter(|text| TimeForm::is_date(text)).collect();
        if dates.len() == texts.len() || (is_named && dates.len() * 2 >= texts.len()) {
            if let Some(form) = TimeForm::of_dates(&dates) {
                return Ok(Some(form));
            }
            if TimeForm::is_ambiguous(&dates) {
                let name = &self.names[at];
                let why = format!("the dates of the column {name:?} can have the day or the month first");
                let remedy = "write --time-format '%d/%m/%Y %H:%M:%S', or '%m/%d/%Y %H:%M:%S'";
                return Err(InputError::file(why, remedy));
            }
        }
        let seconds = TimeForm::Number { unit: TimeUnit::Seconds, has_comma };
        let numbers: Vec<i128> = texts.iter().filter_map(|text| seconds.parse(text).ok()).collect();
        if numbers.is_empty()
            || (numbers.len() < texts.len() && (!is_named || numbers.len() * 2 < texts.len()))
        {
            return Ok(None);
        }
        let is_serial = |time: &i128| SERIAL_DAYS.contains(&(time / 1_000_000_000));
        let is_date = DATE_NAMES.contains(&self.names[at].to_ascii_lowercase().as_str());
        if is_date && self.time_unit(at).is_none() && numbers.iter().all(is_serial) {
            return Ok(Some(TimeForm::SerialDays { has_comma }));
        }
        let first = numbers[0] as f64 / 1e9;
        let unit = self.time_unit(at).unwrap_or_else(|| TimeUnit::of_magnitude(first));
        let is_epoch = first * unit.nanoseconds() as f64 / 1e9 >= MIN_EPOCH_SECONDS;
        let is_time = is_named || (is_epoch && numbers.is_sorted());
        if !is_time {
            return Ok(None);
        }
        if let Some(longer) = self.longer_time_unit(at) {
            let name = shortened(&self.names[at]);
            let why = format!("the times of the column {name:?} are in {longer}, which is not supported");
            let remedy = "convert them to seconds, or name the unit with --time-format";
            return Err(InputError::file(why, remedy));
        }
        Ok(Some(TimeForm::Number { unit, has_comma }))
    }

    /// The unit that the header of a column states, if times are not read in it: `time [min]`, `time_h`.
    fn longer_time_unit(&self, at: usize) -> Option<&'static str> {
        let by_header = self.units[at].as_deref().and_then(TimeUnit::longer);
        by_header.or_else(|| longer_unit_of_name(&self.names[at]))
    }

    /// The offset of times without a zone, which the header states: `time (UTC+2)`.
    ///
    /// # Errors
    /// If the header names another zone and no option says how to read the times: they would be read as UTC.
    fn offset(
        &self,
        at: usize,
        form: &TimeForm,
        clock: Option<usize>,
        records: &[Vec<String>],
        options: &InputOptions,
    ) -> Result<i128, InputError> {
        let is_zoned = match form {
            TimeForm::Number { .. } => true,
            TimeForm::Pattern(pattern) => has_zone_directive(pattern),
            TimeForm::SerialDays { .. } | TimeForm::Date(_) => false,
        };
        if is_zoned {
            return Ok(0);
        }
        let zone = |at: usize| zone_of(&self.names[at], self.units[at].as_deref());
        let of_clock = clock.map(|at| (at, zone(at))).filter(|(_, zone)| *zone != HeaderZone::None);
        let (named, zone) = of_clock.unwrap_or_else(|| (at, zone(at)));
        let texts = records.iter().filter_map(|record| record.get(clock.unwrap_or(at)));
        let mut texts = texts.map(|text| text.trim()).filter(|text| !text.is_empty());
        match zone {
            HeaderZone::None => Ok(0),
            HeaderZone::Offset(offset) => Ok(offset),
            HeaderZone::Other if options.time_format.is_some() => Ok(0),
            HeaderZone::Other if texts.all(|text| has_zone(text, clock.is_some())) => Ok(0),
            HeaderZone::Other => {
                let name = shortened(&self.names[named]);
                let why = format!("the column {name:?} names a time zone, and its times have no offset");
                let remedy = "add the offset to each time, such as +01:00, or to the header, such as (UTC+01:00), or read the times as UTC: --time-format iso, or a pattern such as '%d.%m.%Y %H:%M:%S'";
                Err(InputError::file(why, remedy))
            }
        }
    }

    /// The column with the time of the day, beside one with days. Defective cells hide neither: their rows are refused.
    fn clock(&self, days: usize, records: &[Vec<String>], is_day: impl Fn(&str) -> bool) -> Option<usize> {
        // The number of cells that are so, and of those that are not.
        let count = |at: usize, is_so: &dyn Fn(&str) -> bool| {
            let texts = records.iter().filter_map(|record| record.get(at)).map(|text| text.trim());
            let texts = texts.filter(|text| !text.is_empty());
            let (so, others): (Vec<_>, Vec<_>) = texts.partition(|text| is_so(text));
            (so.len(), others.len())
        };
        let (whole, others) = count(days, &is_day);
        if whole == 0 || whole < others {
            return None;
        }
        // The next column first.
        let columns = || (days + 1..self.width).chain(0..days);
        let is_clock = |at: usize| {
            let (clocks, others) = count(at, &TimeForm::is_time_of_day);
            (clocks > 0 && clocks >= others, others == 0)
        };
        let is_named = |at: usize| {
            let (with_colon, others) = count(at, &|text| text.contains(':'));
            let name = self.names[at].to_ascii_lowercase();
            CLOCK_NAMES.contains(&name.as_str()) && with_colon > others
        };
        let complete = columns().find(|at| is_clock(*at) == (true, true));
        let partial = || columns().find(|at| is_clock(*at).0);
        complete.or_else(partial).or_else(|| columns().find(|at| is_named(*at)))
    }

    /// The unit that the header of a column states: `time [ms]`, `time_ms`.
    fn time_unit(&self, at: usize) -> Option<TimeUnit> {
        let by_header = self.units[at].as_deref().and_then(TimeUnit::of);
        by_header.or_else(|| time_unit_of_name(&self.names[at]))
    }

    fn form(&self) -> Form {
        if self.names.iter().map(String::as_str).take(OWN.len()).eq(OWN) {
            return Form::Own;
        }
        let Times::Column { at: time, clock, .. } = self.times else { return Form::Wide };
        let (name, value) = (self.position(&LONG_NAMES), self.position(&LONG_VALUES));
        let unit = self.position(&LONG_UNITS);
        match (name, value) {
            (Some(name), Some(value))
                if name != time
                    && value != time
                    && self.width == 3 + usize::from(unit.is_some()) + usize::from(clock.is_some()) =>
            {
                Form::Long { name, value, unit }
            }
            _ => Form::Wide,
        }
    }

    fn position(&self, wanted: &[&str]) -> Option<usize> {
        self.names.iter().position(|name| wanted.contains(&name.to_ascii_lowercase().as_str()))
    }

    /// Finds the column that an option names: its name, or its number from 1 on.
    fn column(&self, wanted: &str) -> Result<usize, InputError> {
        let number = || wanted.parse::<usize>().ok().filter(|number| (1..=self.width).contains(number));
        let at = self.names.iter().position(|name| name == wanted).or_else(|| Some(number()? - 1));
        at.ok_or_else(|| {
            let shown: Vec<_> =
                self.names.iter().take(MAX_NAMED_COLUMNS).map(|name| shortened(name)).collect();
            InputError::file(format!("no column {wanted:?}"), format!("the columns are {}", shown.join(", ")))
        })
    }

    /// The columns whose values become metrics.
    pub fn metrics(&self) -> Vec<usize> {
        let own = if self.form == Form::Own { OWN.len() } else { 0 };
        let (time, clock) = match self.times {
            Times::Column { at, clock, .. } => (Some(at), clock),
            Times::Rate(_) => (None, None),
        };
        (own..self.width).filter(|at| Some(*at) != time && Some(*at) != clock).collect()
    }
}

/// Whether a pattern reads a zone or a number since 1970: a `Z` at its end means UTC.
fn has_zone_directive(pattern: &str) -> bool {
    pattern.contains(['z', 'Z', 'Q']) || pattern.contains("%s")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, options: &InputOptions) -> Result<Layout, InputError> {
        Layout::find(&Dialect::detect(text.as_bytes(), options).unwrap(), options)
    }

    fn time(layout: &Layout) -> (usize, &TimeForm) {
        match &layout.times {
            Times::Column { at, form, .. } => (*at, form),
            Times::Rate(rate) => panic!("{rate}"),
        }
    }

    #[test]
    fn the_column_of_times_is_found_by_name_by_dates_or_by_magnitude() {
        let number = |unit| TimeForm::Number { unit, has_comma: false };
        for (text, at, form) in [
            ("a,time\n7,1\n8,2\n", 1, number(TimeUnit::Seconds)),
            ("a,Time [ms]\n7,1\n8,2\n", 1, number(TimeUnit::Milliseconds)),
            ("timestamp_us,a\n7,1\n8,2\n", 0, number(TimeUnit::Microseconds)),
            ("a,when\n7,1700000000.5\n8,1700000001.5\n", 1, number(TimeUnit::Seconds)),
            ("1700000000000000000,1\n1700000000000000001,1\n", 0, number(TimeUnit::Nanoseconds)),
        ] {
            let layout = find(text, &InputOptions::default()).unwrap();
            assert_eq!(time(&layout), (at, &form), "{text}");
        }
        let error = find("a,b\n1,2\n3,4\n", &InputOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with("no column with times: name it with --time-column"), "{error}");
        assert!(error.ends_with("a, b"), "{error}");
        let ambiguous =
            find("time,b\n01/02/2024 00:00,2\n", &InputOptions::default()).unwrap_err().to_string();
        assert!(ambiguous.contains("%d/%m/%Y"), "{ambiguous}");
        let options = InputOptions { time_column: Some("2".into()), ..InputOptions::default() };
        assert_eq!(time(&find("a,b\n1,2\n3,4\n", &options).unwrap()).0, 1);
    }

    #[test]
    fn days_and_times_of_the_day_can_have_columns_of_their_own() {
        for (text, days, clock) in [
            ("Date,Time,x\n2024/03/01,10:00:00.5,1\n2024/03/01,10:00:01,2\n", 0, Some(1)),
            ("Time;Date;x\n10:00;31.03.2024;1\n", 1, Some(0)),
            ("Date,x,Time\n3/31/2024,1,1:00 PM\n", 0, Some(2)),
            ("Date,x\n2024-03-01,1\n", 0, None),
            ("Date,Time,x\n31.01.2024,12:00:01,1\n31.01.2024,??,2\n31.01.2024,12:00:03,3\n", 0, Some(1)),
            ("Date,Time,x\n31.01.2024,24:00:00,1\n31.01.2024,25:00:00,2\n", 0, Some(1)),
            ("Date,Time,x\n31.01.2024,12:00:01,1\n?,12:00:02,2\n31.01.2024,12:00:03,3\n", 0, Some(1)),
            ("Date,Time,x\n2024-03-01T10:00,10:00,1\n", 0, None),
            ("Time,Date,x\n120000,20240131,1\n120001.5,20240131,2\n", 1, Some(0)),
        ] {
            let layout = find(text, &InputOptions::default()).unwrap();
            let Times::Column { at, clock: found, .. } = layout.times else { panic!("{text}") };
            assert_eq!((at, found), (days, clock), "{text}");
        }
        let long = find("date,time,signal,value\n2024-03-01,10:00,a,2\n", &InputOptions::default()).unwrap();
        assert_eq!(long.form, Form::Long { name: 2, value: 3, unit: None });
    }

    #[test]
    fn numbers_beside_days_are_times_of_the_day_or_refused() {
        let text = "Date,Time,x\n20240131,43200,1\n20240131,43201,2\n";
        let error = find(text, &InputOptions::default()).unwrap_err().to_string();
        assert!(error.contains("no times of the day") && error.contains("HHMMSS"), "{error}");
        let options = InputOptions { time_column: Some("Time".into()), ..InputOptions::default() };
        assert_eq!(time(&find(text, &options).unwrap()).0, 1);
        let epoch = "date,timestamp,x\n20240131,1700000000,1\n20240131,1700000001,2\n";
        assert_eq!(time(&find(epoch, &InputOptions::default()).unwrap()).0, 1);
    }

    #[test]
    fn a_header_that_names_a_zone_refuses_times_without_offset() {
        let zoned = "time (Europe/Berlin),x\n2024-03-01 12:00:00,1\n";
        let error = find(zoned, &InputOptions::default()).unwrap_err().to_string();
        assert!(error.contains("Europe/Berlin") && error.contains("--time-format iso"), "{error}");
        let options = InputOptions { time_format: Some("iso".into()), ..InputOptions::default() };
        assert!(find(zoned, &options).is_ok());
        assert!(find("time (Europe/Berlin),x\n2024-03-01 12:00:00+01:00,1\n", &options).is_ok());
        let offset = "time Europe/Berlin,x\n2024-03-01 12:00:00+01:00,1\n";
        assert!(find(offset, &InputOptions::default()).is_ok());
    }

    #[test]
    fn a_header_may_state_the_offset_of_its_times() {
        const HOUR: i128 = 3_600_000_000_000;
        let offset = |text: &str, options: &InputOptions| match find(text, options).unwrap().times {
            Times::Column { offset, .. } => offset,
            Times::Rate(_) => panic!("{text}"),
        };
        for (header, cells, hours) in [
            ("time (UTC+2)", "2024-01-31 12:00:00", 2),
            ("time (GMT+01:00)", "2024-01-31 12:00:00", 1),
            ("time [UTC-0500]", "31.01.2024 12:00:00", -5),
            ("time_utc", "2024-01-31 12:00:00", 0),
            ("time [UTC+02:00]", "1700000000", 0),
            ("time (EST)", "1700000000", 0),
            ("Date,Time (UTC+2)", "31.01.2024,12:00:00", 2),
        ] {
            let text = format!("{header},x\n{cells},1\n");
            assert_eq!(offset(&text, &InputOptions::default()), hours * HOUR, "{text}");
        }
        for (header, cells) in [
            ("time [CET]", "2024-01-31 12:00:00"),
            ("time (EST)", "2024-01-31 12:00:00"),
            ("Local Time", "2024-01-31 12:00:00"),
            ("Date (CET),Time (CET)", "2024-01-31,12:00:00"),
        ] {
            let error = find(&format!("{header},x\n{cells},1\n"), &InputOptions::default()).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("names a time zone") && error.contains("--time-format iso"), "{error}");
        }
        let pattern =
            |pattern: &str| InputOptions { time_format: Some(pattern.into()), ..InputOptions::default() };
        let text = "time (UTC+2),x\n01/02/2024 12:00,1\n";
        assert_eq!(offset(text, &pattern("%d/%m/%Y %H:%M")), 2 * HOUR);
        let text = "time (UTC+2),x\n01/02/2024 12:00 +01:00,1\n";
        assert_eq!(offset(text, &pattern("%d/%m/%Y %H:%M %:z")), 0);
    }

    #[test]
    fn dates_of_spreadsheets_are_days() {
        let layout = find("Date,x\n45352.5,1\n45353,2\n", &InputOptions::default()).unwrap();
        assert_eq!(time(&layout), (0, &TimeForm::SerialDays { has_comma: false }));
        let layout = find("time,x\n45352.5,1\n45353,2\n", &InputOptions::default()).unwrap();
        assert!(matches!(time(&layout).1, TimeForm::Number { .. }));
    }

    #[test]
    fn days_of_spreadsheets_and_times_of_the_day_are_one_time() {
        for (text, expected) in [
            ("Date;Clock;x\n45352;12:00:00;1\n45353;13:00;2\n", Some(1)),
            ("Date;Clock;x\n45352.5;12:00:00;1\n", None),
        ] {
            let layout = find(text, &InputOptions::default()).unwrap();
            let Times::Column { at: 0, form: TimeForm::SerialDays { .. }, clock, .. } = layout.times else {
                panic!("{text}")
            };
            assert_eq!(clock, expected, "{text}");
        }
    }

    #[test]
    fn times_in_longer_units_than_seconds_are_refused() {
        for (text, unit) in [
            ("time,x\nmin,m\n0,1\n1,2\n", "min"),
            ("time [h],x\n0,1\n1,2\n", "h"),
            ("time,x\nd,m\n0,1\n1,2\n", "d"),
            ("time_hours,x\n0,1\n1,2\n", "h"),
            ("time [minutes],x\n0,1\n1,2\n", "min"),
        ] {
            let column = InputOptions { time_column: Some("1".into()), ..InputOptions::default() };
            let error = find(text, &column).unwrap_err().to_string();
            let why = format!("are in {unit}, which is not supported: convert them to seconds");
            assert!(error.contains(&why) && error.contains("--time-format"), "{error}");
            let options = InputOptions { time_format: Some("s".into()), ..column };
            assert!(find(text, &options).is_ok());
        }
        let dates = "time,x\nd,m\n2024-03-01,1\n";
        assert!(find(dates, &InputOptions::default()).is_ok());
    }

    #[test]
    fn more_columns_than_a_file_can_have_are_refused() {
        let line = |field: &str, count: usize| vec![field; count].join(",") + "\n";
        let text = |count| line("x", count) + &line("1700000000", count) + &line("1700000001", count);
        assert!(find(&text(MAX_COLUMNS), &InputOptions::default()).is_ok());
        let error = find(&text(MAX_COLUMNS + 1), &InputOptions::default()).unwrap_err().to_string();
        assert!(error.contains("65537 columns or more") && error.contains("--delimiter"), "{error}");
    }

    #[test]
    fn headers_have_names_and_units() {
        let layout = find(
            "time,speed [m/s],speed,state (on/off),,/imu/data.x\n1,2,3,4,5,6\n",
            &InputOptions::default(),
        )
        .unwrap();
        assert_eq!(layout.names, ["time", "speed", "speed_2", "state (on/off)", "column_5", "/imu/data.x"]);
        assert_eq!(layout.units[1].as_deref(), Some("m/s"));
        assert_eq!(layout.renamed, [("speed".to_owned(), "speed_2".to_owned())]);
        assert_eq!(layout.metrics(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn the_long_form_has_a_column_of_names() {
        let layout = find("time,signal,value,unit\n1,a,2,m\n2,b,3,s\n", &InputOptions::default()).unwrap();
        assert_eq!(layout.form, Form::Long { name: 1, value: 2, unit: Some(3) });
        let wide = find("time,signal,value,more,unit\n1,a,2,m,1\n", &InputOptions::default()).unwrap();
        assert_eq!(wide.form, Form::Wide);
    }
}
