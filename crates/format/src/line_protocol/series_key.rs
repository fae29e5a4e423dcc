//! The name of a series.

use super::Point;

/// Writes measurement and tags, sorted by key, as in line protocol. `left_out` is a tag that the name lacks.
pub fn series_key(point: &Point<'_>, left_out: Option<&str>, to: &mut String) {
    to.clear();
    escape(&point.measurement, &[',', ' '], to);
    let mut tags: Vec<_> = point.tags.iter().filter(|(key, _)| Some(&**key) != left_out).collect();
    tags.sort();
    for (key, value) in tags {
        to.push(',');
        escape(key, &[',', '=', ' '], to);
        to.push('=');
        escape(value, &[',', '=', ' '], to);
    }
}

fn escape(name: &str, of: &[char], to: &mut String) {
    for character in name.chars() {
        if of.contains(&character) {
            to.push('\\');
        }
        to.push(character);
    }
}
