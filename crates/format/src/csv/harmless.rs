//! Escapes text that a spreadsheet could run as a formula.

/// Characters that can start a formula in a spreadsheet.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// Returns the text, after an apostrophe if it looks like a formula.
pub fn harmless(text: &str) -> String {
    let is_number = text.parse::<f64>().is_ok();
    if text.starts_with(FORMULA) && !is_number { format!("'{text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_looks_like_a_formula_is_made_harmless() {
        for formula in ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", "=HYPERLINK(\"http://x\")"] {
            assert_eq!(harmless(formula), format!("'{formula}"));
        }
        for text in ["", "a=1", "-1.5", "+2", "-Infinity", "NaN", "1e5"] {
            assert_eq!(harmless(text), text);
        }
    }
}
