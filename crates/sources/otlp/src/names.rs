//! Names of nodes and instances.

use crate::{OtlpConfig, attributes::Attribute};
use oasis_source_node::push_node_name;

/// The attribute that stands for the name of the instrumentation scope.
const SCOPE_ATTRIBUTE: &str = "otel.scope.name";

/// Writes the name of the node of a resource.
///
/// # Errors
/// If nothing names it.
pub fn write_node(config: &OtlpConfig, resource: &[Attribute<'_>], to: &mut String) -> Result<(), String> {
    to.clear();
    to.push_str(&config.node_prefix);
    for name in &config.node_attributes {
        let Some((_, value)) = resource.iter().find(|(key, _)| key == name) else { continue };
        if !to.is_empty() {
            to.push('-');
        }
        push_node_name(value, to);
    }
    if to.is_empty() {
        let names = config.node_attributes.join(", ");
        return Err(format!("its resource has none of {names}: set otlp.node_prefix"));
    }
    Ok(())
}

/// Returns whether the names of all instances have the instrumentation scope.
pub fn names_scopes(config: &OtlpConfig) -> bool {
    !config.left_out_attributes.iter().any(|pattern| matches(pattern, SCOPE_ATTRIBUTE))
}

/// Writes the name of an instance: that of the metric, the scope if there is one, and its attributes, sorted by name.
pub fn write_instance(
    config: &OtlpConfig,
    name: &str,
    mut scope: Option<&str>,
    attributes: &mut Vec<Attribute<'_>>,
    to: &mut String,
) {
    to.clear();
    escape(name, &['\\', ','], to);
    let is_left_out = |key: &str| config.left_out_attributes.iter().any(|pattern| matches(pattern, key));
    attributes.sort();
    for (key, value) in attributes.iter().filter(|(key, _)| !is_left_out(key)) {
        if **key > *SCOPE_ATTRIBUTE
            && let Some(scope) = scope.take()
        {
            write_attribute(SCOPE_ATTRIBUTE, scope, to);
        }
        write_attribute(key, value, to);
    }
    if let Some(scope) = scope {
        write_attribute(SCOPE_ATTRIBUTE, scope, to);
    }
}

fn matches(pattern: &str, key: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(begin) => key.starts_with(begin),
        None => key == pattern,
    }
}

fn write_attribute(key: &str, value: &str, to: &mut String) {
    to.push(',');
    escape(key, &['\\', ',', '='], to);
    to.push('=');
    escape(value, &['\\', ',', '='], to);
}

fn escape(name: &str, of: &[char], to: &mut String) {
    if !name.contains(of) {
        return to.push_str(name);
    }
    for character in name.chars() {
        if of.contains(&character) {
            to.push('\\');
        }
        to.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs<'a>(of: &[(&'a str, &'a str)]) -> Vec<Attribute<'a>> {
        of.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    #[test]
    fn a_resource_names_its_node() {
        let name = |config: &OtlpConfig, resource: &[(&str, &str)]| {
            let mut to = String::new();
            write_node(config, &pairs(resource), &mut to).map(|()| to)
        };
        let default = OtlpConfig::default();
        let resource = [("host.name", "web/1"), ("service.name", "shop")];
        assert_eq!(name(&default, &resource).unwrap(), "otlp-shop-web%2F1");
        assert_eq!(name(&default, &[]).unwrap(), "otlp");
        let own = OtlpConfig { node_prefix: String::new(), ..default };
        assert_eq!(name(&own, &resource[1..]).unwrap(), "shop");
        let error = name(&own, &[]).unwrap_err();
        assert_eq!(error, "its resource has none of service.name, host.name: set otlp.node_prefix");
    }

    #[test]
    fn a_metric_and_its_attributes_name_the_instance() {
        let name = |left_out: &[&str], attributes: &[(&str, &str)]| {
            let left_out_attributes = left_out.iter().map(|name| (*name).to_owned()).collect();
            let config = OtlpConfig { left_out_attributes, ..OtlpConfig::default() };
            let mut to = String::new();
            let scope = names_scopes(&config).then_some("meter");
            write_instance(&config, "disk.io", scope, &mut pairs(attributes), &mut to);
            to
        };
        let attributes = [("z", "1"), ("a", "x=y,z\\"), ("http.a", "b")];
        assert_eq!(name(&["otel.scope.name", "http.*"], &attributes), "disk.io,a=x\\=y\\,z\\\\,z=1");
        assert_eq!(name(&[], &attributes), "disk.io,a=x\\=y\\,z\\\\,http.a=b,otel.scope.name=meter,z=1");
        assert_eq!(name(&["*"], &attributes), "disk.io");
        assert_eq!(name(&[], &[]), "disk.io,otel.scope.name=meter");
    }
}
