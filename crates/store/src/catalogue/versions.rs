//! The versions of the catalogue's tables, and the SQL that brings them from one to the next.

/// Each brings the tables to the version of its number; the last one is what is read and written here.
pub const VERSIONS: [&str; 3] = [include_str!("1.sql"), include_str!("2.sql"), include_str!("3.sql")];
pub const VERSION: usize = VERSIONS.len();
/// The last version that had other tables: what follows has only made them faster to read.
pub const SAME_TABLES: usize = 2;
