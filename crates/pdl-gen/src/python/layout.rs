//! Line breaks in the style of `ruff format` at this width.

/// Columns of a line, as in `sdk/python/pyproject.toml`.
pub const WIDTH: usize = 110;
/// Columns of a level.
const INDENT: usize = 4;

/// An expression that can be broken into lines.
pub enum Layout {
    /// A word that cannot be broken.
    Word(String),
    /// Items in brackets.
    Bracketed { open: String, items: Vec<Layout>, separator: Separator, close: &'static str },
}

/// The separator of items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    Comma,
    /// Spaces, as in a comprehension.
    Space,
}

impl Layout {
    /// A call of `function`, which may be a path.
    pub fn call(function: impl AsRef<str>, items: Vec<Self>) -> Self {
        let open = format!("{}(", function.as_ref());
        Self::Bracketed { open, items, separator: Separator::Comma, close: ")" }
    }

    /// `[each clause]`
    pub fn comprehension(each: Self, clause: Self) -> Self {
        Self::Bracketed {
            open: "[".to_owned(),
            items: vec![each, clause],
            separator: Separator::Space,
            close: "]",
        }
    }

    pub fn word(text: impl Into<String>) -> Self {
        Self::Word(text.into())
    }

    /// Lines of a statement, indented: `before`, the expression, `after`.
    pub fn statement(&self, indent: usize, before: &str, after: &str) -> String {
        let laid_out = self.laid_out(indent, before.len() + after.len());
        format!("{}{before}{laid_out}{after}", " ".repeat(indent))
    }

    /// Lines of an assignment: `target = ` and the expression, in parentheses if not even its beginning fits after the target.
    pub fn assignment(&self, indent: usize, target: &str) -> String {
        let flat = self.flat();
        let beginning = match self {
            Self::Word(text) => text,
            Self::Bracketed { open, .. } => open,
        };
        let room = WIDTH.saturating_sub(indent + target.len());
        let fits = flat.len() <= room || beginning.len() <= room;
        if fits || room == 0 || indent + INDENT + flat.len() > WIDTH {
            return self.statement(indent, target, "");
        }
        let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + INDENT));
        format!("{outer}{target}(\n{inner}{flat}\n{outer})")
    }

    /// Returns the expression in a line that has this many `others` beside it, in more lines if it must.
    fn laid_out(&self, indent: usize, others: usize) -> String {
        let flat = self.flat();
        let Self::Bracketed { open, items, separator, close } = self else { return flat };
        if indent + others + flat.len() <= WIDTH || items.is_empty() {
            return flat;
        }
        let (outer, inner) = (" ".repeat(indent), " ".repeat(indent + INDENT));
        let content = joined(items, *separator);
        if inner.len() + content.len() <= WIDTH {
            return format!("{open}\n{inner}{content}\n{outer}{close}");
        }
        let comma = if *separator == Separator::Comma { "," } else { "" };
        let lines: Vec<String> =
            items.iter().map(|item| item.statement(indent + INDENT, "", comma)).collect();
        format!("{open}\n{}\n{outer}{close}", lines.join("\n"))
    }

    fn flat(&self) -> String {
        match self {
            Self::Word(text) => text.clone(),
            Self::Bracketed { open, items, separator, close } => {
                format!("{open}{}{close}", joined(items, *separator))
            }
        }
    }
}

fn joined(items: &[Layout], separator: Separator) -> String {
    let separator = if separator == Separator::Comma { ", " } else { " " };
    items.iter().map(Layout::flat).collect::<Vec<_>>().join(separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(length: usize) -> String {
        let items = ["a", "b"].map(|name| Layout::word(name.repeat(length)));
        Layout::call("call", items.into()).statement(4, "", ":")
    }

    #[test]
    fn a_line_that_fits_is_not_broken() {
        let (a, b) = ("a".repeat(48), "b".repeat(48));
        assert_eq!(call(48), format!("    call({a}, {b}):"));
    }

    #[test]
    fn a_long_line_is_broken_as_little_as_possible() {
        let (a, b) = ("a".repeat(50), "b".repeat(50));
        assert_eq!(call(50), format!("    call(\n        {a}, {b}\n    ):"));
        let (a, b) = ("a".repeat(51), "b".repeat(51));
        assert_eq!(call(51), format!("    call(\n        {a},\n        {b},\n    ):"));
    }
}
