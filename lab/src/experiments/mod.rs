//! The experiments, a folder each. To add one: its declaration and its [`Method`], and a line here.
//!
//! They share the processes of a load ([`fleet`]), the watch over processes ([`monitor`]), Node.js ([`crate::nodejs`]), browsers ([`browser`], [`devtools`]) with pages ([`site`]), slow
//! ways to them ([`relay`]), and what of it is recorded ([`live`]).

mod browser;
mod devtools;
mod fleet;
pub mod frizelle;
mod live;
pub mod million;
mod monitor;
pub mod mueller;
pub mod oasis2013;
mod relay;
mod site;
pub mod windcomm;

use crate::experiment::Method;

/// Every experiment.
pub const EXPERIMENTS: &[&dyn Method] =
    &[&frizelle::Frizelle, &million::Million, &mueller::Mueller, &oasis2013::Oasis2013, &windcomm::WindComm];

#[cfg(test)]
mod tests {
    use super::EXPERIMENTS;
    use std::path::Path;

    /// Folders at the top of the repository that declarations point to.
    const FOLDERS: [&str; 5] = ["crates/", "docs/", "lab/", "tests/", "web/"];

    #[test]
    fn every_path_that_a_declaration_names_exists() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
        let mut count = 0;
        for method in EXPERIMENTS {
            let words = method
                .declaration()
                .split(|letter: char| letter.is_whitespace() || "\"'`,;:()".contains(letter));
            let named = words.filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)));
            for path in named.map(|word| word.split('#').next().unwrap_or_default().trim_end_matches('.')) {
                assert!(root.join(path).exists(), "{path}");
                count += 1;
            }
        }
        assert!(count > 10, "{count}");
    }
}
