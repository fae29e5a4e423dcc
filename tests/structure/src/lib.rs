//! Input of the tests of this repository's structure: the workspace's crates from Cargo, the order of crates from
//! `ARCHITECTURE.md`, the imports between the files of one crate, and the page of bounds.
//!
//! ```
//! let text = "- `crates/wire`: bytes.\n- `crates/dac`, `crates/doors`: samples of `crates/wire`.\n";
//! assert_eq!(oasis_structure::crate_order(text), ["crates/wire", "crates/dac", "crates/doors"]);
//! ```

mod bounds;
mod cycles;
mod imports;
mod module;
mod workspace;

pub use bounds::bounds_page;
pub use cycles::cycles;
pub use imports::Imports;
pub use workspace::{Dependency, Package, Target, Workspace, crate_order};
