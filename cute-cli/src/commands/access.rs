//! How warps access shared and global memory.

use super::Context;
use crate::answer::{Answer, table};
use crate::args::Access;
use crate::failure::Failure;
use crate::session::Session;
use crate::statement::Statement;
use cute_algebra::{
    ComposedLayout, Layout, LayoutError, access_of_memory, best_swizzle, global_access,
    shared_access, vector_elsewhere,
};
use serde_json::{Value as Json, json};
use std::io;

/// Counts the bank conflicts of each access pattern.
pub(crate) fn banks(context: &mut Context, access: &Access) -> io::Result<()> {
    each(context, access, &|tile, tv, bits, failed| {
        let found = shared_access(tile, bits, tv).map_err(failed)?;
        let worst = &found.worst;
        let best = best_swizzle(tile.layout(), bits, std::slice::from_ref(tv)).ok();
        let best = best.and_then(|best| Some((best.swizzle, *best.degrees.first()?)));
        let best = best.filter(|(_, degree)| *degree < worst.degree);
        let mut rows = vec![
            ("accesses of a thread", found.accesses.to_string()),
            (
                "conflicts",
                match worst.degree {
                    0 | 1 => "none".to_owned(),
                    degree => format!(
                        "{degree}-way: warp {} needs {degree} words of bank {} in access {}",
                        found.warp, worst.bank, found.access
                    ),
                },
            ),
        ];
        if worst.degree > 1 {
            let lanes: Vec<_> = worst.lanes.iter().map(ToString::to_string).collect();
            rows.push(("lanes", lanes.join(", ")));
        }
        if let Some((swizzle, degree)) = &best {
            rows.push((
                "better",
                match degree {
                    1 => format!("{swizzle} has no conflicts"),
                    _ => format!("{swizzle} has {degree}-way conflicts"),
                },
            ));
        }
        let json = json!({
            "vector": found.vector,
            "accesses": found.accesses,
            "degree": worst.degree,
            "bank": worst.bank,
            "lanes": worst.lanes,
            "warp": found.warp,
            "access": found.access,
            "better": best.map(|(swizzle, degree)| json!({ "swizzle": swizzle.to_string(), "degree": degree })),
        });
        Ok((found.vector, rows, json))
    })
}

/// Counts the sectors and transactions of each access pattern.
pub(crate) fn coalescing(context: &mut Context, access: &Access) -> io::Result<()> {
    each(context, access, &|tensor, tv, bits, failed| {
        let found = global_access(tensor, bits, tv).map_err(failed)?;
        let moved = found.sectors * 32;
        let mut rows = vec![
            ("accesses of a thread", found.accesses.to_string()),
            ("warps", found.warps.to_string()),
            (
                "sectors of 32 bytes",
                match found.sectors == found.least_sectors {
                    true => format!("{}, the fewest for {} bytes", found.sectors, found.bytes),
                    false => format!(
                        "{}, where {} hold the {} bytes",
                        found.sectors, found.least_sectors, found.bytes
                    ),
                },
            ),
            (
                "bytes used",
                format!(
                    "{} of {moved}, {} %",
                    found.bytes,
                    found.bytes * 100 / moved.max(1)
                ),
            ),
            (
                "lines of 128 bytes",
                format!("{}, each a transaction", found.transactions),
            ),
        ];
        if found.sectors != found.least_sectors {
            let worst = found.worst;
            let at = format!(
                "{} sectors in {} lines for {} bytes, by warp {} in access {}",
                worst.sectors, worst.transactions, worst.bytes, worst.warp, worst.access
            );
            rows.push(("worst", at));
        }
        let json = json!({
            "vector": found.vector,
            "accesses": found.accesses,
            "warps": found.warps,
            "bytes": found.bytes,
            "sectors": found.sectors,
            "least_sectors": found.least_sectors,
            "transactions": found.transactions,
            "worst": {
                "warp": found.worst.warp,
                "access": found.worst.access,
                "bytes": found.worst.bytes,
                "sectors": found.worst.sectors,
                "transactions": found.worst.transactions,
            },
        });
        Ok((found.vector, rows, json))
    })
}

/// The elements at once, lines about the access, and all of it as JSON.
type Rows = (i64, Vec<(&'static str, String)>, Json);
type Failed<'a> = &'a dyn Fn(LayoutError) -> Failure;
type Analysis<'a> = &'a dyn Fn(&ComposedLayout, &Layout, i64, Failed<'_>) -> Result<Rows, Failure>;

/// The answer of an analysis for each access pattern.
fn each(context: &mut Context, access: &Access, analysis: Analysis<'_>) -> io::Result<()> {
    for (i, pattern) in access.access.iter().enumerate() {
        let statements = [&access.layout, pattern].map(|text| Statement::argument(text));
        match one(&context.session, &statements, access.bits, analysis) {
            Ok(mut answer) => {
                if i > 0 {
                    answer.text.insert(0, '\n');
                }
                context.output.answer(&answer)?;
            }
            Err(failure) => context.output.failure(&failure)?,
        }
    }
    Ok(())
}

fn one(
    session: &Session,
    [layout, pattern]: &[Statement; 2],
    bits: i64,
    analysis: Analysis<'_>,
) -> Result<Answer, Failure> {
    let memory = session
        .swizzled(&layout.text)
        .map_err(|error| Failure::new(layout, error))?;
    let tv = session
        .layout(&pattern.text)
        .map_err(|error| Failure::new(pattern, error))?;
    // An access has no form with `ragged`, which `{:#}` does not name.
    let of_memory = access_of_memory(memory.layout().shape(), &tv)
        .map_err(|error| Failure::whole(pattern, format!("{:#}", error.kind())))?;
    // Operand 0 is the layout in memory, operand 1 the element size, operand 2 the pattern.
    let failed = |error: LayoutError| {
        let statement = if error.place().operand == 0 {
            layout
        } else {
            pattern
        };
        Failure::whole(statement, error.kind())
    };
    let (vector, of_access, mut json) = analysis(&memory, &of_memory, bits, &failed)?;
    let mut rows = vec![
        ("access", tv.to_string()),
        ("elements at once", at_once(vector, bits)),
    ];
    let narrower = vector_elsewhere(&memory, &of_memory, vector);
    json["vector_elsewhere"] = narrower.map_or(vector, |narrower| narrower.vector).into();
    if let Some(narrower) = narrower {
        let text = format!(
            "{}, since {}",
            at_once(narrower.vector, bits),
            narrower.reason
        );
        rows.push(("at other places", text));
    }
    rows.extend(of_access);
    json["layout"] = layout.text.clone().into();
    json["pattern"] = pattern.text.clone().into();
    json["bits"] = bits.into();
    Ok(Answer {
        text: table(rows),
        json,
    })
}

fn at_once(vector: i64, bits: i64) -> String {
    match vector * bits {
        bits if bits % 8 == 0 => format!("{vector} ({} bytes)", bits / 8),
        bits => format!("{vector} ({bits} bits)"),
    }
}
