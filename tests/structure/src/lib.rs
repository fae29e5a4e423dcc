//! Input of the tests of this repository's structure: the workspace's crates from Cargo, the order of crates from
//! `ARCHITECTURE.md`, and the imports between the files of one crate.
//!
//! ```
//! let text = "| crate | its one job |\n|---|---|\n| `crates/wire` | bytes |\n| `crates/dac` | samples |\n";
//! assert_eq!(oasis_structure::crate_order(text), ["crates/wire", "crates/dac"]);
//! ```

mod cycles;
mod imports;
mod module;
mod workspace;

pub use cycles::cycles;
pub use imports::Imports;
pub use workspace::{Dependency, Package, Target, Workspace, crate_order};
