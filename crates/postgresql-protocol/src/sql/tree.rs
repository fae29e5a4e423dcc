//! Tokens in their brackets.

use super::token::{Kind, Token};
use crate::failure::{SqlFailure, code};

/// Deepest nesting of brackets; SQLite's own bound for expressions is the same.
const MAX_DEPTH: usize = 100;

/// A token, or what brackets enclose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A token.
    Leaf(Token),
    /// The content of brackets.
    Group {
        /// Whether they are square.
        is_square: bool,
        /// The content.
        nodes: Vec<Node>,
        /// Their begin.
        at: usize,
    },
}

impl Node {
    /// A word.
    pub fn word(word: &str, at: usize) -> Self {
        Self::Leaf(Token::new(Kind::Word, word, at))
    }

    /// An operator.
    pub fn operator(operator: &str, at: usize) -> Self {
        Self::Leaf(Token::new(Kind::Operator, operator, at))
    }

    /// A text.
    pub fn text(text: &str, at: usize) -> Self {
        Self::Leaf(Token::new(Kind::Text, super::token::quote(text), at))
    }

    /// Round brackets.
    pub fn group(nodes: Vec<Self>, at: usize) -> Self {
        Self::Group { is_square: false, nodes, at }
    }

    /// A call of a function.
    pub fn call(name: &str, arguments: Vec<Self>, at: usize) -> [Self; 2] {
        [Self::word(name, at), Self::group(arguments, at)]
    }

    /// Its begin.
    pub fn at(&self) -> usize {
        match self {
            Self::Leaf(token) => token.at,
            Self::Group { at, .. } => *at,
        }
    }

    /// The token, if it is one.
    pub fn leaf(&self) -> Option<&Token> {
        match self {
            Self::Leaf(token) => Some(token),
            Self::Group { .. } => None,
        }
    }

    /// Whether it is this keyword.
    pub fn is_word(&self, word: &str) -> bool {
        self.leaf().is_some_and(|token| token.is_word(word))
    }

    /// Whether it is this operator.
    pub fn is_operator(&self, operator: &str) -> bool {
        self.leaf().is_some_and(|token| token.is_operator(operator))
    }

    /// The content of round brackets.
    pub fn round(&self) -> Option<&[Self]> {
        match self {
            Self::Group { is_square: false, nodes, .. } => Some(nodes),
            _ => None,
        }
    }

    /// The content of square brackets.
    pub fn square(&self) -> Option<&[Self]> {
        match self {
            Self::Group { is_square: true, nodes, .. } => Some(nodes),
            _ => None,
        }
    }
}

/// Puts tokens into their brackets.
///
/// # Errors
/// If a bracket has no partner, or they nest too deeply.
pub fn nest(tokens: Vec<Token>) -> Result<Vec<Node>, SqlFailure> {
    let mut open: Vec<(Token, Vec<Node>)> = Vec::new();
    let mut nodes = Vec::new();
    for token in tokens {
        if token.kind != Kind::Bracket {
            nodes.push(Node::Leaf(token));
            continue;
        }
        if matches!(token.text.as_str(), "(" | "[") {
            if open.len() == MAX_DEPTH {
                return Err(SqlFailure::new(code::LIMIT, "brackets nest too deeply").at(token.at));
            }
            open.push((token, std::mem::take(&mut nodes)));
            continue;
        }
        let Some((opened, outer)) =
            open.pop().filter(|(opened, _)| (opened.text == "(") == (token.text == ")"))
        else {
            return Err(SqlFailure::new(code::SYNTAX, format!("unexpected {}", token.text)).at(token.at));
        };
        let inner = std::mem::replace(&mut nodes, outer);
        nodes.push(Node::Group { is_square: opened.text == "[", nodes: inner, at: opened.at });
    }
    match open.pop() {
        Some((opened, _)) => {
            Err(SqlFailure::new(code::SYNTAX, format!("{} has no end", opened.text)).at(opened.at))
        }
        None => Ok(nodes),
    }
}

/// Text for SQLite, with the origin of each part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub sql: String,
    /// Begins of parts in the text, and in the statement.
    places: Vec<(usize, usize)>,
}

impl Rendered {
    /// Writes nodes.
    pub fn of(nodes: &[Node]) -> Self {
        let mut rendered = Self::default();
        rendered.append(nodes);
        rendered
    }

    fn append(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.places.push((self.sql.len(), node.at()));
            match node {
                Node::Leaf(token) => self.sql.push_str(&token.text),
                Node::Group { nodes, .. } => {
                    self.sql.push('(');
                    self.append(nodes);
                    self.sql.push(')');
                }
            }
            self.sql.push(' ');
        }
    }

    /// Returns the byte of the statement that a byte of the text comes from.
    pub fn origin(&self, at: usize) -> usize {
        let next = self.places.partition_point(|(place, _)| *place <= at);
        next.checked_sub(1).map_or(0, |found| self.places[found].1)
    }
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    fn rendered(sql: &str) -> Result<Rendered, SqlFailure> {
        Ok(Rendered::of(&nest(tokens(sql)?)?))
    }

    #[test]
    fn places_of_the_text_lead_back_to_the_statement() {
        let text = rendered("SELECT  f( a )").unwrap();
        assert_eq!(text.sql, "SELECT f (a ) ");
        assert_eq!(text.origin(text.sql.find('a').unwrap()), 11);
        assert_eq!(text.origin(0), 0);
    }

    #[test]
    fn brackets_without_partners_are_refused() {
        for sql in ["(", ")", "(]", "([)]"] {
            assert!(rendered(sql).is_err(), "{sql}");
        }
        assert!(rendered(&"(".repeat(1_000)).unwrap_err().code == code::LIMIT);
    }
}
