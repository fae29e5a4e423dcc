//! Parses a CAN database: messages, signals, their multiplexing, value tables, units and comments. Other statements are skipped.

use crate::input::windows_1252;
use std::{collections::HashMap, iter::Peekable, str::Chars};

/// The bit of an extended identifier.
const EXTENDED_BIT: u32 = 0x8000_0000;
/// Most signals of a database, and most ranges and values of one.
const MAX_SIGNALS: usize = 65_536;
/// The statement of frames that no message owns.
const NO_MESSAGE: &str = "VECTOR__INDEPENDENT_SIG_MSG";

/// Statements without a meaning for values; each ends with a semicolon.
const SKIPPED_STATEMENTS: [&str; 15] = [
    "BA_DEF_",
    "BA_DEF_DEF_",
    "BA_DEF_REL_",
    "BA_DEF_DEF_REL_",
    "BA_DEF_SGTYPE_",
    "BA_REL_",
    "BA_SGTYPE_",
    "BO_TX_BU_",
    "ENVVAR_DATA_",
    "EV_",
    "SGTYPE_",
    "SGTYPE_VAL_",
    "SIG_GROUP_",
    "SIG_TYPE_REF_",
    "VAL_TABLE_",
];

/// A database.
#[derive(Debug, Default)]
pub struct Database {
    /// In the order of the file.
    pub messages: Vec<MessageDescription>,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageDescription {
    /// The identifier, without flags.
    pub id: u32,
    /// Whether the identifier has 29 bits.
    pub is_extended: bool,
    /// Its name.
    pub name: String,
    /// In the order of the file.
    pub signals: Vec<Signal>,
}

/// A signal of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// The number of its first bit.
    pub start: u32,
    /// Its bits, 1 to 64.
    pub bits: u32,
    /// Whether the least significant bit is the first one.
    pub is_little_endian: bool,
    /// Whether raw values have a sign.
    pub is_signed: bool,
    /// The form of raw values.
    pub form: SignalForm,
    /// The value of one raw step.
    pub factor: f64,
    /// The value of the raw 0.
    pub offset: f64,
    /// As it is written.
    pub unit: String,
    /// Its description.
    pub comment: Option<String>,
    /// Names of raw values.
    pub values: Vec<(i64, String)>,
    /// Whether it selects others.
    pub is_multiplexor: bool,
    /// The values of another signal with which it is present; none if it is always.
    pub selected_by: Option<Selection>,
}

/// The form of raw values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalForm {
    /// A whole number.
    Integer,
    /// IEEE 754, 32 bits.
    Real32,
    /// IEEE 754, 64 bits.
    Real64,
}

/// The condition of a multiplexed signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// The signal that selects it; none for the one multiplexor of the message.
    pub multiplexor: Option<String>,
    /// Raw values, inclusive.
    pub ranges: Vec<(u64, u64)>,
}

/// A statement that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadDatabase {
    /// The line, from 1.
    pub line: usize,
    /// Why.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Mark(char),
}

impl Database {
    /// Parses a file in UTF-8 or, as most are, in Windows-1252.
    ///
    /// # Errors
    /// If a statement is wrong.
    pub fn parse(content: &[u8]) -> Result<Self, BadDatabase> {
        let text = match str::from_utf8(content) {
            Ok(text) => text.trim_start_matches('\u{feff}').to_owned(),
            Err(_) => windows_1252::decode(content),
        };
        let mut parsing =
            Parsing { tokens: Tokens::new(&text), database: Self::default(), long: HashMap::new() };
        parsing.statements()?;
        Ok(parsing.finish())
    }
}

struct Tokens<'a> {
    characters: Peekable<Chars<'a>>,
    line: usize,
    peeked: Option<Token>,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { characters: text.chars().peekable(), line: 1, peeked: None }
    }

    fn next(&mut self) -> Option<Token> {
        if let Some(token) = self.peeked.take() {
            return Some(token);
        }
        while let Some(character) = self.characters.next_if(|character| character.is_whitespace()) {
            self.line += usize::from(character == '\n');
        }
        let first = self.characters.next()?;
        if is_mark(first) {
            return Some(Token::Mark(first));
        }
        if first == '"' {
            let mut text = String::new();
            while let Some(character) = self.characters.next() {
                self.line += usize::from(character == '\n');
                match character {
                    '"' => break,
                    '\\' if self.characters.peek() == Some(&'"') => text.extend(self.characters.next()),
                    other => text.push(other),
                }
            }
            return Some(Token::Text(text));
        }
        let mut word = String::from(first);
        while let Some(character) = self
            .characters
            .next_if(|character| !character.is_whitespace() && !is_mark(*character) && *character != '"')
        {
            word.push(character);
        }
        Some(Token::Word(word))
    }

    fn peek(&mut self) -> Option<&Token> {
        if self.peeked.is_none() {
            self.peeked = self.next();
        }
        self.peeked.as_ref()
    }
}

fn is_mark(character: char) -> bool {
    matches!(character, ':' | ';' | ',' | '|' | '@' | '(' | ')' | '[' | ']')
}

