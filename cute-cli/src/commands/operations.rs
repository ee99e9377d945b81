//! The list of operations, by groups.

use super::Stop;
use crate::answer::Answer;
use cute_algebra::notation::eval_str;
use cute_algebra::operations::{GROUPS, Group, Operation, all, edit_distance};
use serde_json::json;

/// How many names an error lists.
const NEAREST: usize = 3;

/// The operations whose group is `word` or whose names contain it; all of them for an empty word.
pub(crate) fn list(word: &str) -> Result<Answer, Stop> {
    let (mut texts, mut documents) = (Vec::new(), Vec::new());
    for group in GROUPS {
        let is_listed = |row: &&Operation| group.name == word || row.name.contains(word);
        let rows: Vec<_> = group.operations.iter().filter(is_listed).collect();
        if !rows.is_empty() {
            let rows = rows.iter().map(|row| text(row));
            texts.push(format!(
                "{}: {}\n\n{}",
                group.name,
                group.doc,
                rows.collect::<String>()
            ));
        }
        documents.extend(rows.into_iter().map(|row| {
            json!({
                "group": group.name,
                "name": row.name,
                "signature": row.signature,
                "doc": row.doc,
                "error_if": row.refusal.as_ref().map(|refusal| refusal.when),
                "refused": row.refusal.as_ref().map(|refusal| refusal.example),
                "example": row.example,
                "value": value(row),
                "ragged": row.ragged,
                "results": row.results,
            })
        }));
    }
    match documents.is_empty() {
        true => Err(Stop::Usage(unknown(word))),
        false => Ok(Answer {
            text: texts.join("\n"),
            json: documents.into(),
        }),
    }
}

fn text(row: &Operation) -> String {
    let ragged = if row.ragged { " (also `ragged`)" } else { "" };
    let refusal = row.refusal.as_ref();
    let refusal = refusal.map_or_else(String::new, |it| format!("    error if {}\n", it.when));
    format!(
        "{}({})\n    {}{ragged}\n{refusal}    {} = {}\n",
        row.name,
        row.signature,
        row.doc,
        row.example,
        value(row)
    )
}

fn value(row: &Operation) -> String {
    eval_str(row.example).map_or_else(|error| error.to_string(), |value| value.to_string())
}

/// The error for a word that no name contains: names are near if one of their parts is.
fn unknown(word: &str) -> String {
    let distance = |name: &str| {
        let parts = name.split('_').chain([name]);
        parts.map(|part| edit_distance(word, part)).min()
    };
    let mut names: Vec<&str> = all().map(|row| row.name).collect();
    names.sort_by_key(|name| distance(name));
    let groups: Vec<&str> = GROUPS.iter().map(|Group { name, .. }| *name).collect();
    format!(
        "there is no operation with `{word}` in its name; the nearest are {}; the groups are {}",
        names[..NEAREST].join(", "),
        groups.join(", ")
    )
}
