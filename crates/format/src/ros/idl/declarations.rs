//! The declarations of a text: structs, unions, enums, bitmasks, other names of types, and constants, by their scoped names.

use super::{
    super::definitions::BadText,
    annotations::Annotations,
    tokens::{Token, Tokens},
};
use crate::{ros::extensibility::Extensibility, visible::shortened};
use oasis_wire::schema::{MAX_DEPTH, MAX_MEMBERS};
use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// A type as it is declared.
#[derive(Debug)]
pub enum Declared {
    Struct(Struct),
    Union(Union),
    Enum(Enum),
    Bitmask(Bitmask),
    Alias(Type),
    /// A declaration that no member of a read message may have, such as a bitset.
    Unsupported(String),
}

/// The members of a message.
#[derive(Debug, Default)]
pub struct Struct {
    /// The struct whose members come first.
    pub base: Option<Type>,
    pub members: Vec<Member>,
    pub extensibility: Option<Extensibility>,
}

/// A member of a struct.
#[derive(Debug)]
pub struct Member {
    pub name: String,
    pub of: Type,
    pub unit: Option<String>,
    pub is_optional: bool,
    pub id: MemberId,
}

/// The number of a member in a mutable type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberId {
    /// That of the member before it, plus 1.
    Next,
    /// A stated one.
    Number(u32),
    /// A hash of its name.
    Hash,
}

/// A choice among members.
#[derive(Debug)]
pub struct Union {
    pub discriminator: Type,
    pub cases: Vec<Case>,
    pub extensibility: Option<Extensibility>,
}

/// A member of a union.
#[derive(Debug)]
pub struct Case {
    pub labels: Vec<Label>,
    pub is_default: bool,
    pub member: Member,
}

/// A value of a discriminator.
#[derive(Debug)]
pub enum Label {
    Number(i64),
    /// The name of a constant or of a value of an enum.
    Name(String),
}

/// Named bits.
#[derive(Debug)]
pub struct Bitmask {
    /// Names and positions.
    pub flags: Vec<(String, u32)>,
    /// Bits of its numbers.
    pub bits: u32,
}

/// Named numbers.
#[derive(Debug)]
pub struct Enum {
    pub values: Vec<(String, i64)>,
    /// Bits of its numbers.
    pub bits: u32,
}

/// A type as it is used.
#[derive(Debug, Clone)]
pub enum Type {
    /// A number, `boolean`, `string` or `wstring`, by its name in definitions of ROS.
    Primitive(&'static str),
    /// A declared one, used in a module.
    Named {
        name: String,
        module: Rc<str>,
    },
    Sequence(Box<Type>),
    Array(Box<Type>, u32),
    /// One that no message may have.
    Unsupported(String),
}

/// All declarations.
#[derive(Debug, Default)]
pub struct Declarations {
    types: HashMap<String, Declared>,
    pub(super) constants: HashMap<String, i64>,
}

impl Declarations {
    pub fn read(text: &str) -> Result<Self, BadText> {
        let tokens = Tokens::new(text)?;
        let mut reading = Reading { tokens, all: Self::default(), left: MAX_MEMBERS, has_hashed_ids: false };
        reading.module(&Rc::from(""), 0)?;
        match reading.tokens.peek() {
            Token::End => Ok(reading.all),
            _ => Err(reading.tokens.error("expected a declaration")),
        }
    }

    /// Finds a type that a module names: in itself, then in those around it.
    pub fn find(&self, module: &str, name: &str) -> Option<(&String, &Declared)> {
        scoped(module, name).find_map(|full| self.types.get_key_value(&full))
    }

    /// Finds a constant that a module names.
    pub fn constant(&self, module: &str, name: &str) -> Option<i64> {
        scoped(module, name).find_map(|full| self.constants.get(&full).copied())
    }
}

/// The full names that a name can have in a module, the innermost first.
fn scoped(module: &str, name: &str) -> impl Iterator<Item = String> {
    let absolute = name.strip_prefix("::");
    let around = std::iter::successors(absolute.is_none().then_some(module), |inner| {
        (!inner.is_empty()).then(|| inner.rsplit_once("::").map_or("", |(outer, _)| outer))
    });
    let names: Vec<String> = match absolute {
        Some(name) => vec![name.to_owned()],
        None => around.map(|module| joined(module, name)).collect(),
    };
    names.into_iter()
}

pub(super) fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// A text while it is read.
pub(super) struct Reading<'a> {
    pub(super) tokens: Tokens<'a>,
    pub(super) all: Declarations,
    /// Declarations and members that may follow.
    left: usize,
    /// Whether an annotation of a module around makes numbers of members from their names.
    has_hashed_ids: bool,
}

