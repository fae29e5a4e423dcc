//! JSON of a schema in pieces: what the macro knows, and what the compiler gets from other types.

use proc_macro2::TokenStream;
use quote::quote;

/// Pieces that make one text.
#[derive(Debug, Default)]
pub struct Json {
    pieces: Vec<TokenStream>,
    /// Text since the last piece.
    text: String,
}

impl Json {
    /// Appends text.
    pub fn push(&mut self, text: &str) {
        self.text += text;
    }

    /// Appends a member with a text as its value, and a comma before it.
    pub fn member(&mut self, name: &str, value: &str) {
        self.push(&format!(",\"{name}\":{}", quoted(value)));
    }

    /// Appends an expression of type `oasis_probe::field::Text`.
    pub fn piece(&mut self, piece: TokenStream) {
        self.end_text();
        self.pieces.push(piece);
    }

    /// Returns an expression of type `oasis_probe::field::Text`.
    pub fn into_text(mut self) -> TokenStream {
        self.end_text();
        let pieces = &self.pieces;
        quote! { ::oasis_probe::field::Text::All(&[#(#pieces),*]) }
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.pieces.push(quote! { ::oasis_probe::field::Text::Str(#text) });
        }
    }
}

/// Returns a text as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
