//! Words that a PDL name cannot be in IDL.

use crate::{cpp::reserved::is_word, names::is_in};

/// Key words of IDL 4.2 (formal/18-01-05, 7.2.4). They differ from other names by more than case.
const KEYWORDS: &str = "abstract alias any attribute bitfield bitmask bitset boolean case char component connector const consumes context \
    custom default double emits enum eventtype exception factory false finder fixed float getraises getter home import in inout int16 \
    int32 int64 int8 interface local long manages map mirrorport module multiple native object octet oneway out port porttype primarykey \
    private provides public publishes raises readonly sequence setraises setter short string struct supports switch true truncatable \
    typedef typeid typename typeprefix uint16 uint32 uint64 uint8 union unsigned uses valuebase valuetype void wchar wstring";

/// Whether a name is a key word of IDL, in any case.
pub fn is_keyword(name: &str) -> bool {
    is_in(&name.to_ascii_lowercase(), &[KEYWORDS])
}

/// Whether a member of this name would be a word of C or C++.
pub fn is_taken_in_c(name: &str) -> bool {
    is_word(name) || name == "restrict"
}

/// A name as IDL writes it: an underscore before a key word is no part of the name (IDL 4.2, 7.2.3.2).
pub fn escaped(name: &str) -> String {
    if is_keyword(name) { format!("_{name}") } else { name.to_owned() }
}
