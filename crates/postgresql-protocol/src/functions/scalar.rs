//! Definition of functions.

use rusqlite::{
    Connection, Error, Result,
    functions::{Context, FunctionFlags},
    types::{Value, ValueRef},
};
use std::{borrow::Cow, panic::UnwindSafe};

/// Defines functions on a connection.
pub struct Define<'a>(pub &'a Connection);

impl Define<'_> {
    /// Defines a function with these numbers of arguments; -1 for any. Its result depends on nothing else.
    ///
    /// # Errors
    /// If SQLite reports one.
    pub fn function(
        &self,
        name: &str,
        arguments: &[i32],
        function: impl Fn(&Context<'_>) -> Result<Value> + Send + UnwindSafe + Clone + 'static,
    ) -> Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8
            | FunctionFlags::SQLITE_DETERMINISTIC
            | FunctionFlags::SQLITE_INNOCUOUS;
        arguments
            .iter()
            .try_for_each(|count| self.0.create_scalar_function(name, *count, flags, function.clone()))
    }

    /// Defines a function that returns always the same.
    ///
    /// # Errors
    /// If SQLite reports one.
    pub fn constant(&self, name: &str, arguments: &[i32], value: impl Into<Value>) -> Result<()> {
        let value = Constant(value.into());
        self.function(name, arguments, move |_| Ok(value.get()))
    }
}

/// A value that closures may keep.
#[derive(Clone)]
struct Constant(Value);

impl Constant {
    fn get(&self) -> Value {
        self.0.clone()
    }
}

/// An argument as text; none of NULL.
pub fn argument_text<'a>(context: &'a Context<'_>, at: usize) -> Option<Cow<'a, str>> {
    match context.get_raw(at) {
        ValueRef::Null => None,
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text)),
        ValueRef::Integer(number) => Some(number.to_string().into()),
        ValueRef::Real(number) => Some(crate::value_type::show_real(number).into()),
    }
}

/// A copy of an argument.
pub fn argument(context: &Context<'_>, at: usize) -> Value {
    match context.get_raw(at) {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// An argument as a whole number; none of NULL and of text that is no number.
pub fn argument_integer(context: &Context<'_>, at: usize) -> Option<i64> {
    match context.get_raw(at) {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        ValueRef::Text(_) => argument_text(context, at)?.trim().parse().ok(),
        _ => None,
    }
}

/// An argument as a real; none of NULL.
pub fn argument_real(context: &Context<'_>, at: usize) -> Option<f64> {
    match context.get_raw(at) {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        ValueRef::Text(_) => argument_text(context, at)?.trim().parse().ok(),
        _ => None,
    }
}

/// The error of a function.
pub fn refused(message: impl Into<String>) -> Error {
    Error::UserFunctionError(message.into().into())
}
