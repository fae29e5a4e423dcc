//! Names of the PDL as programming languages write them.

use std::collections::{HashMap, HashSet};

/// A scoped name without its scope.
pub fn last(scoped: &str) -> &str {
    scoped.rsplit("::").next().unwrap_or_default()
}

/// A scoped name's scope and last part.
pub fn split(scoped: &str) -> (&str, &str) {
    scoped.rsplit_once("::").unwrap_or(("", scoped))
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

/// The names, with underscores appended to taken ones and to all but the first of equal ones, so that all differ.
pub fn free_names(names: &[String], is_taken: impl Fn(&str) -> bool) -> Vec<String> {
    let mut used: HashSet<String> = names.iter().filter(|name| !is_taken(name)).cloned().collect();
    let mut seen = HashSet::new();
    let mut free_names = Vec::new();
    for name in names {
        let mut free = name.clone();
        if is_taken(name) || !seen.insert(name) {
            while is_taken(&free) || !used.insert(free.clone()) {
                free.push('_');
            }
        }
        free_names.push(free);
    }
    free_names
}

/// The last names. Equal ones get as many of their modules in front as distinguish them.
pub fn distinct_names(scoped: &[&String]) -> Vec<String> {
    let mut modules = vec![0; scoped.len()];
    loop {
        let names: Vec<String> =
            scoped.iter().zip(&modules).map(|(scoped, modules)| prefixed(scoped, *modules)).collect();
        let mut counts: HashMap<&String, usize> = HashMap::new();
        for name in &names {
            *counts.entry(name).or_default() += 1;
        }
        let mut is_done = true;
        for ((scoped, name), modules) in scoped.iter().zip(&names).zip(&mut modules) {
            let is_shared = counts.get(name).is_some_and(|count| *count > 1);
            if is_shared && *modules < scoped.matches("::").count() {
                *modules += 1;
                is_done = false;
            }
        }
        if is_done {
            return names;
        }
    }
}

/// Returns the last name with this many modules in front: `Shapes::Inner::Port` to `InnerPort`.
fn prefixed(scoped: &str, modules: usize) -> String {
    let parts: Vec<&str> = scoped.split("::").collect();
    let Some((name, outer)) = parts.split_last() else { return String::new() };
    let inner = outer.iter().skip(outer.len().saturating_sub(modules));
    inner.map(|module| camel_case(module)).collect::<String>() + name
}

/// Whether a word stands in one of the lists, between blanks.
pub fn is_in(name: &str, lists: &[&str]) -> bool {
    lists.iter().any(|list| list.split(' ').any(|word| word == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_as_people_write_them() {
        let camel = ["IDLE", "NOT_FOUND", "notFound", "Off", "A", "V2_BETA", "A__B_"].map(camel_case);
        assert_eq!(camel, ["Idle", "NotFound", "NotFound", "Off", "A", "V2Beta", "AB"]);
        let snake = ["OASIS", "TrafficLights", "Line7", "a"].map(snake_case);
        assert_eq!(snake, ["oasis", "traffic_lights", "line7", "a"]);
    }

    #[test]
    fn a_changed_name_does_not_take_another() {
        let names = ["class", "class_", "a", "a", "b"].map(String::from);
        assert_eq!(free_names(&names, |name| name == "class"), ["class__", "class_", "a", "a_", "b"]);
    }

    fn distinct(scoped: &[&str]) -> Vec<String> {
        let scoped: Vec<String> = scoped.iter().map(|name| (*name).to_owned()).collect();
        distinct_names(&scoped.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_type_has_the_modules_in_its_name_that_distinguish_it() {
        assert_eq!(distinct(&["A::B::X", "A::Y"]), ["X", "Y"]);
        assert_eq!(distinct(&["A::B::X", "A::X", "X"]), ["BX", "AX", "X"]);
        assert_eq!(distinct(&["A::M::X", "B::M::X", "MX"]), ["AMX", "BMX", "MX"]);
        assert_eq!(distinct(&["LINE_7::X", "Line7::X"]), ["Line7X", "Line7X"]);
    }
}
