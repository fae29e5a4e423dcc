//! Errors and rules as JSON.

use oasis_rules::{LoadedRule, Problem};
use serde::Serialize;
use utoipa::ToSchema;

/// An error or a warning in a text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct DiagnosticView {
    /// `R0001` and so on: docs/reference/rules.md.
    code: String,
    /// `error`, or `warning` of what keeps no rule from running.
    severity: &'static str,
    message: String,
    /// The remedy, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// Lines and columns count from 1; none if it has no place in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<usize>,
    /// After the last character.
    #[serde(skip_serializing_if = "Option::is_none")]
    end_column: Option<usize>,
}

impl From<Problem> for DiagnosticView {
    fn from(Problem { code, is_warning, message, help, place }: Problem) -> Self {
        Self {
            code,
            severity: if is_warning { "warning" } else { "error" },
            message,
            help,
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            end_line: place.map(|place| place.end_line),
            end_column: place.map(|place| place.end_column),
        }
    }
}

/// A rule.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct RuleView {
    name: String,
    /// `alarm`, `event`, `derive` or `check`.
    kind: &'static str,
    /// Its file; none if it is from the limits of a PDL file, or not saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Patterns of the instances that it reads.
    inputs: Vec<String>,
    /// Severity of an alarm.
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'static str>,
    /// The most memory that it takes for each instance.
    memory_bytes: usize,
    /// The instances that it reads now.
    instances: usize,
}

impl From<LoadedRule> for RuleView {
    fn from(rule: LoadedRule) -> Self {
        Self {
            name: rule.name,
            kind: rule.kind,
            file: rule.file,
            inputs: rule.inputs,
            severity: rule.severity.map(|severity| severity.name()),
            memory_bytes: rule.memory_bytes,
            instances: rule.instances,
        }
    }
}
