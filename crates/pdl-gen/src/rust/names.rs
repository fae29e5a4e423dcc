//! Names of the PDL as Rust writes them.

use proc_macro2::{Ident, Span};

/// A scoped name without its scope.
pub fn last(scoped: &str) -> &str {
    scoped.rsplit("::").next().unwrap_or_default()
}

/// `TrafficLights` to `traffic_lights`, `OASIS` to `oasis`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut lower_before = false;
    for character in name.chars() {
        if character.is_uppercase() && lower_before {
            snake.push('_');
        }
        lower_before = character.is_lowercase() || character.is_ascii_digit();
        snake.extend(character.to_lowercase());
    }
    snake
}

/// `NOT_FOUND` and `notFound` to `NotFound`.
pub fn camel_case(name: &str) -> String {
    let mut camel = String::new();
    for word in name.split('_') {
        let is_shouted = !word.contains(|c: char| c.is_ascii_lowercase());
        let (first, rest) = word.split_at(word.len().min(1));
        camel += &first.to_ascii_uppercase();
        camel += &if is_shouted { rest.to_ascii_lowercase() } else { rest.to_owned() };
    }
    camel
}

/// An identifier, raw where Rust keeps the word for itself.
pub fn ident(name: &str) -> Ident {
    if syn::parse_str::<Ident>(name).is_ok() {
        return Ident::new(name, Span::call_site());
    }
    match name {
        // These cannot even be raw.
        "self" | "super" | "crate" | "Self" => Ident::new(&format!("{name}_"), Span::call_site()),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_rust_writes_them() {
        let camel = ["IDLE", "NOT_FOUND", "notFound", "Off", "A", "V2_BETA", "A__B_"].map(camel_case);
        assert_eq!(camel, ["Idle", "NotFound", "NotFound", "Off", "A", "V2Beta", "AB"]);
        let snake = ["OASIS", "TrafficLights", "Line7", "a"].map(snake_case);
        assert_eq!(snake, ["oasis", "traffic_lights", "line7", "a"]);
    }
}
