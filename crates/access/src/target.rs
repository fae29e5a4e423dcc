//! Targets: what an action concerns.

/// Target of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// The DAC with all that it knows now or later. One rule must cover everything.
    Dac,
    /// All instances of a node, also later ones. One rule must cover them all.
    Node(&'a str),
    /// One instance.
    Instance {
        /// Name of its node.
        node: &'a str,
        /// Its name.
        instance: &'a str,
    },
    /// Something of a node, for early refusals: each instance is decided on later.
    SomeOfNode(&'a str),
    /// Something of the DAC, for early refusals: each instance is decided on later.
    SomeOfDac,
}
