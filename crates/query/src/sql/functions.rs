//! Linear versions of the functions of SQLite whose time grows with the square of the length of their text. The limits of a query are checked between its
//! steps, and a call is one step.
//!
//! Results are those of SQLite for all text that is UTF-8. `json_patch` is refused, because its time is the product of the members of both objects.

use super::guard::MAX_VALUE_BYTES;
use memchr::memmem;
use rusqlite::{
    Connection, Error, Result,
    functions::{Context, FunctionFlags},
    types::{ToSql, ToSqlOutput, ValueRef},
};
use std::{borrow::Cow, collections::HashSet};

/// Longest character of UTF-8, bytes.
const CHARACTER: usize = 4;

/// Replaces the functions on this connection.
pub fn replace_quadratic(connection: &Connection) -> Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, flags, instr)?;
    connection.create_scalar_function("replace", 3, flags, replace)?;
    for (name, ends) in [("trim", Ends { left: true, right: true }), ("ltrim", LEFT), ("rtrim", RIGHT)] {
        connection.create_scalar_function(name, 1, flags, move |context| trim(context, ends))?;
        connection.create_scalar_function(name, 2, flags, move |context| trim(context, ends))?;
    }
    connection.create_scalar_function("json_patch", 2, flags, |_| -> Result<Option<i64>> {
        Err(Error::UserFunctionError("json_patch is not available over HTTP: use json_set".into()))
    })
}

/// Text as SQLite keeps it.
struct Text(Vec<u8>);

