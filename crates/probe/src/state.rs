//! The state of a probe.

/// The number that each sample carries beside its metrics (`docs/reference/eisa.md`): 0 is normal, the rest is the application's to give a meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProbeState(pub u16);

impl ProbeState {
    /// Nothing special.
    pub const NORMAL: Self = Self(0);
}
