//! Answers that an assistant can read whole.

use serde_json::Value;

/// Longest answer of a tool or resource, in bytes.
pub const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// Longest list within an answer, in bytes. The rest is for what stands beside it.
const MAX_LIST_BYTES: usize = 48 * 1024;

/// The elements of a list that fit an answer.
#[derive(Debug, Default)]
pub struct BoundedList {
    elements: Vec<Value>,
    bytes: usize,
    left_out: usize,
}

impl BoundedList {
    /// Takes elements from the first up to this number, as long as they fit.
    pub fn first(elements: impl IntoIterator<Item = Value>, limit: usize) -> Self {
        let mut list = Self::default();
        for element in elements {
            list.push(element, limit);
        }
        list
    }

    /// Takes elements from the last one back; they keep their order.
    pub fn last(elements: Vec<Value>, limit: usize) -> Self {
        let mut list = Self::first(elements.into_iter().rev(), limit);
        list.elements.reverse();
        list
    }

    /// Adds an element, or counts it. After the first that does not fit nothing else does, so that the list has no holes.
    fn push(&mut self, element: Value, limit: usize) {
        let bytes = element.to_string().len() + 1;
        if self.left_out > 0 || self.elements.len() == limit || self.bytes + bytes > MAX_LIST_BYTES {
            self.left_out += 1;
        } else {
            self.bytes += bytes;
            self.elements.push(element);
        }
    }

    /// Puts the list into an answer under this name, with the number of elements that are left out and how to get them.
    pub fn put(self, answer: &mut Value, name: &str, remedy: &str) {
        answer[name] = self.elements.into();
        if self.left_out > 0 {
            answer["left_out"] = self.left_out.into();
            answer["to_see_more"] = remedy.into();
        }
    }
}

/// Cuts a text to what fits an answer, and says so at its end.
pub fn text(mut text: String) -> String {
    if text.len() > MAX_ANSWER_BYTES {
        let whole = text.len();
        let end = (0..=MAX_ANSWER_BYTES).rev().find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or_default());
        text += &format!("\n[cut: the first {} of {whole} bytes]", text.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_are_cut_without_holes_and_say_so() {
        let long = "x".repeat(MAX_LIST_BYTES);
        let list = BoundedList::first([json!(1), json!(long), json!(2)], 10);
        let mut answer = json!({});
        list.put(&mut answer, "items", "ask for less");
        assert_eq!(answer, json!({"items": [1], "left_out": 2, "to_see_more": "ask for less"}));
    }

    #[test]
    fn the_last_elements_keep_their_order() {
        let mut answer = json!({});
        BoundedList::last(vec![json!(1), json!(2), json!(3)], 2).put(&mut answer, "items", "");
        assert_eq!(answer["items"], json!([2, 3]));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        let cut = text("ü".repeat(MAX_ANSWER_BYTES));
        assert!(cut.ends_with("bytes]") && cut.len() < MAX_ANSWER_BYTES + 100);
    }
}