impl Reading<'_> {
    /// Reads declarations up to the end of the module.
    fn module(&mut self, module: &Rc<str>, depth: usize) -> Result<(), BadText> {
        if depth > MAX_DEPTH {
            return Err(self.tokens.error("modules are nested too deep"));
        }
        while !matches!(self.tokens.peek(), Token::End | Token::Sign('}')) {
            self.declaration(module, depth)?;
        }
        Ok(())
    }

    fn declaration(&mut self, module: &Rc<str>, depth: usize) -> Result<(), BadText> {
        self.count()?;
        let annotations = self.annotations(module)?;
        match self.tokens.word()? {
            "module" => {
                let inner = Rc::from(joined(module, self.tokens.word()?));
                let around = self.has_hashed_ids;
                self.has_hashed_ids |= annotations.has_hashed_ids;
                self.tokens.expect('{')?;
                self.module(&inner, depth + 1)?;
                self.tokens.expect('}')?;
                self.has_hashed_ids = around;
                // Some programs omit the semicolon.
                self.tokens.take_sign(';')?;
                return Ok(());
            }
            "struct" => self.structure(module, &annotations)?,
            "union" => self.union(module, &annotations)?,
            "enum" => self.enumeration(module, &annotations)?,
            "bitmask" => self.bitmask(module, &annotations)?,
            "typedef" => {
                let of = self.kind(module, 0)?;
                for (name, of) in self.declarators(module, &of)? {
                    self.declare(module, &name, Declared::Alias(of));
                }
            }
            "const" => self.constant(module)?,
            kind @ ("bitset" | "interface" | "valuetype") => {
                let name = self.tokens.word()?.to_owned();
                self.skip_body()?;
                self.declare(module, &name, Declared::Unsupported(kind.to_owned()));
            }
            other => {
                return Err(self.tokens.error(&format!("unknown declaration {:?}", shortened(other))));
            }
        }
        self.tokens.expect(';')
    }

    pub(super) fn count(&mut self) -> Result<(), BadText> {
        self.left = self.left.checked_sub(1).ok_or(BadText::Many)?;
        Ok(())
    }

    /// Keeps the first declaration of a name: files that were included twice follow each other without their guards.
    pub(super) fn declare(&mut self, module: &str, name: &str, of: Declared) {
        self.all.types.entry(joined(module, name)).or_insert(of);
    }

    fn structure(&mut self, module: &Rc<str>, annotations: &Annotations) -> Result<(), BadText> {
        let name = self.tokens.word()?.to_owned();
        if self.tokens.peek() == Token::Sign(';') {
            // A forward declaration.
            return Ok(());
        }
        let mut of = Struct { extensibility: annotations.extensibility, ..Struct::default() };
        let mut names = HashSet::new();
        if self.tokens.take_sign(':')? {
            of.base = Some(self.kind(module, 0)?);
        }
        self.tokens.expect('{')?;
        while !self.tokens.take_sign('}')? {
            let member = self.annotations(module)?;
            let has_hashed_ids = self.has_hashed_ids || annotations.has_hashed_ids;
            let kind = self.kind(module, 0)?;
            for (name, kind) in self.declarators(module, &kind)? {
                self.count()?;
                if !names.insert(name.clone()) {
                    return Err(self.tokens.error(&format!("the name {:?} again", shortened(&name))));
                }
                let id = match member.id {
                    MemberId::Next if has_hashed_ids => MemberId::Hash,
                    id => id,
                };
                let (unit, is_optional) = (member.unit.clone(), member.is_optional);
                of.members.push(Member { name, of: kind, unit, is_optional, id });
            }
            self.tokens.expect(';')?;
        }
        self.declare(module, &name, Declared::Struct(of));
        Ok(())
    }

    fn enumeration(&mut self, module: &Rc<str>, annotations: &Annotations) -> Result<(), BadText> {
        let name = self.tokens.word()?.to_owned();
        let mut of = Enum { values: Vec::new(), bits: annotations.bits.unwrap_or(32) };
        self.tokens.expect('{')?;
        let mut next = 0_i64;
        while !self.tokens.take_sign('}')? {
            self.count()?;
            let annotations = self.annotations(module)?;
            let enumerator = self.tokens.word()?;
            let value = annotations.value.unwrap_or(next);
            next = value.saturating_add(1);
            of.values.push((enumerator.to_owned(), value));
            self.all.constants.insert(joined(module, enumerator), value);
            self.tokens.take_sign(',')?;
        }
        self.declare(module, &name, Declared::Enum(of));
        Ok(())
    }

    /// Names with the sizes of arrays: `a, b[3][2]`.
    pub(super) fn declarators(
        &mut self,
        module: &Rc<str>,
        of: &Type,
    ) -> Result<Vec<(String, Type)>, BadText> {
        let mut all = Vec::new();
        loop {
            self.count()?;
            let name = self.tokens.word()?.to_owned();
            let mut sizes = Vec::new();
            while self.tokens.take_sign('[')? {
                sizes.push(self.size(module)?);
                self.tokens.expect(']')?;
                if sizes.len() > MAX_DEPTH {
                    return Err(self.tokens.error("an array has too many dimensions"));
                }
            }
            let kind = sizes.into_iter().rev().fold(of.clone(), |of, size| Type::Array(Box::new(of), size));
            all.push((name, kind));
            if !self.tokens.take_sign(',')? {
                return Ok(all);
            }
        }
    }

    pub(super) fn kind(&mut self, module: &Rc<str>, depth: usize) -> Result<Type, BadText> {
        if depth > MAX_DEPTH {
            return Err(self.tokens.error("sequences are nested too deep"));
        }
        Ok(match self.tokens.word()? {
            "unsigned" => match self.tokens.word()? {
                "short" => Type::Primitive("uint16"),
                "long" if self.tokens.take_word("long")? => Type::Primitive("uint64"),
                "long" => Type::Primitive("uint32"),
                _ => return Err(self.tokens.error("expected short or long")),
            },
            "long" if self.tokens.take_word("long")? => Type::Primitive("int64"),
            "long" if self.tokens.take_word("double")? => Type::Unsupported("long double".into()),
            "long" | "int32" => Type::Primitive("int32"),
            "short" | "int16" => Type::Primitive("int16"),
            "int8" => Type::Primitive("int8"),
            "int64" => Type::Primitive("int64"),
            "uint8" | "octet" | "char" => Type::Primitive("uint8"),
            "uint16" => Type::Primitive("uint16"),
            "uint32" => Type::Primitive("uint32"),
            "uint64" => Type::Primitive("uint64"),
            "float" => Type::Primitive("float32"),
            "double" => Type::Primitive("float64"),
            "boolean" => Type::Primitive("bool"),
            text @ ("string" | "wstring") => {
                let of = if text == "string" { "string" } else { "wstring" };
                if self.tokens.take_sign('<')? {
                    self.bound(module)?;
                    self.tokens.expect('>')?;
                }
                Type::Primitive(of)
            }
            "sequence" => {
                self.tokens.expect('<')?;
                let of = self.kind(module, depth + 1)?;
                if self.tokens.take_sign(',')? {
                    self.bound(module)?;
                }
                self.tokens.expect('>')?;
                Type::Sequence(Box::new(of))
            }
            other @ ("wchar" | "any" | "Object") => Type::Unsupported(other.to_owned()),
            other @ ("map" | "fixed") => {
                self.skip_parameters()?;
                Type::Unsupported(other.to_owned())
            }
            name => Type::Named { name: name.to_owned(), module: module.clone() },
        })
    }

    fn skip_parameters(&mut self) -> Result<(), BadText> {
        let mut open = 0_usize;
        loop {
            match self.tokens.take()? {
                Token::Sign('<') => open += 1,
                Token::Sign('>') if open <= 1 => return Ok(()),
                Token::Sign('>') => open -= 1,
                Token::End => return Err(self.tokens.error("expected '>'")),
                _ => {}
            }
        }
    }

    /// Skips up to the end of the body.
    fn skip_body(&mut self) -> Result<(), BadText> {
        let mut open = 0_usize;
        loop {
            match self.tokens.peek() {
                Token::Sign('{') => open += 1,
                Token::Sign('}') => open = open.saturating_sub(1),
                Token::Sign(';') if open == 0 => return Ok(()),
                Token::End => return Err(self.tokens.error("expected '}'")),
                _ => {}
            }
            self.tokens.take()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Declarations::read(text).unwrap_err().to_string()
    }

    #[test]
    fn names_are_found_in_the_modules_around() {
        let text = "const long N = 0x10; module a { module msg { enum E { A, @value(7) B, C }; typedef double d[N]; struct S { E e; b::T t; }; }; }; module b { struct T { long x; }; };";
        let all = Declarations::read(text).unwrap();
        let found = |module: &str, name: &str| all.find(module, name).map(|(name, _)| name.as_str());
        assert_eq!(found("a::msg", "S"), Some("a::msg::S"));
        assert_eq!(found("a::msg", "b::T"), Some("b::T"));
        assert_eq!(found("a::msg", "::b::T"), Some("b::T"));
        assert_eq!(found("b", "S"), None);
        let Some((_, Declared::Enum(of))) = all.find("a::msg", "E") else { panic!("{all:?}") };
        assert_eq!(of.values, [("A".into(), 0), ("B".into(), 7), ("C".into(), 8)]);
        let Some((_, Declared::Alias(Type::Array(_, 16)))) = all.find("a::msg", "d") else {
            panic!("{all:?}")
        };
    }

    #[test]
    fn an_error_names_its_line_and_what_was_expected() {
        assert_eq!(error("struct S {\n long x\n};"), "line 3: expected ';'");
        assert_eq!(error("struct S { long x[0]; };"), "line 1: expected a number from 1 on");
        assert_eq!(error("struct S { long x, x; };"), "line 1: the name \"x\" again");
        assert_eq!(error("service S {};"), "line 1: unknown declaration \"service\"");
        assert_eq!(error("}"), "line 1: expected a declaration");
        assert_eq!(error("@verbatim(language=\"x\""), "line 1: expected ')'");
        assert!(error(&"module a {".repeat(100)).ends_with("nested too deep"));
        assert!(error(&format!("struct S {{ {} x; }};", "sequence<".repeat(100))).ends_with("too deep"));
        assert!(error(&"const long a = 1; ".repeat(70_000)).starts_with("more than"));
    }
}
