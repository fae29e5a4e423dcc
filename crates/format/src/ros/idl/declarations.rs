//! The declarations of a text: structs, enums, other names of types, and constants, by their scoped names.

use super::{
    super::definitions::BadText,
    tokens::{Token, Tokens},
};
use crate::visible::shortened;
use oasis_wire::{schema::MAX_MEMBERS, value::MAX_DEPTH};
use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

/// Longest unit: no longer text is one.
const MAX_UNIT_BYTES: usize = 64;

/// A type as it is declared.
#[derive(Debug)]
pub enum Declared {
    Struct(Struct),
    Enum(Enum),
    Alias(Type),
    /// A declaration that no member of a read message may have, such as a union.
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
}

/// The changes that a type permits to later versions (DDS-XTypes 1.3, 7.2.2.4.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extensibility {
    Final,
    Appendable,
    Mutable,
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
    constants: HashMap<String, i64>,
}

impl Declarations {
    pub fn read(text: &str) -> Result<Self, BadText> {
        let tokens = Tokens::new(text)?;
        let mut reading = Reading { tokens, all: Self::default(), left: MAX_MEMBERS };
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

fn joined(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

/// The annotations before a declaration or member that matter here.
#[derive(Debug, Default)]
struct Annotations {
    extensibility: Option<Extensibility>,
    unit: Option<String>,
    is_optional: bool,
    bits: Option<u32>,
    value: Option<i64>,
}

struct Reading<'a> {
    tokens: Tokens<'a>,
    all: Declarations,
    /// Declarations and members that may follow.
    left: usize,
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
                self.tokens.expect('{')?;
                self.module(&inner, depth + 1)?;
                self.tokens.expect('}')?;
                // Some programs omit the semicolon.
                self.tokens.take_sign(';')?;
                return Ok(());
            }
            "struct" => self.structure(module, &annotations)?,
            "enum" => self.enumeration(module, &annotations)?,
            "typedef" => {
                let of = self.kind(module, 0)?;
                for (name, of) in self.declarators(module, &of)? {
                    self.declare(module, &name, Declared::Alias(of));
                }
            }
            "const" => self.constant(module)?,
            kind @ ("union" | "bitmask" | "bitset" | "interface" | "valuetype") => {
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

    fn count(&mut self) -> Result<(), BadText> {
        self.left = self.left.checked_sub(1).ok_or(BadText::Many)?;
        Ok(())
    }

    /// Keeps the first declaration of a name: files that were included twice follow each other without their guards.
    fn declare(&mut self, module: &str, name: &str, of: Declared) {
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
            let annotations = self.annotations(module)?;
            let kind = self.kind(module, 0)?;
            for (name, kind) in self.declarators(module, &kind)? {
                self.count()?;
                if !names.insert(name.clone()) {
                    return Err(self.tokens.error(&format!("the name {:?} again", shortened(&name))));
                }
                let (unit, is_optional) = (annotations.unit.clone(), annotations.is_optional);
                of.members.push(Member { name, of: kind, unit, is_optional });
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

    /// Reads a constant. Only whole numbers matter: as bounds.
    fn constant(&mut self, module: &Rc<str>) -> Result<(), BadText> {
        self.kind(module, 0)?;
        let name = self.tokens.word()?;
        self.tokens.expect('=')?;
        if let (Some(value), Token::Sign(';')) = (self.number(module)?, self.tokens.peek()) {
            self.all.constants.insert(joined(module, name), value);
        }
        while !matches!(self.tokens.peek(), Token::Sign(';') | Token::End) {
            self.tokens.take()?;
        }
        Ok(())
    }

    /// Takes a whole number or the name of one; none if something else follows.
    fn number(&mut self, module: &str) -> Result<Option<i64>, BadText> {
        let is_negative = self.tokens.take_sign('-')?;
        let Token::Word(word) = self.tokens.peek() else { return Ok(None) };
        self.tokens.take()?;
        let value = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => word
                .parse()
                .ok()
                .or_else(|| scoped(module, word).find_map(|name| self.all.constants.get(&name).copied())),
        };
        Ok(value.and_then(|value: i64| if is_negative { value.checked_neg() } else { Some(value) }))
    }

    /// A number of elements, from 1 on.
    fn size(&mut self, module: &str) -> Result<u32, BadText> {
        let number = self.number(module)?.and_then(|number| u32::try_from(number).ok());
        number.filter(|number| *number > 0).ok_or_else(|| self.tokens.error("expected a number from 1 on"))
    }

    /// Names with the sizes of arrays: `a, b[3][2]`.
    fn declarators(&mut self, module: &Rc<str>, of: &Type) -> Result<Vec<(String, Type)>, BadText> {
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

    fn kind(&mut self, module: &Rc<str>, depth: usize) -> Result<Type, BadText> {
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
                    self.size(module)?;
                    self.tokens.expect('>')?;
                }
                Type::Primitive(of)
            }
            "sequence" => {
                self.tokens.expect('<')?;
                let of = self.kind(module, depth + 1)?;
                if self.tokens.take_sign(',')? {
                    self.size(module)?;
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

    fn annotations(&mut self, module: &Rc<str>) -> Result<Annotations, BadText> {
        let mut found = Annotations::default();
        while self.tokens.take_sign('@')? {
            let name = self.tokens.word()?;
            match name {
                "final" => found.extensibility = Some(Extensibility::Final),
                "appendable" => found.extensibility = Some(Extensibility::Appendable),
                "mutable" => found.extensibility = Some(Extensibility::Mutable),
                "optional" => found.is_optional = true,
                _ => {}
            }
            if self.tokens.take_sign('(')? {
                self.parameters(module, name, &mut found)?;
            }
        }
        Ok(found)
    }

    /// Reads the parameters of an annotation, after its parenthesis.
    fn parameters(&mut self, module: &Rc<str>, name: &str, found: &mut Annotations) -> Result<(), BadText> {
        let mut open = 1_usize;
        while open > 0 {
            match self.tokens.peek() {
                Token::Sign('(') => open += 1,
                Token::Sign(')') => open -= 1,
                Token::Text(text) if name == "unit" && text.len() <= MAX_UNIT_BYTES => {
                    found.unit = Some(text.to_owned());
                }
                Token::Word("FINAL") if name == "extensibility" => {
                    found.extensibility = Some(Extensibility::Final);
                }
                Token::Word("APPENDABLE") if name == "extensibility" => {
                    found.extensibility = Some(Extensibility::Appendable);
                }
                Token::Word("MUTABLE") if name == "extensibility" => {
                    found.extensibility = Some(Extensibility::Mutable);
                }
                Token::Word("FALSE" | "false") if name == "optional" => found.is_optional = false,
                Token::Word("value") => {}
                Token::Word(_) | Token::Sign('-') if name == "bit_bound" || name == "value" => {
                    let number = self.number(module)?;
                    match name {
                        "value" => found.value = number,
                        _ => found.bits = number.and_then(|bits| u32::try_from(bits).ok()),
                    }
                    continue;
                }
                Token::End => return Err(self.tokens.error("expected ')'")),
                _ => {}
            }
            self.tokens.take()?;
        }
        Ok(())
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
