//! The state of a probe.

/// A number that each sample carries beside its metrics (`docs/reference/eisa.md`): 0 is normal; the application
/// defines the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProbeState(pub u16);

impl ProbeState {
    /// Normal operation.
    pub const NORMAL: Self = Self(0);
}
