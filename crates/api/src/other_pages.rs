//! The addresses at which a page continues after its DAC has ended, and the script with which it asks which of them answers.
//!
//! The policy of the page lets it ask this server alone. So the places are asked by a worker of its own, the *scout*: its script is
//! sent with a policy that names them, and nothing else.

use crate::{Api, static_files};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse, Response},
};
use oasis_http::{MAX_ORIGINS, PageOrigin, connecting_policy};
use oasis_tem::OtherPage;
use serde::Serialize;
use utoipa::ToSchema;

/// File of the scout among those of the page.
const SCOUT: &str = "scout.js";

/// The addresses at which the page can continue.
#[derive(Debug, Serialize, ToSchema)]
pub struct OtherPages {
    /// Pages of the settings first, then pages that TEMs list; 16 at most.
    pages: Vec<PageAddress>,
}

/// The page of another DAC or relay that serves the same nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct PageAddress {
    /// Name of the DAC or relay; host and port if the settings name it.
    name: String,
    /// Its origin.
    #[schema(value_type = String)]
    address: PageOrigin,
}

/// Live relays, and DACs that relay others: at each of them a reader finds the nodes of this DAC.
#[utoipa::path(get, path = "/api/v1/other-pages", responses((status = 200, body = OtherPages)))]
pub async fn list(State(api): State<Api>) -> Json<OtherPages> {
    Json(OtherPages { pages: places(&api) })
}

/// The script that asks them whether they work; its `Content-Security-Policy` lets it connect to them alone.
#[utoipa::path(get, path = "/api/v1/other-pages/scout.js",
    responses((status = 200, body = String, content_type = "text/javascript")))]
pub async fn scout(State(api): State<Api>, asked: HeaderMap) -> Response {
    let places = places(&api);
    let policy = connecting_policy(places.iter().map(|place| &place.address));
    // A script that is kept would have an old policy.
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, static_files::answer(SCOUT, &asked)).into_response()
}

fn places(api: &Api) -> Vec<PageAddress> {
    merged(&api.doors.config.other_pages, api.tem.own_other_pages())
}

/// Addresses come from other DACs: what is no origin is left out, because the rest of it would get into a header.
fn merged(configured: &[PageOrigin], listed: Vec<OtherPage>) -> Vec<PageAddress> {
    let configured = configured
        .iter()
        .map(|address| PageAddress { name: address.authority().to_owned(), address: address.clone() });
    let listed = listed.into_iter().filter_map(|OtherPage { name, doors }| {
        Some(PageAddress { name: name.to_string(), address: doors.parse().ok()? })
    });
    let mut places: Vec<PageAddress> = Vec::new();
    for place in configured.chain(listed) {
        if places.len() < MAX_ORIGINS && places.iter().all(|known| known.address != place.address) {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, doors: &str) -> OtherPage {
        OtherPage { name: name.parse().unwrap(), doors: doors.into() }
    }

    fn texts(places: &[PageAddress]) -> Vec<(&str, &str)> {
        places.iter().map(|place| (place.name.as_str(), place.address.as_str())).collect()
    }

    #[test]
    fn a_place_is_named_once_and_the_settings_come_first() {
        let configured = ["http://hall-3:7070".parse().unwrap()];
        let pages = vec![
            listed("hall-2", "http://hall-2:7070"),
            listed("hall-3", "http://HALL-3:7070"),
            listed("hall-2", "http://hall-2:7070"),
        ];
        assert_eq!(
            texts(&merged(&configured, pages)),
            [("hall-3:7070", "http://hall-3:7070"), ("hall-2", "http://hall-2:7070")]
        );
    }

    #[test]
    fn what_is_no_origin_is_left_out_and_the_rest_is_bounded() {
        let bad = ["http://[::1]:7070", "http://a b:1", "http://a:1;script-src *", "javascript:x"];
        let bad = bad.map(|doors| listed("evil", doors));
        let many = (1..=100).map(|port| listed("many", &format!("http://many:{port}")));
        let places = merged(&[], bad.into_iter().chain(many).collect());
        assert_eq!(places.len(), MAX_ORIGINS);
        assert!(places.iter().all(|place| place.name == "many"));
    }
}
