//! Pages at which readers continue when the DAC that served theirs has ended.

use crate::{
    directory::Directory,
    kind::Kind,
    member::{Liveness, Member},
    name::DacName,
    order::weight,
};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use utoipa::ToSchema;

/// Most pages that one DAC names: a reader needs one that lives.
pub const MAX_OTHER_PAGES: usize = 16;

/// The page of a relay, or of a DAC that relays others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OtherPage {
    /// Name of the DAC or relay.
    #[schema(value_type = String)]
    pub name: DacName,
    /// Address of the page: `http://HOST:PORT` or `https://HOST:PORT`.
    pub doors: String,
}

impl Directory {
    /// The pages that serve the nodes of other DACs while this member is silent: those of live relays, and of live DACs that relay others.
    /// With more than [`MAX_OTHER_PAGES`], each member has others (rendezvous hashing), so that the readers of many DACs are spread.
    pub fn other_pages(&self, name: &DacName) -> Vec<OtherPage> {
        let serves_others = |member: &&Member| {
            member.liveness() == Liveness::Live
                && member.name() != name
                && (member.kind() == Kind::Relay || member.load().relays)
        };
        let mut found: Vec<&Member> = self.members().filter(serves_others).collect();
        if found.len() > MAX_OTHER_PAGES {
            found.sort_by_cached_key(|member| Reverse(weight(member.name(), name.as_str())));
            found.truncate(MAX_OTHER_PAGES);
        }
        let page = |member: &Member| OtherPage { name: member.name().clone(), doors: member.doors().into() };
        found.into_iter().map(page).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        heartbeat::{Health, Heartbeat, Load},
        limits::{LATE_AFTER, Limits},
    };
    use oasis_wire::quantity::Epoch;
    use std::{collections::BTreeSet, time::Duration};

    fn directory(members: impl IntoIterator<Item = (String, Kind, bool)>) -> Directory {
        let mut directory = Directory::new(Limits::default());
        for (number, (name, kind, relays)) in members.into_iter().enumerate() {
            let heartbeat = Heartbeat {
                epoch: Epoch(number as u64 + 1),
                beat: 1,
                kind,
                doors: format!("http://{name}:7070"),
                channel: "x:1".into(),
                software: "test".into(),
                health: Health::Ok,
                load: Load { relays, ..Load::default() },
                names_revision: 0,
                names: None,
            };
            directory.beat(&name.parse().unwrap(), heartbeat, Duration::ZERO).unwrap();
        }
        directory
    }

    fn names(directory: &Directory, of: &str) -> Vec<String> {
        directory.other_pages(&of.parse().unwrap()).into_iter().map(|page| page.name.to_string()).collect()
    }

    #[test]
    fn readers_go_to_live_relays_and_to_live_dacs_that_relay() {
        let mut directory = directory([
            ("alone".into(), Kind::Dac, false),
            ("hall-1".into(), Kind::Dac, true),
            ("hall-2".into(), Kind::Dac, true),
            ("relay".into(), Kind::Relay, false),
        ]);
        assert_eq!(names(&directory, "hall-1"), ["hall-2", "relay"]);
        assert_eq!(names(&directory, "elsewhere"), ["hall-1", "hall-2", "relay"]);
        assert_eq!(directory.other_pages(&"hall-1".parse().unwrap())[0].doors, "http://hall-2:7070");
        (1..=8).for_each(|quarter| directory.advance(LATE_AFTER / 4 * quarter));
        assert_eq!(names(&directory, "hall-1"), [""; 0]);
    }

    #[test]
    fn of_many_each_dac_names_some_and_all_are_named() {
        let many = (0..60).map(|number| (format!("relay-{number}"), Kind::Relay, false));
        let directory = directory(many);
        let all: Vec<_> = (0..60).map(|number| names(&directory, &format!("relay-{number}"))).collect();
        assert!(all.iter().all(|some| some.len() == MAX_OTHER_PAGES));
        assert_eq!(
            all,
            (0..60).map(|number| names(&directory, &format!("relay-{number}"))).collect::<Vec<_>>()
        );
        assert_eq!(all.iter().flatten().collect::<BTreeSet<_>>().len(), 60);
    }
}
