//! The common form of all requests: resources, in each scopes, in each items.

use crate::attributes::{self, Attribute};
use oasis_format::protobuf::{BadWire, WireValue, next_field};
use std::borrow::Cow;

/// Why an item is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    /// The bytes cannot be read: the rest of the request is not taken either.
    #[error("the body is {0}")]
    Malformed(#[from] BadWire),
    /// The item is refused.
    #[error("{0}")]
    Refused(String),
}

/// The attributes of a resource, or why they are refused.
pub type Resource<'a> = Result<Vec<Attribute<'a>>, String>;

/// Receives the parts of a request in their order.
pub trait Visitor<'a> {
    /// Called for each resource, before its items.
    fn resource(&mut self, resource: &Resource<'a>);

    /// Called for each metric, log record or span; `scope` is the name of the instrumentation scope.
    ///
    /// # Errors
    /// If the item is malformed.
    fn item(&mut self, scope: &str, item: &'a [u8]) -> Result<(), BadWire>;
}

/// Visits a request.
///
/// # Errors
/// If it is malformed.
pub fn walk<'a>(mut request: &'a [u8], visitor: &mut impl Visitor<'a>) -> Result<(), BadWire> {
    while let Some(field) = next_field(&mut request)? {
        if let (1, WireValue::Bytes(group)) = field {
            visit_resource(group, visitor)?;
        }
    }
    Ok(())
}

fn visit_resource<'a>(group: &'a [u8], visitor: &mut impl Visitor<'a>) -> Result<(), BadWire> {
    visitor.resource(&read_resource(first(group, 1)?)?);
    each(group, 2, |scoped| {
        let name = String::from_utf8_lossy(first(first(scoped, 1)?, 1)?);
        each(scoped, 2, |item| visitor.item(&name, item))
    })
}

fn read_resource(resource: &[u8]) -> Result<Resource<'_>, BadWire> {
    let mut all = Vec::new();
    match each_item(resource, 1, |key_value| attributes::add(key_value, &mut all)) {
        Ok(()) => Ok(Ok(all)),
        Err(ItemError::Malformed(error)) => Err(error),
        Err(ItemError::Refused(why)) => Ok(Err(format!("its resource: {why}"))),
    }
}

/// Calls a function for each field of bytes with this number.
pub fn each<'a>(
    message: &'a [u8],
    number: u32,
    mut visit: impl FnMut(&'a [u8]) -> Result<(), BadWire>,
) -> Result<(), BadWire> {
    let mut rest = message;
    while let Some(field) = next_field(&mut rest)? {
        if let (found, WireValue::Bytes(bytes)) = field
            && found == number
        {
            visit(bytes)?;
        }
    }
    Ok(())
}

fn each_item<'a>(
    message: &'a [u8],
    number: u32,
    mut visit: impl FnMut(&'a [u8]) -> Result<(), ItemError>,
) -> Result<(), ItemError> {
    let mut refused = Ok(());
    each(message, number, |bytes| match visit(bytes) {
        Err(ItemError::Malformed(error)) => Err(error),
        Err(error) => {
            refused = Err(error);
            Ok(())
        }
        Ok(()) => Ok(()),
    })?;
    refused
}

/// Returns the bytes of the first field with this number; none if there is no such field.
pub fn first(message: &[u8], number: u32) -> Result<&[u8], BadWire> {
    let mut rest = message;
    while let Some(field) = next_field(&mut rest)? {
        if let (found, WireValue::Bytes(bytes)) = field
            && found == number
        {
            return Ok(bytes);
        }
    }
    Ok(&[])
}

/// Returns a text of a message.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
