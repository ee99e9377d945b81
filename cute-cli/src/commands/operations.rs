//! The list of operations.

use crate::answer::Answer;
use cute_algebra::operations::OPERATIONS;
use serde_json::json;

/// The operations whose names contain `part`.
pub(crate) fn list(part: &str) -> Answer {
    let found = || OPERATIONS.iter().filter(|row| row.name.contains(part));
    let text = found().map(|row| {
        let ragged = if row.ragged { " (also `ragged`)" } else { "" };
        format!("{}({})\n    {}{ragged}\n", row.name, row.signature, row.doc)
    });
    let list = found().map(|row| {
        json!({
            "name": row.name,
            "signature": row.signature,
            "doc": row.doc,
            "ragged": row.ragged,
            "results": row.results,
        })
    });
    Answer {
        text: text.collect(),
        json: list.collect(),
    }
}
