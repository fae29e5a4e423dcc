//! `input`, `alarm`, `event`, `derive` and `check`.

use super::{ParseResult, Parser};
use crate::{
    ast::{
        Alarm, Check, Declaration, Derive, Event, Input, Kind, Name, OnUnknown, Severity, SustainedCondition,
    },
    code::{Code, Diagnostic},
    evaluate::EventKind,
    lexer::Token,
};
use oasis_pdl::{Span, nearest};

/// The words that begin declarations.
pub const KEYWORDS: [&str; 5] = ["input", "alarm", "event", "derive", "check"];
/// Most fields of a derived instance.
const MAX_FIELDS: usize = 64;
const CLAUSES: [&str; 8] =
    ["raise", "clear", "severity", "latch", "on_unknown", "message", "notify", super::action::WORD];
/// The kinds of events that an alarm can act on.
const OF_ALARM: [EventKind; 2] = [EventKind::Raised, EventKind::Cleared];
/// The kinds of events that an event can act on.
const OF_EVENT: [EventKind; 2] = [EventKind::Matched, EventKind::Violated];

impl Parser<'_> {
    pub(super) fn declaration(&mut self) -> ParseResult<Declaration> {
        let keyword = self.word().to_owned();
        if !KEYWORDS.contains(&&*keyword) {
            return Err(self.no_declaration());
        }
        self.advance();
        let name = self.name(&format!("the {keyword}"))?;
        let kind = match &*keyword {
            "input" => Kind::Input(self.input()?),
            "alarm" => Kind::Alarm(self.alarm()?),
            "event" => Kind::Event(self.event()?),
            "derive" => Kind::Derive(self.derive()?),
            _ => Kind::Check(self.check()?),
        };
        if !matches!(kind, Kind::Input(_)) {
            // `};` is how blocks end in PDL.
            self.eat(Token::Semicolon);
        }
        Ok(Declaration { name, kind })
    }

    fn no_declaration(&mut self) -> super::AlreadyReported {
        let known = match self.word() {
            "rule" | "alert" | "trigger" => Some("alarm"),
            word => nearest(word, KEYWORDS.into_iter()),
        };
        let message = "expected a declaration";
        let label = "expected `input`, `alarm`, `event`, `derive` or `check`";
        let wrong = Diagnostic::new(Code::UnexpectedToken, self.span(), message, label);
        self.report(Diagnostic { help: known.map(|known| format!("did you mean `{known}`?")), ..wrong })
    }

    fn input(&mut self) -> ParseResult<Input> {
        self.expect(Token::Assign, "after the name of the input")?;
        let pattern = self.quoted("node and instance")?;
        self.expect(Token::Colon, "before the probe type")?;
        // Types of other programs' recordings can have any name.
        let probe_type =
            if self.peek() == Token::Text { self.quoted("the probe type")? } else { self.scoped()? };
        self.expect(Token::Semicolon, "after the probe type")?;
        Ok(Input { pattern, probe_type })
    }

    /// `Module::Type`
    fn scoped(&mut self) -> ParseResult<Name> {
        let Name { mut text, mut span } = self.name("the probe type")?;
        while self.eat(Token::Scope) {
            let part = self.name("the probe type")?;
            text = format!("{text}::{}", part.text);
            span = span.to(part.span);
        }
        Ok(Name { text, span })
    }

    fn alarm(&mut self) -> ParseResult<Alarm> {
        let open = self.expect(Token::BraceOpen, "after the name of the alarm")?;
        let mut alarm = Alarm::default();
        let mut seen: Vec<Name> = Vec::new();
        while !self.eat(Token::BraceClose) {
            let clause = Name { text: self.word().to_owned(), span: self.span() };
            self.clause(&mut alarm)?;
            self.expect(Token::Semicolon, &format!("after `{}`", clause.text))?;
            if clause.text == super::action::WORD {
                continue;
            }
            if let Some(first) = seen.iter().find(|seen| seen.text == clause.text) {
                let message = format!("duplicate `{}`", clause.text);
                let wrong = Diagnostic::new(Code::RepeatedClause, clause.span, message, "again here");
                return Err(self.report(wrong.related(first.span, "first here")));
            }
            seen.push(clause);
        }
        if alarm.raise.is_none() {
            let wrong = Diagnostic::new(Code::MissingClause, open, "alarm without `raise`", "in this block");
            return Err(self.report(wrong.help("add `raise CONDITION for DURATION;`")));
        }
        Ok(alarm)
    }

    fn clause(&mut self, alarm: &mut Alarm) -> ParseResult<()> {
        let word = self.word().to_owned();
        if !CLAUSES.contains(&&*word) {
            let clauses = CLAUSES.map(|clause| (clause, ()));
            return self.one_of(&clauses, "a clause of an alarm");
        }
        self.advance();
        match &*word {
            "raise" => alarm.raise = Some(self.held()?),
            "clear" => alarm.clear = Some(self.held()?),
            "severity" => alarm.severity = Some(self.one_of(&Severity::ALL, "a severity")?),
            "on_unknown" => alarm.on_unknown = Some(self.one_of(&OnUnknown::ALL, "what to do")?),
            "message" => alarm.message = Some(self.message()?),
            "notify" => alarm.notify = Some(self.destinations()?),
            "latch" => alarm.latch = true,
            _ => self.action(&OF_ALARM, &mut alarm.actions)?,
        }
        Ok(())
    }

    fn held(&mut self) -> ParseResult<SustainedCondition> {
        let condition = self.expression()?;
        let duration = if self.eat_word("for") { self.duration()?.0 } else { 0 };
        Ok(SustainedCondition { condition, duration })
    }

    fn event(&mut self) -> ParseResult<Event> {
        self.expect(Token::BraceOpen, "after the name of the event")?;
        self.expect_word("when", "at the beginning of the event")?;
        let when = self.expression()?;
        let mut then = None;
        if self.eat_word("then") {
            let condition = self.expression()?;
            self.expect_word("within", "and a duration after the second condition")?;
            then = Some((condition, self.duration()?.0));
        }
        self.expect(Token::Semicolon, "after the event")?;
        let mut actions = Vec::new();
        while self.eat_word(super::action::WORD) {
            self.action(&OF_EVENT, &mut actions)?;
            self.expect(Token::Semicolon, "after the action")?;
        }
        self.expect(Token::BraceClose, "after the event")?;
        Ok(Event { when, then, actions })
    }

    fn derive(&mut self) -> ParseResult<Derive> {
        self.expect_word("every", "and a duration after the name")?;
        let (every, _) = self.duration()?;
        let open = self.expect(Token::BraceOpen, "after the duration")?;
        let mut fields: Vec<(Name, _)> = Vec::new();
        while !self.eat(Token::BraceClose) {
            let name = self.name("a field")?;
            self.expect(Token::Assign, "after the name of the field")?;
            let expression = self.expression()?;
            self.expect(Token::Semicolon, "after the field")?;
            self.check_field(&fields, &name)?;
            fields.push((name, expression));
        }
        if fields.is_empty() {
            let message = "derived instance without fields";
            let wrong = Diagnostic::new(Code::MissingClause, open, message, "in this block");
            return Err(self.report(wrong.help("add `NAME = EXPRESSION;`")));
        }
        Ok(Derive { every, fields })
    }

    fn check_field<T>(&mut self, fields: &[(Name, T)], name: &Name) -> ParseResult<()> {
        if let Some((first, _)) = fields.iter().find(|(first, _)| first.text == name.text) {
            let message = format!("duplicate field `{}`", name.text);
            let wrong = Diagnostic::new(Code::DuplicateName, name.span, message, "again here");
            return Err(self.report(wrong.related(first.span, "first here")));
        }
        if fields.len() == MAX_FIELDS {
            let message = format!("more than {MAX_FIELDS} fields");
            return Err(self.report(Diagnostic::new(Code::TooLarge, name.span, message, "one too many")));
        }
        Ok(())
    }

    fn check(&mut self) -> ParseResult<Check> {
        self.expect(Token::BraceOpen, "after the name of the check")?;
        self.expect_word("after", "at the beginning of the check")?;
        let after = self.expression()?;
        self.expect(Token::Colon, "after the condition")?;
        self.expect_word("always", "after `:`")?;
        let (from, to) = self.interval()?;
        let always = self.expression()?;
        self.expect(Token::Semicolon, "after the check")?;
        self.expect(Token::BraceClose, "after the check")?;
        Ok(Check { after, from, to, always })
    }

    /// `[0s, 5s]`
    fn interval(&mut self) -> ParseResult<(u64, u64)> {
        self.expect(Token::BracketOpen, "after `always`: write `always[0s, 5s]`")?;
        let (from, first): (u64, Span) = self.instant()?;
        self.expect(Token::Comma, "between the two durations")?;
        let (to, second) = self.duration()?;
        self.expect(Token::BracketClose, "after the second duration")?;
        if to < from {
            let message = "the interval ends before it begins";
            let wrong = Diagnostic::new(Code::BadDuration, second, message, "end");
            return Err(self.report(wrong.related(first, "begin")));
        }
        Ok((from, to))
    }
}
