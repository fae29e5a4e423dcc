//! Finds the kind of word that fits at the cursor from the tokens before it. The text around a cursor is often incomplete.

use oasis_pdl::{
    Token,
    ast::{METRIC_ATTRIBUTES, PROBE_ATTRIBUTES},
    tokens,
};
use std::ops::Range;

/// The kind of word that fits at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum ExpectedWord {
    Nothing,
    Directive,
    Declaration,
    /// One of these names of attributes.
    Attribute(&'static [&'static str]),
    /// A unit; whether the quote stands already.
    Unit {
        is_quoted: bool,
    },
    Kind,
    /// An enumerator of the enum that this path names.
    Enumerator(String),
    /// A type.
    Type,
    /// A probe to inherit from.
    Base,
    /// An integer type to carry an enum.
    Carrier,
    /// A type or a probe after this path and a `::`.
    Within {
        path: String,
        is_base: bool,
    },
}

/// The kind of word that fits at the cursor, and the modules around it.
#[derive(Debug, PartialEq, Eq)]
pub struct Context {
    pub wanted: ExpectedWord,
    /// `A::B`, empty at the root.
    pub scope: String,
}

/// Returns the context of a byte of the text, from the words before it.
pub fn context(text: &str, offset: usize) -> Context {
    let all = tokens(text);
    // The unfinished word is the one to complete, not part of the context.
    let word = all.iter().find(|(token, at)| *token == Token::Name && at.start < offset && offset <= at.end);
    let start = word.map_or(offset, |(_, at)| at.start);
    let known = all.partition_point(|(_, at)| at.end <= start);
    let before = all.get(..known).unwrap_or_default();
    let walk = Walk::over(text, before);
    let rest = before.last().map_or(0, |(_, at)| at.end)..start;
    let inside = all.get(known).filter(|(_, at)| at.start < start);
    // Documentation continues at its end, up to the end of the line.
    let inside = inside.or(before.last().filter(|(token, at)| *token == Token::Doc && at.end == start));
    let wanted = match inside.map_or_else(|| gap(text, rest), |(token, _)| in_token(*token)) {
        Gap::Comment => ExpectedWord::Nothing,
        Gap::Text => walk.in_text(),
        Gap::Blank => walk.wanted(text, &all, known),
    };
    Context { wanted, scope: walk.scope() }
}

/// The text between the last word and the cursor.
enum Gap {
    Blank,
    Comment,
    Text,
}

fn in_token(token: Token) -> Gap {
    if token == Token::Text { Gap::Text } else { Gap::Comment }
}

