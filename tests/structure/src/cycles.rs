//! Groups of nodes that reach each other.

/// Returns the strongly connected components of more than one node, each sorted; `edges[n]` lists the nodes that `n` points at.
///
/// ```
/// assert_eq!(oasis_structure::cycles(&[vec![1], vec![2], vec![1], vec![0]]), [[1, 2]]);
/// ```
pub fn cycles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<Vec<bool>> = (0..edges.len()).map(|start| reachable(edges, start)).collect();
    let mut assigned = vec![false; edges.len()];
    let mut found = Vec::new();
    for node in 0..edges.len() {
        if assigned[node] {
            continue;
        }
        let group: Vec<usize> =
            (node..edges.len()).filter(|&other| reached[node][other] && reached[other][node]).collect();
        for &member in &group {
            assigned[member] = true;
        }
        if group.len() > 1 {
            found.push(group);
        }
    }
    found
}

fn reachable(edges: &[Vec<usize>], start: usize) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut open = vec![start];
    while let Some(node) = open.pop() {
        for &next in &edges[node] {
            if !seen[next] {
                seen[next] = true;
                open.push(next);
            }
        }
    }
    seen
}
