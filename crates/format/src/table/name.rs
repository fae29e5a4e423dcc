//! Names of tables.

/// A probe type's name as a table is called: `OASIS::System::LinuxProcessorProbe` is `oasis_system_linux_processor_probe`.
/// Letters, digits and underscores only, so that queries need no quotes.
pub fn table_name(probe_type: &str) -> String {
    let mut name = String::new();
    let characters: Vec<char> = probe_type.chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        if !character.is_ascii_alphanumeric() {
            begin_word(&mut name);
            continue;
        }
        let before = at.checked_sub(1).map(|before| characters[before]);
        let after = characters.get(at + 1);
        let ends_word = before.is_some_and(|before| before.is_ascii_lowercase() || before.is_ascii_digit());
        let ends_acronym = before.is_some_and(|before| before.is_ascii_uppercase())
            && after.is_some_and(char::is_ascii_lowercase);
        if character.is_ascii_uppercase() && (ends_word || ends_acronym) {
            begin_word(&mut name);
        }
        name.push(character.to_ascii_lowercase());
    }
    let name = name.trim_end_matches('_');
    if name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.to_owned()
    } else {
        format!("probe_{name}")
    }
}

fn begin_word(name: &mut String) {
    if !name.is_empty() && !name.ends_with('_') {
        name.push('_');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_table_name_needs_no_quotes() {
        for (probe_type, table) in [
            ("OASIS::System::LinuxProcessorProbe", "oasis_system_linux_processor_probe"),
            ("Plant::Tank", "plant_tank"),
            ("Line7::Port", "line7_port"),
            ("HTTPServer", "http_server"),
            ("snake_case", "snake_case"),
            ("7Up", "probe_7_up"),
            ("\"; DROP TABLE x --", "drop_table_x"),
            ("Größe", "gr_e"),
            ("", "probe_"),
        ] {
            assert_eq!(table_name(probe_type), table);
        }
    }

    proptest! {
        #[test]
        fn any_name_becomes_an_identifier(name: String) {
            let table = table_name(&name);
            prop_assert!(table.starts_with(|first: char| first.is_ascii_lowercase()));
            prop_assert!(table.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        }
    }
}
