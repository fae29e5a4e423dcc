//! Whether a type can represent a number.

use crate::{
    ast,
    diagnostic::{Code, Diagnostic},
    model::{Number, Primitive},
};

/// Checks whether a number fits a type. A real number is rounded to its type; only infinity is refused.
pub fn misfit(number: ast::Number, simple: Primitive) -> Option<Diagnostic> {
    let name = simple.name();
    let refused =
        |message: String| Diagnostic::new(Code::NumberDoesNotFit, number.span, message, "does not fit");
    let Some((least, greatest)) = simple.integers() else {
        let is_finite = simple != Primitive::Real32 || (number.value.to_f64() as f32).is_finite();
        return (!is_finite).then(|| refused(format!("number is too large for `{name}`")));
    };
    match number.value {
        Number::Integer(value) if (least..=greatest).contains(&value) => None,
        Number::Integer(value) => {
            let note = format!("`{name}` ranges from {least} to {greatest}");
            Some(refused(format!("{value} does not fit in `{name}`")).note(note))
        }
        Number::Real(_) => {
            let note = "write it without a decimal point or exponent";
            Some(refused(format!("`{name}` requires a whole number")).note(note))
        }
    }
}
