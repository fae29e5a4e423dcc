//! Line breaks in the style of Biome and Prettier at the width of `biome.json`.

/// Columns of a line.
pub const WIDTH: usize = 110;
/// Columns of a level.
pub const INDENT: usize = 2;

/// An expression that can be broken into lines.
pub enum Layout {
    /// A word that cannot be broken.
    Word(String),
    Call {
        function: String,
        arguments: Vec<String>,
    },
    /// A call whose argument is a function that returns this.
    Calling {
        function: String,
        returned: Box<Layout>,
    },
}

impl Layout {
    pub fn word(text: impl Into<String>) -> Self {
        Self::Word(text.into())
    }

    /// A call, which without arguments cannot be broken.
    pub fn call(function: impl Into<String>, arguments: Vec<String>) -> Self {
        let function = function.into();
        if arguments.is_empty() {
            Self::Word(format!("{function}()"))
        } else {
            Self::Call { function, arguments }
        }
    }

    /// `function(() => returned)`
    pub fn calling(function: impl Into<String>, returned: Self) -> Self {
        Self::Calling { function: function.into(), returned: Box::new(returned) }
    }

    /// Lines of a statement, indented: `before`, the expression, `after`.
    pub fn statement(&self, indent: usize, before: &str, after: &str) -> String {
        format!("{}{before}{}{after}", blanks(indent), self.laid_out(indent, before.len() + after.len()))
    }

    /// Lines of a property of an object: `key: ` and the expression, which moves to a line of its own where not even its beginning
    /// fits after the key.
    pub fn property(&self, indent: usize, key: &str) -> String {
        let before = format!("{key}: ");
        let columns = indent + before.len() + self.beginning().chars().count();
        let is_kept = match self {
            // A comma follows. Biome moves no text after a key that is hardly longer than a level, and no boolean at all.
            Self::Word(text) => {
                let is_short = key.len() <= INDENT + 2 && text.starts_with(['\'', '"']);
                columns < WIDTH || is_short || matches!(text.as_str(), "false" | "true")
            }
            Self::Call { .. } | Self::Calling { .. } => columns <= WIDTH,
        };
        if is_kept {
            return self.statement(indent, &before, ",");
        }
        format!("{}{key}:\n{}", blanks(indent), self.statement(indent + INDENT, "", ","))
    }

    /// The text before the first place where it can be broken.
    fn beginning(&self) -> String {
        match self {
            Self::Word(text) => text.clone(),
            Self::Call { function, .. } => format!("{function}("),
            Self::Calling { function, .. } => format!("{function}(() =>"),
        }
    }

    /// Returns the expression in a line that has this many `others` beside it, in more lines if it must.
    fn laid_out(&self, indent: usize, others: usize) -> String {
        let flat = self.flat();
        if indent + others + flat.chars().count() <= WIDTH {
            return flat;
        }
        let (outer, inner) = (blanks(indent), blanks(indent + INDENT));
        match self {
            Self::Word(_) => flat,
            Self::Call { function, arguments } => {
                let separator = format!(",\n{inner}");
                format!("{function}(\n{inner}{},\n{outer})", arguments.join(&separator))
            }
            Self::Calling { function, returned } => {
                let returned = returned.statement(indent + INDENT, "", ",");
                format!("{function}(() =>\n{returned}\n{outer})")
            }
        }
    }

    fn flat(&self) -> String {
        match self {
            Self::Word(text) => text.clone(),
            Self::Call { function, arguments } => format!("{function}({})", arguments.join(", ")),
            Self::Calling { function, returned } => format!("{function}(() => {})", returned.flat()),
        }
    }
}

/// Lines of `export type name = generic<arguments>;`
pub fn alias(name: &str, generic: &str, arguments: &[&str]) -> String {
    let flat = format!("export type {name} = {generic}<{}>;", arguments.join(", "));
    if flat.len() <= WIDTH {
        return flat;
    }
    let inner = blanks(INDENT);
    format!("export type {name} = {generic}<\n{inner}{}\n>;", arguments.join(&format!(",\n{inner}")))
}

pub fn blanks(count: usize) -> String {
    " ".repeat(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_fits_is_not_broken() {
        let call = |length: usize| Layout::call("f", vec!["a".repeat(length)]).property(2, "key");
        assert_eq!(call(99), format!("  key: f({}),", "a".repeat(99)));
        assert_eq!(call(100), format!("  key: f(\n    {},\n  ),", "a".repeat(100)));
    }

    #[test]
    fn a_value_whose_beginning_does_not_fit_gets_its_own_line() {
        let key = "k".repeat(100);
        assert_eq!(Layout::word("''").property(8, &key), format!("        {key}:\n          '',"));
        assert_eq!(Layout::word("false").property(8, &key), format!("        {key}: false,"));
        let call = Layout::call("source.uint8", Vec::new());
        assert_eq!(call.property(2, &key), format!("  {key}:\n    source.uint8(),"));
    }
}
