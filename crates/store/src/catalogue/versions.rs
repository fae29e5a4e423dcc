//! The versions of the catalogue's tables, and the SQL that migrates them.

/// Each script migrates to the version of its number; the last one is current.
pub const VERSIONS: [&str; 7] = [
    include_str!("1.sql"),
    include_str!("2.sql"),
    include_str!("3.sql"),
    include_str!("4.sql"),
    include_str!("5.sql"),
    include_str!("6.sql"),
    include_str!("7.sql"),
];
pub const VERSION: usize = VERSIONS.len();
/// The oldest version that readers accept: later versions only added indexes, and tables and
/// columns that a reader can do without.
pub const SAME_TABLES: usize = 2;
