//! Expected age of the newest sample of a message on arrival: the model that the product's page shows, for comparison with what the dashboard measures.
//!
//! `docs/reference/page.md` ("Age on arrival") explains it, and `web/src/stream/age_model.ts` is the page's. Both read `vectors/age-on-arrival.json`.

/// Longest time that a batch waits in its node, milliseconds: the default of a node.
const LINGER: f64 = 10.0;

/// Door through which messages reach the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// They are pushed.
    Pushed,
    /// A request waits for them.
    LongPoll,
    /// A request asks for them, and rests this long after the answer, milliseconds.
    Poll(f64),
}

/// The mean age on arrival, milliseconds, of samples at this rate over these one-way delays.
pub fn expected(way: Way, hertz: f64, to_dac: f64, to_page: f64) -> f64 {
    let period = 1e3 / hertz;
    let in_node = if period < LINGER { period / 2.0 } else { 0.0 };
    in_node + to_dac + to_page + wait_for_request(way, 2.0 * to_page, period.max(LINGER))
}

/// Mean time that the newest of messages with this period waits for a request.
fn wait_for_request(way: Way, round_trip: f64, period: f64) -> f64 {
    match way {
        Way::Pushed => 0.0,
        Way::LongPoll if round_trip < period => 0.0,
        Way::LongPoll => period / 2.0,
        Way::Poll(rest) => period.min(round_trip + rest) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Vectors {
        poll_rest_ms: f64,
        linger_ms: f64,
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        door: String,
        rate: f64,
        to_dac: f64,
        to_page: f64,
        expected: f64,
    }

    #[test]
    fn the_model_is_the_pages() {
        let vectors: Vectors =
            serde_json::from_str(include_str!("../../../../vectors/age-on-arrival.json")).expect("vectors");
        assert_eq!(vectors.linger_ms, LINGER);
        for Case { door, rate, to_dac, to_page, expected: wanted } in vectors.cases {
            let way = match &*door {
                "poll" => Way::Poll(vectors.poll_rest_ms),
                "wait" => Way::LongPoll,
                _ => Way::Pushed,
            };
            let computed = expected(way, rate, to_dac, to_page);
            assert!((computed - wanted).abs() < 1e-9, "{door} at {rate} Hz: {computed}, not {wanted}");
        }
    }
}
