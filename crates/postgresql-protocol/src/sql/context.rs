//! Columns that parameters and texts are compared with: PostgreSQL gives those their type.

use super::token::{Kind, Token};

/// Operators whose sides have the same type.
const COMPARISONS: &[&str] = &["=", "<", ">", "<=", ">=", "<>", "!="];
/// The number of the type of 64-bit integers.
const INT8: u32 = 20;

/// Knowledge about a value by its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Context {
    /// Compared with the column of this name.
    Column(String),
    /// A value of this type.
    Type(u32),
}

/// Returns what is known of the value at this token.
pub fn context(tokens: &[Token], at: usize) -> Option<Context> {
    let operator = |at: Option<usize>| {
        let token = tokens.get(at?)?;
        (token.kind == Kind::Operator && COMPARISONS.contains(&token.text.as_str())).then_some(())
    };
    let before = at.checked_sub(1);
    if tokens.get(at + 1).is_some_and(|token| token.is_operator("::")) {
        return type_oid(&tokens.get(at + 2)?.name()).map(Context::Type);
    }
    let previous = before.and_then(|before| tokens.get(before))?;
    if previous.is_word("limit") || previous.is_word("offset") {
        return Some(Context::Type(INT8));
    }
    if operator(before).is_some() {
        return column_ending(tokens, before?);
    }
    if previous.is_word("between") {
        return column_ending(tokens, before?);
    }
    // BETWEEN a AND b
    let between = at.checked_sub(3).filter(|_| previous.is_word("and"));
    if let Some(between) = between.filter(|between| tokens[*between].is_word("between")) {
        return column_ending(tokens, between);
    }
    operator(Some(at + 1))?;
    column_beginning(tokens, at + 2)
}

/// The column that ends before this token; none after arithmetic or a call.
fn column_ending(tokens: &[Token], before: usize) -> Option<Context> {
    let name = tokens.get(before.checked_sub(1)?).filter(|token| token.is_name())?;
    Some(Context::Column(name.name()))
}

fn column_beginning(tokens: &[Token], at: usize) -> Option<Context> {
    let qualified = tokens.get(at + 1).is_some_and(|token| token.is_operator("."));
    let at = if qualified { at + 2 } else { at };
    let is_call = tokens.get(at + 1).is_some_and(|token| token.text == "(");
    let name = tokens.get(at).filter(|token| token.is_name() && !is_call)?;
    Some(Context::Column(name.name()))
}

fn type_oid(name: &str) -> Option<u32> {
    Some(match name {
        "int" | "int2" | "int4" | "int8" | "integer" | "bigint" | "smallint" | "oid" => INT8,
        "float4" | "float8" | "real" | "double" | "numeric" => 701,
        "text" | "varchar" | "name" => 25,
        "bool" | "boolean" => 16,
        "timestamptz" | "timestamp" => 1184,
        "date" => 1082,
        _ => return None,
    })
}

/// The number of parameters of a statement.
pub fn parameters(tokens: &[Token]) -> usize {
    let numbers = tokens.iter().filter(|token| token.kind == Kind::Parameter);
    numbers.filter_map(|token| token.text[1..].parse::<usize>().ok()).max().unwrap_or_default()
}

/// Returns what is known of each parameter.
pub fn parameter_contexts(tokens: &[Token]) -> Vec<Option<Context>> {
    let mut contexts = vec![None; parameters(tokens).min(usize::from(u16::MAX))];
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Parameter) {
        let number = token.text[1..].parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(slot) = number.and_then(|number| contexts.get_mut(number)) {
            *slot = slot.take().or_else(|| context(tokens, at));
        }
    }
    contexts
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    #[test]
    fn parameters_have_the_type_of_their_column() {
        let found = parameter_contexts(
            &tokens("a.x > $1 AND $2 = y AND z BETWEEN $3 AND $4 LIMIT $5 AND $6::int AND f($7)").unwrap(),
        );
        let column = |name: &str| Some(Context::Column(name.into()));
        let (int, none) = (Some(Context::Type(INT8)), None);
        assert_eq!(found, [column("x"), column("y"), column("z"), column("z"), int.clone(), int, none]);
        assert_eq!(parameters(&tokens("SELECT 1").unwrap()), 0);
    }
}
