//! Options of a viewer, in the query of the URL: `?encoding=json&delivery=every`.

use axum::http::StatusCode;
use oasis_dac::Delivery;
use oasis_format::MessageEncoding;
use oasis_http::Problem;

/// Samples a second and instance, unless a viewer asks for more: what screens show.
const DEFAULT_DELIVERY: &str = "max_hz=60";

/// The choices of a viewer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ViewerOptions {
    /// CDR unless chosen otherwise: the only encoding that all viewers plot.
    pub encoding: MessageEncoding,
    pub delivery: Delivery,
}

impl ViewerOptions {
    /// Reads the query of a URL. Parameters of others, such as tickets, are left alone.
    ///
    /// # Errors
    /// Status 400 for an unknown encoding or delivery.
    pub fn parse(query: &str) -> Result<Self, Problem> {
        let mut options = Self { encoding: MessageEncoding::Cdr, delivery: delivery(DEFAULT_DELIVERY)? };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "encoding" => options.encoding = encoding(&value)?,
                "delivery" => options.delivery = delivery(&value)?,
                _ => {}
            }
        }
        Ok(options)
    }
}

fn encoding(name: &str) -> Result<MessageEncoding, Problem> {
    let all = [MessageEncoding::Cdr, MessageEncoding::Json, MessageEncoding::Protobuf];
    let found = all.into_iter().find(|encoding| encoding.name() == name);
    found.ok_or_else(|| bad_parameter(format!("parameter encoding is {name:?}: write cdr, json or protobuf")))
}

fn delivery(text: &str) -> Result<Delivery, Problem> {
    text.parse().map_err(|error| bad_parameter(format!("parameter delivery: {error}")))
}

fn bad_parameter(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, "bad_parameter", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_gets_what_it_chooses_or_a_refusal_that_names_the_choices() {
        let standard = ViewerOptions::parse("ticket=abc").unwrap();
        assert_eq!(
            (standard.encoding, standard.delivery.to_string()),
            (MessageEncoding::Cdr, "max_hz=60".into())
        );
        let chosen = ViewerOptions::parse("delivery=every&encoding=json").unwrap();
        assert_eq!(chosen, ViewerOptions { encoding: MessageEncoding::Json, delivery: Delivery::Every });
        assert!(ViewerOptions::parse("delivery=max_hz%3D5").is_ok());
        for query in ["encoding=xml", "delivery=fast", "delivery=max_hz=0"] {
            assert!(ViewerOptions::parse(query).is_err(), "{query}");
        }
    }
}
