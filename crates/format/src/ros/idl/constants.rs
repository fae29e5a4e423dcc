//! Constants and the numbers that are made of them: bounds, sizes, values.

use super::{
    super::definitions::BadText,
    declarations::{Reading, joined},
    tokens::Token,
};
use oasis_wire::schema::MAX_DEPTH;
use std::rc::Rc;

/// The operators of whole numbers, those that bind least first.
const OPERATORS: [&[char]; 6] = [&['|'], &['^'], &['&'], &['<', '>'], &['+', '-'], &['*', '/', '%']];
/// The first operators that a bound within `<` and `>` can have.
const OPERATORS_OF_BOUNDS: usize = 4;

impl Reading<'_> {
    /// Reads a constant. Only whole numbers matter: as bounds, and as labels of unions.
    pub fn constant(&mut self, module: &Rc<str>) -> Result<(), BadText> {
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

    /// The size of an array, from 1 on.
    pub fn size(&mut self, module: &str) -> Result<u32, BadText> {
        let number = self.number(module)?;
        self.positive(number)
    }

    /// The bound of a text or a sequence, from 1 on.
    pub fn bound(&mut self, module: &str) -> Result<u32, BadText> {
        let number = self.operation(module, OPERATORS_OF_BOUNDS, 0)?;
        self.positive(number)
    }

    fn positive(&self, number: Option<i64>) -> Result<u32, BadText> {
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.filter(|number| *number > 0).ok_or_else(|| self.tokens.error("expected a number from 1 on"))
    }

    /// Takes a whole number: digits, names of constants, and operators between them; none if it is no whole number, or none of 64 bits.
    pub fn number(&mut self, module: &str) -> Result<Option<i64>, BadText> {
        self.operation(module, 0, 0)
    }

    fn operation(&mut self, module: &str, level: usize, depth: usize) -> Result<Option<i64>, BadText> {
        let Some(operators) = OPERATORS.get(level) else { return self.operand(module, depth) };
        let mut left = self.operation(module, level + 1, depth)?;
        loop {
            let Token::Sign(sign) = self.tokens.peek() else { return Ok(left) };
            if !operators.contains(&sign) {
                return Ok(left);
            }
            self.tokens.take()?;
            if matches!(sign, '<' | '>') {
                self.tokens.expect(sign)?;
            }
            let right = self.operation(module, level + 1, depth)?;
            left = left.zip(right).and_then(|(left, right)| apply(sign, left, right));
        }
    }

    fn operand(&mut self, module: &str, depth: usize) -> Result<Option<i64>, BadText> {
        if depth > MAX_DEPTH {
            return Err(self.tokens.error("numbers are nested too deep"));
        }
        Ok(match self.tokens.peek() {
            Token::Word(word) => {
                self.tokens.take()?;
                literal(word).or_else(|| self.all.constant(module, word))
            }
            Token::Sign('-') => {
                self.tokens.take()?;
                self.operand(module, depth + 1)?.and_then(i64::checked_neg)
            }
            Token::Sign('+') => {
                self.tokens.take()?;
                self.operand(module, depth + 1)?
            }
            Token::Sign('~') => {
                self.tokens.take()?;
                self.operand(module, depth + 1)?.map(|number| !number)
            }
            Token::Sign('(') => {
                self.tokens.take()?;
                let number = self.operation(module, 0, depth + 1)?;
                self.tokens.expect(')')?;
                number
            }
            _ => None,
        })
    }
}

/// A number as it is written: decimal, octal or hexadecimal.
pub fn literal(word: &str) -> Option<i64> {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return i64::from_str_radix(digits, 16).ok();
    }
    match word.strip_prefix('0') {
        Some(digits) if !digits.is_empty() => i64::from_str_radix(digits, 8).ok(),
        _ => word.parse().ok(),
    }
}

fn apply(sign: char, left: i64, right: i64) -> Option<i64> {
    match sign {
        '|' => Some(left | right),
        '^' => Some(left ^ right),
        '&' => Some(left & right),
        '<' => left.checked_mul(1_i64.checked_shl(u32::try_from(right).ok()?)?),
        '>' => left.checked_shr(u32::try_from(right).ok()?),
        '+' => left.checked_add(right),
        '-' => left.checked_sub(right),
        '*' => left.checked_mul(right),
        '/' => left.checked_div(right),
        '%' => left.checked_rem(right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::declarations::Declarations;

    #[test]
    fn constants_are_computed() {
        let text = "const long A = 2 + 3 * (4 - 1); const long B = A << 2 | 1; const octet C = 0x10 / 3 % 4;
            const long D = -(~A); const double E = 1.5; const string F = \"x\"; module m { const long G = 010 + A; };
            const long H = 1 / 0; const long I = 0x7fffffffffffffff + 1; const long J = 1 << 63;
            typedef sequence<string<A + 1>, B> T;";
        let all = Declarations::read(text).unwrap();
        let constants =
            ["A", "B", "C", "D", "E", "F", "m::G", "H", "I", "J"].map(|name| all.constant("", name));
        let expected =
            [Some(11), Some(45), Some(1), Some(12), None, None, Some(19), None, None, Some(i64::MIN)];
        assert_eq!(constants, expected);
        assert_eq!(all.constant("m", "A"), Some(11));
        let deep = format!("const long A = {}1;", "(".repeat(1_000));
        assert!(Declarations::read(&deep).unwrap_err().to_string().ends_with("nested too deep"));
    }
}
