//! Clauses that follow an event: a message, destinations, and commands to probes.

use super::{AlreadyReported, ParseResult, Parser};
use crate::{
    ast::{Action, Target},
    code::{Code, Diagnostic},
    evaluate::EventKind,
    lexer::Token,
    message::{self, MAX_MESSAGE, Part, Placeholder},
    program::Command,
};
use oasis_pdl::{Span, nearest};
use oasis_wire::quantity::Hertz;

/// The word that begins an action.
pub const WORD: &str = "on";
/// Most destinations of an alarm.
const MAX_DESTINATIONS: usize = 8;
/// Most actions of a rule.
const MAX_ACTIONS: usize = 8;
/// The word for no destination.
const NOBODY: &str = "none";
/// The rate of the first one follows in the text.
const COMMANDS: [(&str, Command); 7] = [
    ("hertz", Command::Hertz(Hertz::ONE)),
    ("enable", Command::Enable),
    ("disable", Command::Disable),
    ("sample-now", Command::SampleNow),
    ("trigger", Command::Trigger),
    ("demand", Command::Demand),
    ("demand-off", Command::DemandOff),
];

impl Parser<'_> {
    /// `"Pump {node} is hot"`
    pub(super) fn message(&mut self) -> ParseResult<String> {
        let text = self.quoted("the message")?;
        if text.text.len() > MAX_MESSAGE {
            let message = format!("message of {} bytes: at most {MAX_MESSAGE} are allowed", text.text.len());
            return Err(self.report(Diagnostic::new(Code::TooLarge, text.span, message, "too long")));
        }
        if text.text.trim().is_empty() || text.text.contains(char::is_control) {
            let message = "a message has printable text on one line";
            return Err(self.report(Diagnostic::new(Code::BadMessage, text.span, message, "no such text")));
        }
        let mut start = text.span.start + 1;
        for part in message::parts(&text.text) {
            match part {
                Part::Text(part) => start += part.len(),
                // With its braces.
                Part::Placeholder(placeholder) => start += placeholder.name().len() + 2,
                Part::Wrong(part) => {
                    let place = Span { start, end: start + part.len(), ..text.span };
                    return Err(self.wrong_placeholder(part, place));
                }
            }
        }
        Ok(text.text)
    }

    fn wrong_placeholder(&mut self, found: &str, place: Span) -> AlreadyReported {
        let names = Placeholder::ALL.map(|(name, _)| name);
        let help = match nearest(found.trim_matches(['{', '}']), names.into_iter()) {
            Some(known) => format!("did you mean `{{{known}}}`?"),
            None => format!("write one of {}", names.map(|name| format!("{{{name}}}")).join(", ")),
        };
        let message = format!("`{found}` is no placeholder");
        self.report(Diagnostic::new(Code::BadMessage, place, message, "not known").help(help))
    }

    /// `mail, "night shift"` or `none`
    pub(super) fn destinations(&mut self) -> ParseResult<Vec<String>> {
        if self.eat_word(NOBODY) {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        loop {
            let span = self.span();
            let name = self.destination()?;
            if names.len() == MAX_DESTINATIONS {
                let message = format!("more than {MAX_DESTINATIONS} destinations");
                return Err(self.report(Diagnostic::new(Code::TooLarge, span, message, "one too many")));
            }
            if names.contains(&name) {
                let message = format!("duplicate destination `{name}`");
                return Err(self.report(Diagnostic::new(Code::DuplicateName, span, message, "again here")));
            }
            names.push(name);
            if !self.eat(Token::Comma) {
                return Ok(names);
            }
        }
    }

    fn destination(&mut self) -> ParseResult<String> {
        if self.peek() != Token::Text {
            let is_nobody = self.word() == NOBODY;
            return if is_nobody {
                Err(self.unexpected("a destination"))
            } else {
                Ok(self.name("a destination")?.text)
            };
        }
        let name = self.quoted("a destination")?;
        if name.text.len() > super::MAX_NAME {
            let message =
                format!("name of {} bytes: at most {} are allowed", name.text.len(), super::MAX_NAME);
            return Err(self.report(Diagnostic::new(Code::TooLarge, name.span, message, "too long")));
        }
        if name.text.trim().is_empty() || name.text.contains(char::is_control) {
            let message = "the name of a destination has printable text";
            return Err(self.report(Diagnostic::new(Code::BadMessage, name.span, message, "no such text")));
        }
        Ok(name.text)
    }

    /// `raised hertz 100 "NODE/INSTANCE"`, after `on`.
    pub(super) fn action(&mut self, kinds: &[EventKind], actions: &mut Vec<Action>) -> ParseResult<()> {
        let start = self.span();
        let words: Vec<_> = kinds.iter().map(|kind| (kind.name(), *kind)).collect();
        let on = self.one_of(&words, "what the rule acts on")?;
        let command = self.command()?;
        let target = if self.peek() == Token::Text {
            Target::Pattern(self.quoted("node and instance")?)
        } else {
            Target::Input(self.name("an input, or NODE/INSTANCE in double quotes")?)
        };
        if actions.len() == MAX_ACTIONS {
            let place = self.span_from(start);
            let message = format!("more than {MAX_ACTIONS} actions in one rule");
            return Err(self.report(Diagnostic::new(Code::TooLarge, place, message, "one too many")));
        }
        actions.push(Action { on, command, target });
        Ok(())
    }

    fn command(&mut self) -> ParseResult<Command> {
        let second = self.hyphenated();
        let command = match second {
            // The words of a command with a hyphen stand together.
            Some(end) => {
                let place = Span { end, ..self.span() };
                let word = self.slice(place).to_owned();
                let Some((_, command)) = COMMANDS.into_iter().find(|(name, _)| *name == word) else {
                    return self.one_of(&COMMANDS, "a command");
                };
                self.at += 3;
                command
            }
            None => self.one_of(&COMMANDS, "a command")?,
        };
        match command {
            Command::Hertz(_) => self.hertz().map(Command::Hertz),
            command => Ok(command),
        }
    }

    /// The end of two words with a hyphen and no blanks between them, if they begin here.
    fn hyphenated(&self) -> Option<usize> {
        let [(Token::Name, first), (Token::Minus, hyphen), (Token::Name, second)] =
            self.tokens.get(self.at..self.at + 3)?
        else {
            return None;
        };
        (first.end == hyphen.start && hyphen.end == second.start).then_some(second.end)
    }

    /// A number without a unit.
    fn hertz(&mut self) -> ParseResult<Hertz> {
        if self.peek() != Token::Number {
            return Err(self.unexpected("a rate in hertz"));
        }
        let span = self.advance();
        let rate = self.slice(span).parse().ok().and_then(|hertz| Hertz::new(hertz).ok());
        rate.ok_or_else(|| {
            let message = format!("a rate is {} to {} Hz", Hertz::MIN, Hertz::MAX);
            self.report(Diagnostic::new(Code::BadRate, span, message, "out of range"))
        })
    }
}
