//! Texts of errors that people see: without answers of servers, which can repeat credentials, and without queries of addresses.

use oasis_http_client::logged_url;

/// Longest text of an error, in characters.
const MAX_ERROR_CHARS: usize = 400;
/// Longest code of S3, in bytes.
const MAX_CODE_BYTES: usize = 64;

/// Returns the text of an error of a store with the status of an answer and its code, such as `403 Forbidden (InvalidToken)`, but not its body.
pub fn store_error(text: &str) -> String {
    let begin = |mark: &str| text.find(mark).map(|at| at + mark.len());
    let status_end = begin("status code: ").and_then(|at| Some(at + text[at..].find(": ")?));
    let answer = status_end.or_else(|| Some(begin("error response: ")? - 2));
    let (head, body) = text.split_at(answer.unwrap_or(text.len()));
    let shown: Vec<&str> =
        head.split(' ').map(|word| if word.contains("://") { logged_url(word) } else { word }).collect();
    let mut shown = shown.join(" ");
    if let Some(code) = code(body) {
        shown.push_str(&format!(" ({code})"));
    }
    shortened(&shown)
}

/// Returns a text in one line, cut if it is too long.
pub fn shortened(text: &str) -> String {
    let line = text.chars().map(|one| if one.is_control() { ' ' } else { one });
    let mut short: String = line.take(MAX_ERROR_CHARS).collect();
    if text.chars().nth(MAX_ERROR_CHARS).is_some() {
        short.pop();
        short.push('…');
    }
    short
}

fn code(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let is_code = code.len() <= MAX_CODE_BYTES && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_shown_as_its_status_and_code() {
        let request = "Generic S3 error: Error performing PUT https://key:hush@s3.example/plant/a?X-Amz-Signature=hush in 1s";
        let body = "<?xml version=\"1.0\"?>\n<Error><Code>InvalidToken</Code><Token-0>hush</Token-0></Error>";
        for (answer, shown) in [
            (
                format!("Server returned non-2xx status code: 400 Bad Request: {body}"),
                "400 Bad Request (InvalidToken)",
            ),
            (format!("Server returned error response: {body}"), "error response (InvalidToken)"),
            ("Server returned non-2xx status code: 502 Bad Gateway: hush".into(), "502 Bad Gateway"),
            (
                "Server returned non-2xx status code: 400 Bad Request: <Code>hush hush</Code>".into(),
                "400 Bad Request",
            ),
        ] {
            let text = store_error(&format!("{request} - {answer}"));
            assert!(text.ends_with(shown) && text.contains("Error performing PUT"), "{text}");
            assert!(!text.contains("hush"), "{text}");
        }
    }

    #[test]
    fn texts_are_bounded_and_one_line() {
        assert_eq!(store_error("a folder\nis full"), "a folder is full");
        assert_eq!(store_error(&"é".repeat(MAX_ERROR_CHARS)), "é".repeat(MAX_ERROR_CHARS));
        let long = store_error(&"é".repeat(70_000));
        assert!(long.chars().count() == MAX_ERROR_CHARS && long.ends_with('…'), "{long}");
    }
}
