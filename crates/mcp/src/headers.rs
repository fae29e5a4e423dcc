//! Headers of HTTP that repeat what a message says, so that proxies can read it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

/// Returns a header by its name in lower case.
type Lookup<'h> = dyn Fn(&str) -> Option<&'h str> + Sync + 'h;

/// The headers of a request, by name in lower case. Standard input and output have none.
pub struct Headers<'h>(Option<&'h Lookup<'h>>);

impl<'h> Headers<'h> {
    /// A message that came without headers.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Headers by name.
    pub const fn of(value: &'h Lookup<'h>) -> Self {
        Self(Some(value))
    }

    /// Returns the version of the protocol that the headers name.
    pub fn version(&self) -> Option<&'h str> {
        self.0.and_then(|value| value("mcp-protocol-version"))
    }

    /// Returns the first header that contradicts a message of a stateless version.
    pub fn mismatch(&self, version: &str, method: &str, params: &Value) -> Option<&'static str> {
        let value = self.0?;
        if value("mcp-protocol-version") != Some(version) {
            return Some("MCP-Protocol-Version");
        }
        if value("mcp-method") != Some(method) {
            return Some("Mcp-Method");
        }
        let name = match method {
            "tools/call" | "prompts/get" => params["name"].as_str(),
            "resources/read" => params["uri"].as_str(),
            _ => None,
        }?;
        let is_equal = value("mcp-name").is_some_and(|header| header == name || is_encoded(header, name));
        (!is_equal).then_some("Mcp-Name")
    }
}

/// Whether a header is `=?base64?…?=` of a name that has other characters than headers may have.
fn is_encoded(header: &str, name: &str) -> bool {
    let payload = header.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    payload.is_some_and(|payload| BASE64_STANDARD.decode(payload).is_ok_and(|plain| plain == name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_characters_are_encoded() {
        assert!(is_encoded("=?base64?UMO8bXBl?=", "Pümpe"));
        assert!(!is_encoded("=?base64?UMO8bXBl?=", "pump"));
        assert!(!is_encoded("=?base64?*?=", "pump"));
    }
}
