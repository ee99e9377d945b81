//! Names near to one that does not exist.

use cute_algebra::operations::edit_distance;

/// Most names that a help lists.
#[cfg(feature = "ptx")]
const LISTED: usize = 8;

/// The nearest of these names, if it is as near as a mistyped name is.
pub(crate) fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = names
        .into_iter()
        .map(|other| (distance(name, other), other));
    let (_, nearest) = distances.filter(|(far, _)| is_near(name, *far)).min()?;
    Some(nearest)
}

/// The help for a path that does not exist: the nearest of these paths, or else all of them. A last segment may stand for its path.
#[cfg(feature = "ptx")]
pub(crate) fn path_help(name: &str, paths: &[String]) -> Option<String> {
    let distances: Vec<_> = paths
        .iter()
        .map(|path| {
            let last = path.rsplit("::").next().unwrap_or(path);
            distance(name, path).min(distance(name, last))
        })
        .collect();
    let least = distances.iter().copied().min()?;
    if is_near(name, least) {
        let near = paths
            .iter()
            .zip(&distances)
            .filter(|(_, far)| **far == least);
        let near: Vec<_> = near.map(|(path, _)| format!("`{path}`")).take(3).collect();
        return Some(format!("did you mean {}?", near.join(" or ")));
    }
    let listed: Vec<_> = paths
        .iter()
        .take(LISTED)
        .map(|it| format!("`{it}`"))
        .collect();
    let more = match paths.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("the file has {}{more}", listed.join(", ")))
}

/// How far the names are apart; the case of letters does not count.
fn distance(name: &str, other: &str) -> usize {
    edit_distance(&name.to_lowercase(), &other.to_lowercase())
}

fn is_near(name: &str, distance: usize) -> bool {
    let length = name.chars().count();
    distance <= 1 + length / 4 && distance < length
}
