//! The times of the rows.

use super::cells;
use crate::{
    input::{InputError, InputOptions, TIME_NAMES, TimeForm, TimeRefused, TimeUnit, time_unit_of_name},
    visible::shortened,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

/// Columns that an error names.
const MAX_NAMED_COLUMNS: usize = 20;
const NANOS_PER_DAY: i128 = 86_400_000_000_000;

/// The source of times.
#[derive(Debug, Clone)]
pub enum Times {
    Column {
        at: usize,
        form: Form,
    },
    /// Rows a second.
    Rate(f64),
}

/// The form of times in a column.
#[derive(Debug, Clone)]
pub enum Form {
    /// A number; its unit in nanoseconds.
    Number(i128),
    Text(TimeForm),
    /// As the first value says.
    Unknown,
}

impl Times {
    /// Finds the column of times: named by an option, by its name, or by its type.
    ///
    /// # Errors
    /// If there is none, or an option does not match.
    pub fn find(schema: &Schema, options: &InputOptions) -> Result<Self, InputError> {
        if let Some(rate) = options.rate {
            return Ok(Self::Rate(rate));
        }
        let fields = schema.fields();
        let at = match &options.time_column {
            Some(wanted) => Some(column(schema, wanted)?),
            None => {
                let named = |name: &&str| fields.iter().position(|of| of.name().eq_ignore_ascii_case(name));
                let mut by_name =
                    TIME_NAMES.iter().filter_map(named).filter(|at| can_be_time(fields[*at].data_type()));
                let is_time = |field: &std::sync::Arc<Field>| {
                    matches!(field.data_type(), DataType::Timestamp(..) | DataType::Date64)
                };
                // Points in time say more than numbers: a `timestamp` beside them may count from the start of a device.
                let by_name_and_type = by_name.clone().find(|at| is_time(&fields[*at]));
                by_name_and_type.or_else(|| by_name.next()).or_else(|| fields.iter().position(is_time))
            }
        };
        let Some(at) = at else {
            let remedy = format!(
                "name it with --time-column and its unit with --time-format, or give the samples in a second with --rate. The columns: {}",
                names(schema)
            );
            return Err(InputError::file("no column with times", remedy));
        };
        Self::of_column(schema, at, options)
    }

    /// Takes the times of this column.
    ///
    /// # Errors
    /// If its type has no times.
    pub fn of_column(schema: &Schema, at: usize, options: &InputOptions) -> Result<Self, InputError> {
        Ok(Self::Column { at, form: form(&schema.fields()[at], options)? })
    }

    /// Chooses the form by a first value, if the type of the column does not say it.
    ///
    /// # Errors
    /// If it is none of a time.
    pub fn settle(&mut self, batch: &RecordBatch) -> Result<(), InputError> {
        let Self::Column { at, form: form @ Form::Unknown } = self else { return Ok(()) };
        let array = &**batch.column(*at);
        let Some(row) = (0..array.len()).find(|row| cells::is_present(array, *row)) else { return Ok(()) };
        if let Some(text) = cells::text(array, row) {
            let dates = TimeForm::of_dates(&[text.trim()]);
            *form = Form::Text(dates.ok_or_else(|| {
                let why = format!("{:?} is no time", shortened(text));
                InputError::file(
                    why,
                    "name its form with --time-format, or another column with --time-column",
                )
            })?);
            return Ok(());
        }
        let number =
            cells::integer(array, row).map(|number| number as f64).or_else(|| cells::real(array, row));
        *form = Form::Number(TimeUnit::of_magnitude(number.unwrap_or(0.0)).nanoseconds());
        Ok(())
    }

    /// Whether the form is known.
    pub fn is_settled(&self) -> bool {
        !matches!(self, Self::Column { form: Form::Unknown, .. })
    }

    /// The time of a row, in nanoseconds since 1970. `row` is its place in the batch, `number` in the file.
    pub fn time(&self, batch: &RecordBatch, row: usize, number: u64) -> Result<i128, TimeRefused> {
        match self {
            Self::Rate(rate) => Ok((number as f64 * (1e9 / rate)).round() as i128),
            Self::Column { at, form } => {
                let array = &**batch.column(*at);
                form.parse(array, row).unwrap_or_else(|| Err(TimeRefused::Form("there, or is null".into())))
            }
        }
    }

    /// The column, unless times are counted.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Column { at, .. } => Some(*at),
            Self::Rate(_) => None,
        }
    }

    /// A description for people.
    pub fn describe(&self, schema: &Schema) -> Option<String> {
        let Self::Column { at, form } = self else { return None };
        let field = &schema.fields()[*at];
        let form = match (form, field.data_type()) {
            (_, DataType::Timestamp(_, Some(zone))) => format!("points in time, zone {zone}"),
            (_, DataType::Timestamp(_, None)) => "points in time without a zone, read as UTC".into(),
            (Form::Text(form), _) => form.describe(),
            (Form::Number(1), _) => "numbers of nanoseconds".into(),
            (Form::Number(1_000), _) => "numbers of microseconds".into(),
            (Form::Number(1_000_000), _) => "numbers of milliseconds".into(),
            (Form::Number(NANOS_PER_DAY), _) => "days".into(),
            _ => "numbers of seconds".into(),
        };
        Some(format!("times are in the column {:?}: {form}", field.name()))
    }
}

