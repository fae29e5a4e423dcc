//! Names of nodes from what senders call themselves.

/// Adds a part of the name of a node. Patterns such as `NODE/*` need the signs `/` and `*`: they are encoded as in addresses (RFC 3986 2.1), and `%`
/// too, so that two senders never have one name.
pub fn push_node_name(part: &str, to: &mut String) {
    for sign in part.chars() {
        match sign {
            '/' => to.push_str("%2F"),
            '*' => to.push_str("%2A"),
            '%' => to.push_str("%25"),
            other => to.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_of_similar_names_have_nodes_of_their_own() {
        let name = |part| {
            let mut name = String::new();
            push_node_name(part, &mut name);
            name
        };
        assert_eq!(["a/b", "a*b", "a_b", "a%2Fb"].map(name), ["a%2Fb", "a%2Ab", "a_b", "a%252Fb"]);
    }
}
