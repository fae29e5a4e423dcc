//! Names instances after the topics of other programs, one for each topic.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

/// The instance of a topic without a name.
const UNNAMED: &str = "channel";

/// Returns the instance of each topic: the topic without the slash in front, unless that would be the name of two topics.
pub fn instances(topics: &BTreeSet<&str>) -> BTreeMap<String, Arc<str>> {
    let short = |topic: &str| named(topic.trim_start_matches('/'));
    let mut count: HashMap<String, usize> = HashMap::new();
    topics.iter().for_each(|topic| *count.entry(short(topic)).or_default() += 1);
    let is_ambiguous = |topic: &str| count.get(&short(topic)).is_some_and(|count| *count > 1);
    let (whole, shortened): (Vec<_>, Vec<_>) = topics.iter().copied().partition(|topic| is_ambiguous(topic));
    let mut free = FreeNames::default();
    let mut all = BTreeMap::new();
    let wanted = shortened.into_iter().map(|topic| (topic, short(topic)));
    for (topic, wanted) in wanted.chain(whole.into_iter().map(|topic| (topic, named(topic)))) {
        all.insert(topic.to_owned(), free.take(&wanted).into());
    }
    all
}

/// Gives each name once: `speed`, then `speed_2`.
#[derive(Debug, Default)]
pub struct FreeNames {
    taken: HashSet<String>,
    /// The last number of each name, so that a name of all columns is found quickly.
    numbers: HashMap<String, u64>,
}

impl FreeNames {
    /// Returns the name, or the name with a number if it is taken.
    pub fn take(&mut self, wanted: &str) -> String {
        let mut free = wanted.to_owned();
        while !self.taken.insert(free.clone()) {
            let number = self.numbers.entry(wanted.to_owned()).or_insert(1);
            *number += 1;
            free = format!("{wanted}_{number}");
        }
        free
    }
}

fn named(topic: &str) -> String {
    if topic.is_empty() { UNNAMED.into() } else { without_controls(topic) }
}

/// Escapes control characters, which an archive refuses in names: `\u{a}`.
pub fn without_controls(name: &str) -> String {
    let mut escaped = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_control() {
            escaped.extend(character.escape_unicode());
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(topics: &[&str]) -> Vec<(String, String)> {
        let all = instances(&topics.iter().copied().collect());
        assert_eq!(all.values().collect::<HashSet<_>>().len(), topics.len());
        topics.iter().map(|topic| ((*topic).to_owned(), all[*topic].to_string())).collect()
    }

    fn expected(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(topic, name)| ((*topic).to_owned(), (*name).to_owned())).collect()
    }

    #[test]
    fn topics_that_differ_in_slashes_or_escapes_stay_apart() {
        assert_eq!(named(&["/imu", "/gps/fix"]), expected(&[("/imu", "imu"), ("/gps/fix", "gps/fix")]));
        assert_eq!(
            named(&["/imu", "imu", "//imu", "/gps"]),
            expected(&[("/imu", "/imu"), ("imu", "imu"), ("//imu", "//imu"), ("/gps", "gps")])
        );
        assert_eq!(named(&["", "/", "channel"]).len(), 3);
        assert_eq!(named(&["a\n", "a\\u{a}"]), expected(&[("a\n", "a\\u{a}"), ("a\\u{a}", "a\\u{a}_2")]));
    }
}