impl Form {
    fn parse(&self, array: &dyn Array, row: usize) -> Option<Result<i128, TimeRefused>> {
        match self {
            Self::Text(form) => Some(form.parse(cells::text(array, row)?)),
            Self::Unknown => None,
            Self::Number(scale) => match cells::integer(array, row) {
                Some(number) => Some(number.checked_mul(*scale).ok_or(TimeRefused::Late)),
                None => Some(scaled(cells::real(array, row)?, *scale)),
            },
        }
    }
}

/// A real in nanoseconds, with all digits that it has.
fn scaled(real: f64, scale: i128) -> Result<i128, TimeRefused> {
    if real.is_nan() {
        return Err(TimeRefused::Form("a number".into()));
    }
    if real.abs() > 1e20 {
        return Err(if real < 0.0 { TimeRefused::Early(i128::MIN) } else { TimeRefused::Late });
    }
    let whole = real.trunc();
    Ok(whole as i128 * scale + ((real - whole) * scale as f64).round() as i128)
}

/// Whether values of a type can be times.
fn can_be_time(of: &DataType) -> bool {
    match of {
        DataType::Dictionary(_, values) => can_be_time(values),
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 | DataType::Duration(_) => true,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        number => number.is_integer() || number.is_floating(),
    }
}

fn form(field: &Field, options: &InputOptions) -> Result<Form, InputError> {
    use arrow_schema::TimeUnit as Unit;
    let scale = match field.data_type() {
        DataType::Timestamp(unit, _) | DataType::Duration(unit) => match unit {
            Unit::Second => 1_000_000_000,
            Unit::Millisecond => 1_000_000,
            Unit::Microsecond => 1_000,
            Unit::Nanosecond => 1,
        },
        DataType::Date32 => NANOS_PER_DAY,
        DataType::Date64 => 1_000_000,
        kind if !can_be_time(kind) => {
            let why = format!("the column {:?} has no times, but {kind}", field.name());
            return Err(InputError::file(why, "name another one with --time-column"));
        }
        _ => return form_of_numbers(field, options),
    };
    Ok(Form::Number(scale))
}

/// The form of numbers or texts.
fn form_of_numbers(field: &Field, options: &InputOptions) -> Result<Form, InputError> {
    let is_number = field.data_type().is_integer() || field.data_type().is_floating();
    if let Some(name) = &options.time_format {
        let remedy =
            "write s, ms, us or ns; of a column with texts also iso, or a pattern such as %d.%m.%Y %H:%M:%S";
        let refused =
            || InputError::file(format!("--time-format {name:?} does not fit {:?}", field.name()), remedy);
        return match TimeForm::named(name, false).ok_or_else(refused)? {
            TimeForm::Number { unit, .. } if is_number => Ok(Form::Number(unit.nanoseconds())),
            _ if is_number => Err(refused()),
            form => Ok(Form::Text(form)),
        };
    }
    let unit = time_unit_of_name(field.name()).filter(|_| is_number);
    let stated = || field.metadata().get("unit").and_then(|unit| TimeUnit::of(unit)).filter(|_| is_number);
    Ok(unit.or_else(stated).map_or(Form::Unknown, |unit| Form::Number(unit.nanoseconds())))
}

/// Finds the column that an option names: its name, or its number from 1 on.
fn column(schema: &Schema, wanted: &str) -> Result<usize, InputError> {
    let count = schema.fields().len();
    let number = || wanted.parse::<usize>().ok().filter(|number| (1..=count).contains(number));
    let at = schema.fields().iter().position(|field| field.name() == wanted).or_else(|| Some(number()? - 1));
    at.ok_or_else(|| {
        InputError::file(format!("no column {wanted:?}"), format!("the columns are {}", names(schema)))
    })
}

fn names(schema: &Schema) -> String {
    let names: Vec<_> =
        schema.fields().iter().take(MAX_NAMED_COLUMNS).map(|of| shortened(of.name())).collect();
    names.join(", ")
}
