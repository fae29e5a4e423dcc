//! The changes that a type permits to later versions.

/// The changes that a type permits to later versions (DDS-XTypes 1.3, 7.2.2.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extensibility {
    /// Its members follow each other.
    Final,
    /// In XCDR2 its length precedes its members.
    Appendable,
    /// Each member has its number and its length.
    Mutable,
}