impl ToSql for Text {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

/// The bytes of a value as text; none of NULL.
fn text(value: ValueRef<'_>) -> Result<Option<Cow<'_, [u8]>>> {
    Ok(match value {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(bytes.into()),
        ValueRef::Integer(number) => Some(number.to_string().into_bytes().into()),
        // SQLite's own digits, which nothing else writes.
        ValueRef::Real(number) => {
            let connection = Connection::open_in_memory()?;
            let digits: String =
                connection.query_row("SELECT CAST(? AS TEXT)", [number], |row| row.get(0))?;
            Some(digits.into_bytes().into())
        }
    })
}

/// Whether a character begins with this byte.
fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// `instr(X, Y)`: where Y begins in X, in characters, or in bytes if both are blobs; 0 if it does not.
fn instr(context: &Context<'_>) -> Result<Option<i64>> {
    let (within, wanted) = (context.get_raw(0), context.get_raw(1));
    let in_bytes = matches!((within, wanted), (ValueRef::Blob(_), ValueRef::Blob(_)));
    let (Some(within), Some(wanted)) = (text(within)?, text(wanted)?) else { return Ok(None) };
    let finder = memmem::Finder::new(&*wanted);
    let place = finder
        .find_iter(&within)
        .find(|at| in_bytes || within.get(*at).is_none_or(|byte| begins_character(*byte)));
    let characters = |end: usize| match in_bytes {
        true => end,
        false => within[..end].iter().filter(|byte| begins_character(**byte)).count(),
    };
    Ok(Some(place.map_or(0, |place| characters(place) as i64 + 1)))
}

/// `replace(X, Y, Z)`: X with Z for each Y.
fn replace(context: &Context<'_>) -> Result<Option<Text>> {
    let (Some(within), Some(wanted)) = (text(context.get_raw(0))?, text(context.get_raw(1))?) else {
        return Ok(None);
    };
    if wanted.first().is_none_or(|first| *first == 0) {
        return Ok(Some(Text(within.into_owned())));
    }
    let Some(by) = text(context.get_raw(2))? else { return Ok(None) };
    let (mut replaced, mut copied) = (Vec::new(), 0);
    for place in memmem::find_iter(&within, &*wanted) {
        replaced.extend_from_slice(&within[copied..place]);
        replaced.extend_from_slice(&by);
        copied = place + wanted.len();
        if replaced.len() > MAX_VALUE_BYTES as usize {
            return Err(Error::UserFunctionError("string or blob too big".into()));
        }
    }
    replaced.extend_from_slice(&within[copied..]);
    Ok(Some(Text(replaced)))
}

/// The ends at which `trim` removes characters.
#[derive(Clone, Copy)]
struct Ends {
    left: bool,
    right: bool,
}

const LEFT: Ends = Ends { left: true, right: false };
const RIGHT: Ends = Ends { left: false, right: true };

/// `trim(X)`, `trim(X, Y)`: X without the characters of Y, or spaces, at its ends.
fn trim(context: &Context<'_>, ends: Ends) -> Result<Option<Text>> {
    let Some(within) = text(context.get_raw(0))? else { return Ok(None) };
    let removed = match context.len() {
        1 => Some(Cow::from(&b" "[..])),
        _ => text(context.get_raw(1))?,
    };
    let Some(removed) = removed else { return Ok(None) };
    let characters: HashSet<&[u8]> = characters(&removed).collect();
    let mut rest = &*within;
    while ends.left
        && let Some(length) =
            (1..=CHARACTER.min(rest.len())).find(|length| characters.contains(&rest[..*length]))
    {
        rest = &rest[length..];
    }
    while ends.right
        && let Some(length) =
            (1..=CHARACTER.min(rest.len())).find(|length| characters.contains(&rest[rest.len() - length..]))
    {
        rest = &rest[..rest.len() - length];
    }
    Ok(Some(Text(rest.to_vec())))
}

/// The characters of a text, as bytes.
fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.chunk_by(|_, next| !begins_character(*next))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::types::Value;

    fn connections() -> [Connection; 2] {
        let ours = Connection::open_in_memory().unwrap();
        replace_quadratic(&ours).unwrap();
        [ours, Connection::open_in_memory().unwrap()]
    }

    fn value(connection: &Connection, sql: &str, arguments: &[Value]) -> Value {
        connection
            .query_row(sql, rusqlite::params_from_iter(arguments), |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql} of {arguments:?}: {error}"))
    }

    fn argument(random: &mut fastrand::Rng) -> Value {
        let mut text = || -> String {
            (0..random.usize(..6)).map(|_| ['a', 'b', ' ', 'ä', '€', '😀', '1'][random.usize(..7)]).collect()
        };
        let text = text();
        match random.u8(..12) {
            0 => Value::Null,
            1 => Value::Integer(random.i64(-20..120)),
            2 => Value::Real(random.f64() * 10_f64.powi(random.i32(-20..20))),
            3 => Value::Real(f64::from(random.i32(-5..5))),
            4 => Value::Blob(text.into_bytes()),
            _ => Value::Text(text),
        }
    }

    #[test]
    fn results_are_those_of_sqlite() {
        let [ours, sqlite] = connections();
        let mut random = fastrand::Rng::with_seed(1);
        let calls = [
            "instr(?1, ?2)",
            "replace(?1, ?2, ?3)",
            "trim(?1, ?2)",
            "ltrim(?1, ?2)",
            "rtrim(?1, ?2)",
            "trim(?1)",
        ];
        for _ in 0..3_000 {
            let arguments: Vec<Value> = (0..3).map(|_| argument(&mut random)).collect();
            for call in calls {
                let sql = format!("SELECT {call} WHERE ?3 IS ?3 AND ?2 IS ?2");
                let wanted = value(&sqlite, &sql, &arguments);
                let found = value(&ours, &sql, &arguments);
                assert_eq!(found, wanted, "{call} of {arguments:?}");
            }
        }
    }

    #[test]
    fn long_texts_take_linear_time() {
        let [ours, _] = connections();
        let long = "replace(hex(zeroblob(500000)), '0', 'a')";
        let other = "replace(hex(zeroblob(100000)), '0', 'a') || 'b'";
        for call in ["instr", "trim", "rtrim"] {
            // Their product is 10^11: it would not end.
            value(&ours, &format!("SELECT {call}({long}, {other})"), &[]);
        }
        value(&ours, &format!("SELECT replace({long}, {other}, '')"), &[]);
    }
}