struct Parsing<'a> {
    tokens: Tokens<'a>,
    database: Database,
    /// Names longer than 32 characters, by message and signal.
    long: HashMap<(u32, Option<String>), String>,
}

impl Parsing<'_> {
    fn refuse<T>(&self, why: impl Into<String>) -> Result<T, BadDatabase> {
        Err(BadDatabase { line: self.tokens.line, why: why.into() })
    }

    fn word(&mut self) -> Result<String, BadDatabase> {
        match self.tokens.next() {
            Some(Token::Word(word)) => Ok(word),
            found => self.refuse(format!("expected a name or a number, found {}", shown(found.as_ref()))),
        }
    }

    fn text(&mut self) -> Result<String, BadDatabase> {
        match self.tokens.next() {
            Some(Token::Text(text)) => Ok(text),
            found => self.refuse(format!("expected a text, found {}", shown(found.as_ref()))),
        }
    }

    fn mark(&mut self, mark: char) -> Result<(), BadDatabase> {
        match self.tokens.next() {
            Some(Token::Mark(found)) if found == mark => Ok(()),
            found => self.refuse(format!("expected `{mark}`, found {}", shown(found.as_ref()))),
        }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, BadDatabase> {
        let word = self.word()?;
        word.parse().or_else(|_| self.refuse(format!("{word:?} is no number")))
    }

    fn statements(&mut self) -> Result<(), BadDatabase> {
        while let Some(token) = self.tokens.next() {
            let Token::Word(word) = token else { continue };
            match word.as_str() {
                "NS_" => self.skip_symbols(),
                "BO_" => self.message()?,
                "SG_" => self.signal()?,
                "VAL_" => self.values()?,
                "SIG_VALTYPE_" => self.form()?,
                "SG_MUL_VAL_" => self.selection()?,
                "CM_" => self.comment()?,
                "BA_" => self.attribute()?,
                skipped if SKIPPED_STATEMENTS.contains(&skipped) => self.skip_statement(),
                // Names of nodes and receivers.
                _ => {}
            }
        }
        Ok(())
    }

    /// The list of keywords ends with the first statement.
    fn skip_symbols(&mut self) {
        while !matches!(self.tokens.peek(), None | Some(Token::Word(_)))
            || matches!(self.tokens.peek(), Some(Token::Word(word)) if !matches!(word.as_str(), "BS_" | "BU_" | "BO_"))
        {
            if self.tokens.next().is_none() {
                return;
            }
        }
    }

    fn skip_statement(&mut self) {
        while !matches!(self.tokens.next(), None | Some(Token::Mark(';'))) {}
    }

    fn message(&mut self) -> Result<(), BadDatabase> {
        let id: u32 = self.number()?;
        let name = self.word()?;
        self.mark(':')?;
        let _: u32 = self.number()?;
        let (is_extended, id) = (id & EXTENDED_BIT != 0, id & !EXTENDED_BIT);
        self.database.messages.push(MessageDescription { id, is_extended, name, signals: Vec::new() });
        Ok(())
    }

    fn signal(&mut self) -> Result<(), BadDatabase> {
        let name = self.word()?;
        let mut multiplexing = String::new();
        if let Some(Token::Word(_)) = self.tokens.peek() {
            multiplexing = self.word()?;
        }
        self.mark(':')?;
        let start = self.number()?;
        self.mark('|')?;
        let bits: u32 = self.number()?;
        self.mark('@')?;
        let mut order = self.word()?;
        if order.len() == 1 {
            order += &self.word()?;
        }
        self.mark('(')?;
        let factor = self.number()?;
        self.mark(',')?;
        let offset = self.number()?;
        self.mark(')')?;
        self.mark('[')?;
        let _: f64 = self.number()?;
        self.mark('|')?;
        let _: f64 = self.number()?;
        self.mark(']')?;
        let unit = self.text()?;
        let (is_little_endian, is_signed) = match order.as_str() {
            "0+" => (false, false),
            "0-" => (false, true),
            "1+" => (true, false),
            "1-" => (true, true),
            _ => return self.refuse(format!("{order:?} is no byte order: expected 0+, 0-, 1+ or 1-")),
        };
        if !(1..=64).contains(&bits) {
            return self.refuse(format!("the signal {name:?} has {bits} bits, 1 to 64 are supported"));
        }
        let selector = multiplexing.strip_prefix('m').map(|selector| selector.trim_end_matches('M'));
        let selected_by = match selector {
            Some(number) => {
                let number = number
                    .parse()
                    .or_else(|_| self.refuse(format!("{multiplexing:?} is no multiplexing")))?;
                Some(Selection { multiplexor: None, ranges: vec![(number, number)] })
            }
            None => None,
        };
        let signals = self.database.messages.iter().map(|message| message.signals.len()).sum::<usize>();
        if signals >= MAX_SIGNALS {
            return self.refuse(format!("more than {MAX_SIGNALS} signals"));
        }
        let Some(message) = self.database.messages.last_mut() else {
            return self.refuse("a signal before the first message");
        };
        message.signals.push(Signal {
            name,
            start,
            bits,
            is_little_endian,
            is_signed,
            form: SignalForm::Integer,
            factor,
            offset,
            unit,
            comment: None,
            values: Vec::new(),
            is_multiplexor: multiplexing.ends_with('M'),
            selected_by,
        });
        Ok(())
    }

    /// The signal that a statement names.
    fn find(&mut self, id: u32, name: &str) -> Option<&mut Signal> {
        let (is_extended, id) = (id & EXTENDED_BIT != 0, id & !EXTENDED_BIT);
        let of = |message: &&mut MessageDescription| message.id == id && message.is_extended == is_extended;
        let message = self.database.messages.iter_mut().find(of)?;
        message.signals.iter_mut().find(|signal| signal.name == name)
    }

    fn values(&mut self) -> Result<(), BadDatabase> {
        // A statement with a name is about a variable of the environment.
        let Ok(id) = self.word()?.parse() else {
            self.skip_statement();
            return Ok(());
        };
        let name = self.word()?;
        let mut values = Vec::new();
        while let Some(Token::Word(number)) = self.tokens.next() {
            let number: f64 = number.parse().or_else(|_| self.refuse(format!("{number:?} is no number")))?;
            let text = self.text()?;
            if values.len() < MAX_SIGNALS {
                values.push((number as i64, text));
            }
        }
        if let Some(signal) = self.find(id, &name) {
            signal.values = values;
        }
        Ok(())
    }

    fn form(&mut self) -> Result<(), BadDatabase> {
        let (id, name) = (self.number()?, self.word()?);
        if self.tokens.peek() == Some(&Token::Mark(':')) {
            self.tokens.next();
        }
        let form = match self.word()?.as_str() {
            "1" => SignalForm::Real32,
            "2" => SignalForm::Real64,
            _ => SignalForm::Integer,
        };
        if let Some(signal) = self.find(id, &name) {
            signal.form = form;
        }
        Ok(())
    }

    fn selection(&mut self) -> Result<(), BadDatabase> {
        let (id, name, multiplexor) = (self.number()?, self.word()?, self.word()?);
        let mut ranges = Vec::new();
        loop {
            match self.tokens.next() {
                Some(Token::Word(range)) => {
                    let range = range
                        .split_once('-')
                        .and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
                    let Some(range) = range else { return self.refuse("expected a range such as 1-3") };
                    if ranges.len() < MAX_SIGNALS {
                        ranges.push(range);
                    }
                }
                Some(Token::Mark(',')) => {}
                _ => break,
            }
        }
        if let Some(signal) = self.find(id, &name) {
            signal.selected_by = Some(Selection { multiplexor: Some(multiplexor), ranges });
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), BadDatabase> {
        if self.tokens.peek() == Some(&Token::Word("SG_".into())) {
            self.tokens.next();
            let (id, name, text) = (self.number()?, self.word()?, self.text()?);
            if let Some(signal) = self.find(id, &name) {
                signal.comment = Some(text);
            }
        }
        self.skip_statement();
        Ok(())
    }

    fn attribute(&mut self) -> Result<(), BadDatabase> {
        let Some(Token::Text(attribute)) = self.tokens.next() else {
            self.skip_statement();
            return Ok(());
        };
        let is_message = attribute == "SystemMessageLongSymbol";
        if is_message || attribute == "SystemSignalLongSymbol" {
            self.word()?;
            let id = self.number()?;
            let signal = if is_message { None } else { Some(self.word()?) };
            let long = self.text()?;
            self.long.insert((id, signal), long);
        }
        self.skip_statement();
        Ok(())
    }

    /// Sets the long names, and removes messages that are none.
    fn finish(mut self) -> Database {
        for message in &mut self.database.messages {
            let id = message.id | if message.is_extended { EXTENDED_BIT } else { 0 };
            // Multiplexors are named by their short names.
            let names: HashMap<String, String> = message
                .signals
                .iter()
                .filter_map(|signal| {
                    let long = self.long.get(&(id, Some(signal.name.clone())))?;
                    Some((signal.name.clone(), long.clone()))
                })
                .collect();
            for signal in &mut message.signals {
                if let Some(long) = names.get(&signal.name) {
                    signal.name.clone_from(long);
                }
                let multiplexor = signal.selected_by.as_mut().and_then(|by| by.multiplexor.as_mut());
                if let Some(multiplexor) = multiplexor
                    && let Some(long) = names.get(multiplexor)
                {
                    multiplexor.clone_from(long);
                }
            }
            if let Some(long) = self.long.get(&(id, None)) {
                message.name.clone_from(long);
            }
        }
        self.database.messages.retain(|message| message.name != NO_MESSAGE);
        self.database
    }
}

fn shown(token: Option<&Token>) -> String {
    match token {
        None => "the end of the file".into(),
        Some(Token::Word(word)) => format!("{:?}", crate::visible::shortened(word)),
        Some(Token::Text(text)) => format!("the text {:?}", crate::visible::shortened(text)),
        Some(Token::Mark(mark)) => format!("`{mark}`"),
    }
}
