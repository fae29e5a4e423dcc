//! Identifiers, by the rules of ROS 2 (<https://design.ros2.org/articles/legacy_interface_definition.html>), which Protocol Buffers accept too.

use std::collections::HashSet;

/// The package of types whose name has none.
const DEFAULT_PACKAGE: &str = "oasis";

/// Names that were given away.
#[derive(Debug, Default)]
pub struct UniqueNames(HashSet<String>);

impl UniqueNames {
    /// Returns the name, or with a number if it is taken. Names that differ only in underscores and case are the same: Protocol Buffers
    /// have names for JSON without them.
    pub fn unique(&mut self, name: &str, separator: &str) -> String {
        let mut free = name.to_owned();
        let mut number = 1_u64;
        while !self.0.insert(free.replace('_', "").to_ascii_lowercase()) {
            number += 1;
            free = format!("{name}{separator}{number}");
        }
        free
    }
}

/// Splits `Plant::Hall::Tank` into the package `plant_hall` and the name.
pub fn package_of(name: &str) -> (String, String) {
    match name.rsplit_once("::") {
        Some((package, name)) => (snake_case(package), name.to_owned()),
        None => (DEFAULT_PACKAGE.to_owned(), name.to_owned()),
    }
}

/// Returns the name as `RobotArm`.
pub fn camel_case(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut camel = String::new();
    for word in words {
        let (first, rest) = word.split_at(1);
        camel += &first.to_ascii_uppercase();
        camel += rest;
    }
    if camel.starts_with(|letter: char| letter.is_ascii_uppercase()) { camel } else { format!("Type{camel}") }
}

/// Returns the name as `robot_arm`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        let is_word = letter.is_ascii_alphanumeric();
        let begins_word = !is_word || (letter.is_ascii_uppercase() && was_lower);
        if begins_word && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        if is_word {
            snake.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    let snake = snake.trim_end_matches('_');
    match snake.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        true => snake.to_owned(),
        false if snake.is_empty() => "value".to_owned(),
        false => format!("value_{snake}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        for (name, snake, camel) in [
            ("userTime", "user_time", "UserTime"),
            ("__a..b_", "a_b", "AB"),
            ("LinuxProcessorProbe", "linux_processor_probe", "LinuxProcessorProbe"),
            ("3d/x", "value_3d_x", "Type3dX"),
            ("\u{e4}", "value", "Type"),
            ("/imu/data.x", "imu_data_x", "ImuDataX"),
        ] {
            assert_eq!((snake_case(name).as_str(), camel_case(name).as_str()), (snake, camel), "{name}");
        }
        assert_eq!(package_of("A::BC::D"), ("a_bc".to_owned(), "D".to_owned()));
    }

    #[test]
    fn names_that_differ_in_underscores_only_get_numbers() {
        let mut names = UniqueNames::default();
        assert_eq!(["a_1", "a1", "a_1_2"].map(|name| names.unique(name, "_")), ["a_1", "a1_2", "a_1_2_2"]);
    }
}
