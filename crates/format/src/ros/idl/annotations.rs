//! The annotations before a declaration or a member.

use super::{
    super::definitions::BadText,
    declarations::{MemberId, Reading},
    tokens::Token,
};
use crate::ros::extensibility::Extensibility;
use std::rc::Rc;

/// Longest unit: no longer text is one.
const MAX_UNIT_BYTES: usize = 64;
/// Largest number of a member (DDS-XTypes 1.3, 7.2.2.4.4.4.4).
const MAX_MEMBER_ID: u32 = 0x0fff_ffff;

/// The annotations that matter here.
#[derive(Debug)]
pub struct Annotations {
    pub extensibility: Option<Extensibility>,
    pub unit: Option<String>,
    pub is_optional: bool,
    pub bits: Option<u32>,
    pub value: Option<i64>,
    pub position: Option<u32>,
    pub id: MemberId,
    /// Whether the numbers of members without another are hashes of their names.
    pub has_hashed_ids: bool,
}

impl Default for Annotations {
    fn default() -> Self {
        Self {
            extensibility: None,
            unit: None,
            is_optional: false,
            bits: None,
            value: None,
            position: None,
            id: MemberId::Next,
            has_hashed_ids: false,
        }
    }
}

impl Reading<'_> {
    pub fn annotations(&mut self, module: &Rc<str>) -> Result<Annotations, BadText> {
        let mut found = Annotations::default();
        while self.tokens.take_sign('@')? {
            let name = self.tokens.word()?;
            match name {
                "final" => found.extensibility = Some(Extensibility::Final),
                "appendable" => found.extensibility = Some(Extensibility::Appendable),
                "mutable" => found.extensibility = Some(Extensibility::Mutable),
                "optional" => found.is_optional = true,
                "hashid" => found.id = MemberId::Hash,
                // Its only parameter is the one of most numbers.
                "autoid" => found.has_hashed_ids = true,
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
                Token::Word("SEQUENTIAL") if name == "autoid" => found.has_hashed_ids = false,
                Token::Word("FALSE" | "false") if name == "optional" => found.is_optional = false,
                Token::Word("value") => {}
                Token::Word(_) | Token::Sign('-')
                    if matches!(name, "bit_bound" | "value" | "id" | "position") =>
                {
                    self.whole_parameter(module, name, found)?;
                    continue;
                }
                Token::End => return Err(self.tokens.error("expected ')'")),
                _ => {}
            }
            self.tokens.take()?;
        }
        Ok(())
    }

    /// Reads a parameter that is a whole number.
    fn whole_parameter(
        &mut self,
        module: &Rc<str>,
        name: &str,
        found: &mut Annotations,
    ) -> Result<(), BadText> {
        let number = self.number(module)?;
        let unsigned = number.and_then(|number| u32::try_from(number).ok());
        match name {
            "value" => found.value = number,
            "bit_bound" => found.bits = unsigned,
            "position" => found.position = unsigned,
            _ => {
                let id = unsigned.filter(|id| *id <= MAX_MEMBER_ID);
                let id = id.ok_or_else(|| self.tokens.error("expected the number of a member"))?;
                found.id = MemberId::Number(id);
            }
        }
        Ok(())
    }
}
