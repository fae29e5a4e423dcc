//! The codes of errors and warnings in rules.

use oasis_pdl::ErrorCode;

/// The stable code of every error and warning; `docs/reference/rules.md` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Code {
    UnexpectedToken,
    UnknownCharacter,
    Unterminated,
    TooLarge,
    DuplicateName,
    UnknownName,
    UnknownType,
    UnknownMetric,
    UnknownFunction,
    UnknownEnumerator,
    UnknownUnit,
    WrongType,
    WrongUnit,
    BadDuration,
    BadWindow,
    NoRate,
    SeveralSources,
    NoSource,
    Cycle,
    MissingClause,
    RepeatedClause,
    BadPattern,
    MisplacedSilent,
    UnreadableFile,
    EmptyFile,
    BadMessage,
    WrongTarget,
    BadRate,
    ConditionsOverlap,
}

impl ErrorCode for Code {
    /// `R0001` and so on.
    fn name(self) -> String {
        format!("R{:04}", self as u16 + 1)
    }

    fn is_warning(self) -> bool {
        matches!(self, Self::ConditionsOverlap)
    }
}

/// An error or a warning in a file of rules.
pub type Diagnostic = oasis_pdl::Diagnostic<Code>;
