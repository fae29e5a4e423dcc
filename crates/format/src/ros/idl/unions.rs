//! Unions and bitmasks.

use super::{
    super::definitions::BadText,
    annotations::Annotations,
    constants::literal,
    declarations::{Bitmask, Case, Declared, Label, Member, MemberId, Reading, Union},
    tokens::Token,
};
use crate::visible::shortened;
use std::{collections::HashSet, rc::Rc};

impl Reading<'_> {
    /// Reads a union after its keyword.
    pub fn union(&mut self, module: &Rc<str>, annotations: &Annotations) -> Result<(), BadText> {
        let name = self.tokens.word()?.to_owned();
        if self.tokens.peek() == Token::Sign(';') {
            // A forward declaration.
            return Ok(());
        }
        if self.tokens.word()? != "switch" {
            return Err(self.tokens.error("expected switch"));
        }
        self.tokens.expect('(')?;
        self.annotations(module)?;
        let discriminator = self.kind(module, 0)?;
        self.tokens.expect(')')?;
        let mut of = Union { discriminator, cases: Vec::new(), extensibility: annotations.extensibility };
        let mut names = HashSet::new();
        self.tokens.expect('{')?;
        while !self.tokens.take_sign('}')? {
            let case = self.case(module)?;
            if !names.insert(case.member.name.clone()) {
                let name = shortened(&case.member.name);
                return Err(self.tokens.error(&format!("the name {name:?} again")));
            }
            of.cases.push(case);
        }
        self.declare(module, &name, Declared::Union(of));
        Ok(())
    }

    /// Reads the labels of a member, and the member.
    fn case(&mut self, module: &Rc<str>) -> Result<Case, BadText> {
        let (mut labels, mut is_default) = (Vec::new(), false);
        loop {
            if self.tokens.take_word("case")? {
                self.count()?;
                labels.push(self.label()?);
            } else if self.tokens.take_word("default")? {
                is_default = true;
            } else if labels.is_empty() && !is_default {
                return Err(self.tokens.error("expected case or default"));
            } else {
                break;
            }
            self.tokens.expect(':')?;
        }
        self.count()?;
        let annotations = self.annotations(module)?;
        let kind = self.kind(module, 0)?;
        let mut declared = self.declarators(module, &kind)?;
        self.tokens.expect(';')?;
        match (declared.pop(), declared.is_empty()) {
            (Some((name, of)), true) => {
                let member =
                    Member { name, of, unit: annotations.unit, is_optional: false, id: MemberId::Next };
                Ok(Case { labels, is_default, member })
            }
            _ => Err(self.tokens.error("expected one name")),
        }
    }

    fn label(&mut self) -> Result<Label, BadText> {
        if let Token::Text(text) = self.tokens.peek() {
            self.tokens.take()?;
            let &[letter] = text.as_bytes() else { return Err(self.tokens.error("expected one letter")) };
            return Ok(Label::Number(letter.into()));
        }
        let is_negative = self.tokens.take_sign('-')?;
        let word = self.tokens.word()?;
        Ok(match (word, literal(word)) {
            ("TRUE", _) => Label::Number(1),
            ("FALSE", _) => Label::Number(0),
            (_, Some(number)) if is_negative => Label::Number(number.wrapping_neg()),
            (_, Some(number)) => Label::Number(number),
            (name, None) => Label::Name(name.to_owned()),
        })
    }

    /// Reads a bitmask after its keyword.
    pub fn bitmask(&mut self, module: &Rc<str>, annotations: &Annotations) -> Result<(), BadText> {
        let name = self.tokens.word()?.to_owned();
        let mut of = Bitmask { flags: Vec::new(), bits: annotations.bits.unwrap_or(32) };
        self.tokens.expect('{')?;
        let mut next = 0;
        while !self.tokens.take_sign('}')? {
            self.count()?;
            let annotations = self.annotations(module)?;
            let flag = self.tokens.word()?.to_owned();
            let position = annotations.position.unwrap_or(next);
            next = position.saturating_add(1);
            of.flags.push((flag, position));
            self.tokens.take_sign(',')?;
        }
        self.declare(module, &name, Declared::Bitmask(of));
        Ok(())
    }
}
