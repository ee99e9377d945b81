//! The list of operations.

use crate::answer::Answer;
use cute_algebra::notation::eval_str;
use cute_algebra::operations::OPERATIONS;
use serde_json::json;

/// The operations whose names contain `part`.
pub(crate) fn list(part: &str) -> Answer {
    let found = || OPERATIONS.iter().filter(|row| row.name.contains(part));
    let text = found().map(|row| {
        let ragged = if row.ragged { " (also `ragged`)" } else { "" };
        let value =
            eval_str(row.example).map_or_else(|error| error.to_string(), |value| value.to_string());
        format!(
            "{}({})\n    {}{ragged}\n    {} = {value}\n",
            row.name, row.signature, row.doc, row.example
        )
    });
    let list = found().map(|row| {
        json!({
            "name": row.name,
            "signature": row.signature,
            "doc": row.doc,
            "example": row.example,
            "ragged": row.ragged,
            "results": row.results,
        })
    });
    Answer {
        text: text.collect(),
        json: list.collect(),
    }
}
