//! The versions of the catalogue's tables, and the SQL that migrates them.

/// Each script migrates to the version of its number; the last one is current.
pub const VERSIONS: [&str; 3] = [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql")];
pub const VERSION: usize = VERSIONS.len();
/// The oldest version with the current tables: later versions only added indexes.
pub const SAME_TABLES: usize = 2;