/// Comments and unterminated strings are not tokens.
fn gap(text: &str, gap: Range<usize>) -> Gap {
    let mut rest = text.get(gap).unwrap_or_default();
    while let Some(at) = rest.find(['/', '"']) {
        rest = rest.get(at..).unwrap_or_default();
        let end = if rest.starts_with("//") {
            rest.find('\n')
        } else if rest.starts_with("/*") {
            rest.find("*/").map(|at| at + 1)
        } else if rest.starts_with('"') {
            return if rest.contains('\n') { Gap::Blank } else { Gap::Text };
        } else {
            Some(0)
        };
        let Some(end) = end else { return Gap::Comment };
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Gap::Blank
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Module,
    Enum,
    Probe,
    Struct,
}

/// The blocks and brackets that are open at the cursor.
#[derive(Default)]
struct Walk<'a> {
    blocks: Vec<(Sort, &'a str)>,
    /// A declaration whose block has not begun.
    head: Option<(Sort, &'a str)>,
    is_in_brackets: bool,
    /// The attribute whose value this is.
    attribute: Option<&'a str>,
    last: Option<Token>,
    last_word: &'a str,
}

impl<'a> Walk<'a> {
    fn over(text: &'a str, tokens: &[(Token, Range<usize>)]) -> Self {
        let mut walk = Self::default();
        for (token, at) in tokens {
            walk.step(*token, text.get(at.clone()).unwrap_or_default());
        }
        walk
    }

    fn step(&mut self, token: Token, word: &'a str) {
        match token {
            Token::BracketOpen => self.is_in_brackets = true,
            Token::BracketClose => (self.is_in_brackets, self.attribute) = (false, None),
            Token::ParenOpen if self.is_in_brackets => self.attribute = Some(self.last_word),
            Token::ParenClose => self.attribute = None,
            Token::BraceOpen => {
                self.blocks.push(self.head.take().unwrap_or((Sort::Struct, "")));
                (self.is_in_brackets, self.attribute) = (false, None);
            }
            Token::BraceClose => {
                self.blocks.pop();
                self.head = None;
            }
            Token::Semicolon => self.head = None,
            Token::Name => self.name(word),
            _ => {}
        }
        self.last = Some(token);
        self.last_word = word;
    }

    fn name(&mut self, word: &'a str) {
        if self.is_in_brackets || self.is_in_block() {
            return;
        }
        match &mut self.head {
            None => {
                let sort = match word {
                    "module" => Sort::Module,
                    "struct" => Sort::Struct,
                    "enum" => Sort::Enum,
                    "probe" => Sort::Probe,
                    _ => return,
                };
                self.head = Some((sort, ""));
            }
            Some((_, name)) if name.is_empty() => *name = word,
            Some(_) => {}
        }
    }

    /// Whether the innermost block is not a module.
    fn is_in_block(&self) -> bool {
        self.blocks.last().is_some_and(|(sort, _)| *sort != Sort::Module)
    }

    fn scope(&self) -> String {
        let modules = self.blocks.iter().filter(|(sort, _)| *sort == Sort::Module);
        modules.map(|(_, name)| *name).collect::<Vec<_>>().join("::")
    }

    fn in_text(&self) -> ExpectedWord {
        if self.attribute == Some("unit") {
            ExpectedWord::Unit { is_quoted: true }
        } else {
            ExpectedWord::Nothing
        }
    }

    fn wanted(&self, text: &str, all: &[(Token, Range<usize>)], known: usize) -> ExpectedWord {
        match self.last {
            _ if self.is_in_brackets => self.in_brackets(text, all, known),
            Some(Token::Scope) => {
                let path = path_before(text, all.get(..known.saturating_sub(1)).unwrap_or_default());
                ExpectedWord::Within { path, is_base: self.head.is_some() }
            }
            Some(Token::Hash) if self.blocks.is_empty() => ExpectedWord::Directive,
            Some(Token::Colon) => match self.head {
                Some((Sort::Probe, _)) => ExpectedWord::Base,
                Some((Sort::Enum, _)) => ExpectedWord::Carrier,
                _ => ExpectedWord::Nothing,
            },
            last if self.is_in_block() => self.in_block(last),
            None
            | Some(
                Token::BraceOpen
                | Token::BraceClose
                | Token::Semicolon
                | Token::BracketClose
                | Token::Doc
                | Token::Text
                | Token::ParenClose,
            ) => ExpectedWord::Declaration,
            Some(Token::Name) if self.last_word == "abstract" => ExpectedWord::Declaration,
            _ => ExpectedWord::Nothing,
        }
    }

    fn in_block(&self, last: Option<Token>) -> ExpectedWord {
        let is_enum = self.blocks.last().is_some_and(|(sort, _)| *sort == Sort::Enum);
        match last {
            Some(
                Token::BraceOpen | Token::Semicolon | Token::BracketClose | Token::Doc | Token::AngleOpen,
            ) if !is_enum => ExpectedWord::Type,
            _ => ExpectedWord::Nothing,
        }
    }

    fn in_brackets(&self, text: &str, all: &[(Token, Range<usize>)], known: usize) -> ExpectedWord {
        let begins = matches!(self.last, Some(Token::BracketOpen | Token::Semicolon));
        match (self.attribute, self.last) {
            (None, _) if !begins => ExpectedWord::Nothing,
            (None, _) if self.is_in_block() => ExpectedWord::Attribute(&METRIC_ATTRIBUTES),
            (None, _) => ExpectedWord::Attribute(&PROBE_ATTRIBUTES),
            (Some("unit"), Some(Token::ParenOpen)) => ExpectedWord::Unit { is_quoted: false },
            (Some("kind"), Some(Token::ParenOpen)) => ExpectedWord::Kind,
            (Some("warn" | "alarm"), Some(Token::ParenOpen | Token::Comma)) => {
                ExpectedWord::Enumerator(path_after(text, all.get(known..).unwrap_or_default()))
            }
            _ => ExpectedWord::Nothing,
        }
    }
}

/// The path that ends here: `A::B`, `::A`.
fn path_before(text: &str, tokens: &[(Token, Range<usize>)]) -> String {
    let mut words = Vec::new();
    let mut wanted = Token::Name;
    for (token, at) in tokens.iter().rev().take_while(|(token, _)| {
        let fits = *token == wanted;
        wanted = if wanted == Token::Name { Token::Scope } else { Token::Name };
        fits
    }) {
        let _ = token;
        words.push(text.get(at.clone()).unwrap_or_default());
    }
    words.reverse();
    words.concat()
}

/// The path of the type after these brackets.
fn path_after(text: &str, tokens: &[(Token, Range<usize>)]) -> String {
    let inside = tokens.iter().position(|(token, _)| *token == Token::BracketClose);
    let after = inside.and_then(|at| tokens.get(at + 1..)).unwrap_or_default();
    let mut path = String::new();
    for (token, at) in after {
        let word = text.get(at.clone()).unwrap_or_default();
        match token {
            Token::Name if matches!(word, "vector" | "blob") && path.is_empty() => {}
            Token::AngleOpen if path.is_empty() => {}
            Token::Scope => path.push_str(word),
            Token::Name if path.is_empty() || path.ends_with("::") => path.push_str(word),
            _ => break,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cursor stands at the `|`.
    fn at(marked: &str) -> (ExpectedWord, String) {
        let offset = marked.find('|').unwrap();
        let context = context(&marked.replacen('|', "", 1), offset);
        (context.wanted, context.scope)
    }

    fn wanted(marked: &str) -> ExpectedWord {
        at(marked).0
    }

    #[test]
    fn declarations_begin_where_others_end() {
        for text in [
            "|",
            "#include \"a.pdl\"\n|",
            "#pragma version (1.0) |",
            "struct A { }; |",
            "module M { |",
            "module M { } str|",
            "[version(1.0)] |",
            "/* a */ |",
            "abstract |",
        ] {
            assert_eq!(wanted(text), ExpectedWord::Declaration, "{text}");
        }
        assert_eq!(at("module A { module B { |").1, "A::B");
        assert_eq!(wanted("#|"), ExpectedWord::Directive);
        assert_eq!(wanted("#inc|"), ExpectedWord::Directive);
    }

    #[test]
    fn types_begin_metrics() {
        for text in [
            "struct A { |",
            "struct A { uint8 a; ui|",
            "probe A : B { [unit(\"s\")] |",
            "probe A { vector<|",
            "module M { struct A { /// Doc.\n |",
        ] {
            assert_eq!(wanted(text), ExpectedWord::Type, "{text}");
        }
        for text in ["struct A { uint8 |", "struct |", "enum A { |", "probe A { uint8 a, |"] {
            assert_eq!(wanted(text), ExpectedWord::Nothing, "{text}");
        }
    }

    #[test]
    fn attributes_are_those_of_what_follows() {
        assert_eq!(wanted("[|"), ExpectedWord::Attribute(&PROBE_ATTRIBUTES));
        assert_eq!(wanted("module M { [version(1.0); u|"), ExpectedWord::Attribute(&PROBE_ATTRIBUTES));
        assert_eq!(wanted("probe A { [|"), ExpectedWord::Attribute(&METRIC_ATTRIBUTES));
        assert_eq!(
            wanted("probe A { [unit(\"s\"); |] uint8 a; };"),
            ExpectedWord::Attribute(&METRIC_ATTRIBUTES)
        );
        assert_eq!(wanted("probe A { [kind(|"), ExpectedWord::Kind);
        assert_eq!(wanted("probe A { [kind(co|)] uint8 a; };"), ExpectedWord::Kind);
        assert_eq!(wanted("probe A { [unit(|"), ExpectedWord::Unit { is_quoted: false });
        assert_eq!(wanted("probe A { [unit(\"|"), ExpectedWord::Unit { is_quoted: true });
        assert_eq!(wanted("probe A { [unit(\"K|\")] uint8 a; };"), ExpectedWord::Unit { is_quoted: true });
        assert_eq!(wanted("probe A { [label(\"|\")] uint8 a; };"), ExpectedWord::Nothing);
        assert_eq!(wanted("probe A { [uuid(|"), ExpectedWord::Nothing);
    }

    #[test]
    fn limits_look_ahead_for_their_enum() {
        let enumerators = |path: &str| ExpectedWord::Enumerator(path.into());
        assert_eq!(wanted("struct A { [warn(|)] ::M::Mode mode; };"), enumerators("::M::Mode"));
        assert_eq!(wanted("struct A { [warn(IDLE, F|)] vector<Mode> mode; };"), enumerators("Mode"));
        assert_eq!(wanted("struct A { [warn(|"), enumerators(""));
    }

    #[test]
    fn paths_and_bases_are_distinguished() {
        assert_eq!(wanted("probe A : |"), ExpectedWord::Base);
        assert_eq!(wanted("probe A : Ba|"), ExpectedWord::Base);
        assert_eq!(wanted("enum A : |"), ExpectedWord::Carrier);
        let within = |path: &str, is_base| ExpectedWord::Within { path: path.into(), is_base };
        assert_eq!(wanted("probe A : M::|"), within("M", true));
        assert_eq!(wanted("struct A { ::M::N::P|"), within("::M::N", false));
        assert_eq!(wanted("struct A { ::|"), within("", false));
    }

    #[test]
    fn nothing_completes_in_comments() {
        for text in ["// |", "/* |", "/// |", "struct A { // |\n uint8 a; };", "/* | */", "#include \"|\""] {
            assert_eq!(wanted(text), ExpectedWord::Nothing, "{text}");
        }
    }
}
