//! Passwords that are tried first by whoever guesses: NIST SP 800-63B, section 3.1.1.2, asks for such a list.
//!
//! An account allows 14,400 guesses a day, so a list of that order is enough.

/// Passwords that leaked most often, as [`core`] makes them, in order: those of the list of zxcvbn (`LICENSE-ZXCVBN`).
const COMMON: &str = include_str!("common_passwords.txt");
/// Letters that a password has at least between other signs at its ends.
const MIN_CORE_CHARS: usize = 4;

/// Returns why a password is tried early; `None` if it is not.
pub fn tried_first(password: &str) -> Option<&'static str> {
    let lower: Vec<char> = password.to_lowercase().chars().collect();
    let letters: Vec<char> = lower.iter().copied().filter(|sign| sign.is_alphabetic()).collect();
    if is_common(repeated(&letters)) {
        return Some("a common password");
    }
    let cores = [core(&lower, 'l'), core(&lower, 'i'), translated(trimmed_end(&lower), 'l')];
    cores.iter().find_map(|signs| why_common(signs))
}

fn why_common(signs: &[char]) -> Option<&'static str> {
    let part = repeated(signs);
    // The part that repeats can have other signs at its ends.
    let word = core(part, 'l');
    if word.len() < MIN_CORE_CHARS {
        Some("hardly any letters, or the same again and again")
    } else if is_sequence(part) {
        Some("a sequence")
    } else if is_common(&word) || is_common(part) {
        Some("a common password")
    } else {
        None
    }
}

/// Returns the part that repeats, or all.
fn repeated(password: &[char]) -> &[char] {
    let repeats = |period: &usize| {
        let (part, rest) = password.split_at(*period);
        rest.chunks(*period).all(|chunk| part.starts_with(chunk))
    };
    let period = (1..=password.len() / 2).find(repeats).unwrap_or(password.len());
    &password[..period]
}

/// Removes digits and signs at both ends, and replaces those within that stand for letters. `one` is what the digit 1 stands for.
fn core(password: &[char], one: char) -> Vec<char> {
    let first = password.iter().position(|sign| sign.is_alphabetic()).unwrap_or(password.len());
    translated(trimmed_end(&password[first..]), one)
}

fn trimmed_end(password: &[char]) -> &[char] {
    let last = password.iter().rposition(|sign| sign.is_alphabetic());
    &password[..last.map_or(0, |last| last + 1)]
}

fn translated(password: &[char], one: char) -> Vec<char> {
    let letter = |sign: &char| match sign {
        '0' => 'o',
        '1' | '!' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => *other,
    };
    password.iter().map(letter).collect()
}

/// Whether each sign is the one before, or the next in the alphabet, in one direction.
fn is_sequence(password: &[char]) -> bool {
    let step = |pair: &[char]| u32::from(pair[1]).wrapping_sub(u32::from(pair[0]));
    let mut steps = password.windows(2).map(step);
    let first = steps.next();
    matches!(first, Some(0 | 1 | u32::MAX)) && steps.all(|step| Some(step) == first)
}

fn is_common(word: &[char]) -> bool {
    COMMON.lines().any(|common| common.chars().eq(word.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_that_many_people_have_are_tried_first() {
        for common in [
            "aaaaaaaaaaaaaaaa",
            "abababababab",
            "abcdefghijkl",
            "password1234",
            "PasswordPassword",
            "qwertyuiop[]",
            "123456789012",
            "Passw0rd!2026",
            "P@$$w0rd12345",
            "iloveyou2026",
            "1qaz2wsx3edc",
            "!!!oasis!!!!",
            "2026-04-11 jim",
            "aaaaaaaaaaaa1",
            "passwordpassword1",
            "PasswordPassword!",
            "password.password1",
            "Password1Password2",
            "abcdefghijkl1",
            "zyxwvutsrqpo1",
            "qwertyqwerty1",
            "letmeinletmein!",
            "$ecret123456",
            "m1chael12345",
        ] {
            assert!(tried_first(common).is_some(), "{common}");
        }
    }

    #[test]
    fn other_passwords_are_not() {
        for good in
            ["correct horse battery", "8f$K2-91xQ!7", "tr0ub4dor&3xyz", "πέτρα και νερό", "abcdefghijkm"]
        {
            assert_eq!(tried_first(good), None, "{good}");
        }
    }

    #[test]
    fn the_list_is_in_order_and_each_entry_is_a_core() {
        let common: Vec<&str> = COMMON.lines().collect();
        assert!(common.is_sorted() && common.len() > 9_000);
        for entry in common {
            let signs: Vec<char> = entry.chars().collect();
            assert_eq!(core(&signs, 'l').into_iter().collect::<String>(), entry);
        }
    }
}
