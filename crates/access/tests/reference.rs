//! The lists in the reference match the program. `OASIS_UPDATE_DOCS=1 cargo test -p oasis-access` updates them.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by unwrapping")]

use oasis_access::{BUILT_IN, Verb};
use std::{env, fmt::Write, fs};

const VERBS: &str = "| verb | permits to |\n|---|---|\n";
const ROLES: &str = "| role | purpose | verbs, on everything |\n|---|---|---|\n";

fn verbs() -> String {
    Verb::ALL.iter().fold(VERBS.to_owned(), |mut list, verb| {
        let permits = verb.permits();
        let (first, rest) = permits.split_at(1);
        writeln!(list, "| `{}` | {}{rest} |", verb.word(), first.to_lowercase()).unwrap();
        list
    })
}

fn roles() -> String {
    BUILT_IN.iter().fold(ROLES.to_owned(), |mut list, role| {
        let verbs: Vec<_> = role.verbs.iter().map(|verb| format!("`{verb}`")).collect();
        writeln!(list, "| `{}` | {} | {} |", role.name, role.purpose, verbs.join(", ")).unwrap();
        list
    })
}

/// The page with a list in place of the one under the same heading.
fn replaced(page: &str, head: &str, list: &str) -> String {
    let (before, rest) = page.split_once(head).unwrap();
    let after = rest.find("\n\n").map_or("", |end| &rest[end + 1..]);
    let after = if rest.starts_with('\n') { rest } else { after };
    format!("{before}{list}{after}")
}

#[test]
fn the_reference_lists_every_verb_and_role() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/permissions.md");
    let page = fs::read_to_string(file).unwrap();
    let updated = replaced(&replaced(&page, VERBS, &verbs()), ROLES, &roles());
    if env::var_os("OASIS_UPDATE_DOCS").is_some() {
        fs::write(file, updated).unwrap();
    } else {
        assert!(
            page == updated,
            "docs/reference/permissions.md lacks these lists:\n\n{}\n{}",
            verbs(),
            roles()
        );
    }
}
