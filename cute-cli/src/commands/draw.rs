//! Tables and pictures.

use super::{Context, Stop, write};
use crate::answer::Answer;
use crate::args::Drawing;
use crate::failure::Failure;
use crate::session::{Session, to_layout, to_tiler};
use crate::statement::Statement;
use cute_algebra::notation::{Expr, ExprKind, NotationError, eval};
use cute_algebra::{
    ComposedLayout, Coord, Picture, PictureError, TiledCopy, TiledMma, Tiler, Tiling, Value,
    print_layout, print_slice,
};
use serde_json::{Value as Json, json};
use std::fmt::Display;

/// The table of a layout, or of a slice of it.
pub(crate) fn table(
    session: &Session,
    statement: &Statement,
    slice: Option<&str>,
) -> Result<Answer, Failure> {
    let value = session
        .numbers(&statement.text)
        .map_err(|error| Failure::new(statement, error))?;
    let picture = |error: PictureError| Failure::whole(statement, error);
    let text = match slice {
        None => print_layout(value.clone()).map_err(picture)?,
        Some(slice) => print_slice(value.clone(), &coordinate(slice)?).map_err(picture)?,
    };
    let json = json!({
        "expression": statement.text,
        "slice": slice,
        "table": text,
        "rows": rows(session, statement),
    });
    Ok(Answer { text, json })
}

/// The values row by row; null where they are not integers.
fn rows(session: &Session, statement: &Statement) -> Json {
    let Ok(layout) = session.swizzled(&statement.text) else {
        return Json::Null;
    };
    let rows = match layout.layout().rank() {
        0 | 1 => 1,
        _ => layout.layout().mode(0).map_or(1, |mode| mode.size()),
    };
    let row = |row: i64| {
        let coordinates = (row..layout.size()).step_by(rows as usize);
        coordinates
            .map(|index| json!(layout.at(index)))
            .collect::<Json>()
    };
    (0..rows).map(row).collect()
}

/// Draws a picture to a file, or to standard output.
pub(crate) fn picture(
    context: &mut Context,
    drawing: Drawing,
    render: &dyn Fn(&Picture) -> String,
) -> Result<(), Stop> {
    let Drawing {
        source,
        output,
        color_by,
        slice,
        data,
        tiler,
    } = drawing;
    let Some(statement) = context.one(source)? else {
        return Ok(());
    };
    let picture = drawn(
        &context.session,
        &statement,
        data.as_deref(),
        tiler.as_deref(),
    );
    let picture = picture.and_then(|mut picture| {
        let failed = |error: PictureError| Failure::whole(&statement, error);
        if let Some(by) = color_by {
            picture = picture.color_by(by).map_err(failed)?;
        }
        match &slice.slice {
            Some(slice) => picture.highlight(&coordinate(slice)?).map_err(failed),
            None => Ok(picture),
        }
    });
    let text = match picture {
        Ok(picture) => render(&picture),
        Err(failure) => return Ok(context.output.failure(&failure)?),
    };
    if output == "-" {
        let json = json!({ "expression": statement.text, "picture": text });
        return Ok(context.output.answer(&Answer { text, json })?);
    }
    write(&output, &text)?;
    let json = json!({ "expression": statement.text, "file": output });
    Ok(context.output.answer(&Answer {
        text: String::new(),
        json,
    })?)
}

fn coordinate(text: &str) -> Result<Coord, Failure> {
    text.parse()
        .map_err(|error| Failure::new(&Statement::verbatim(text), error))
}

fn drawn(
    session: &Session,
    statement: &Statement,
    data: Option<&str>,
    tiler: Option<&str>,
) -> Result<Picture, Failure> {
    let text = &statement.text;
    let failed = |error: NotationError| Failure::new(statement, error);
    let refused = |error: PictureError| Failure::whole(statement, error);
    if let Some(picture) = tiled(session, text).map_err(failed)? {
        return Ok(picture);
    }
    let value = session.numbers(text).map_err(failed)?;
    let option = Statement::verbatim;
    match (data, tiler) {
        (Some(data), _) => {
            let held = session
                .numbers(data)
                .map_err(|error| Failure::new(&option(data), error))?;
            let tv = session.layout(text).map_err(failed)?;
            Picture::thread_values(&tv, held).map_err(refused)
        }
        (_, Some(by)) => {
            let tiler = session
                .tiler(by)
                .map_err(|error| Failure::new(&option(by), error))?;
            let whole = session.swizzled(text).map_err(failed)?;
            tiles(&value, &whole, &tiler).map_err(refused)
        }
        (None, None) => Picture::new(value).map_err(refused),
    }
}

/// The picture of a tiled MMA or copy. It is written as a call without the last operand, the choice of one layout.
fn tiled(session: &Session, text: &str) -> Result<Option<Picture>, NotationError> {
    let prepared = session.prepare(text)?;
    let ExprKind::Call {
        operation, args, ..
    } = &prepared.expr.kind
    else {
        return Ok(None);
    };
    let at = |expr: &Expr, error: &dyn Display| NotationError::new(&expr.at, error.to_string());
    let operand =
        |expr: &Expr| eval(expr, &prepared.names()).map_err(|error| prepared.meant(error));
    let layout = |expr: &Expr| to_layout(operand(expr)?, &expr.at);
    let picture = match (&operation[..], &args[..]) {
        ("tiled_mma", [operation, atoms, permutation]) => {
            let tiler = to_tiler(operand(permutation)?, &permutation.at)?;
            let atom = name(operation)?
                .parse()
                .map_err(|error| at(operation, &error))?;
            let mma = TiledMma::new(atom, &layout(atoms)?, &tiler);
            Picture::tiled_mma(&mma.map_err(|error| at(&prepared.expr, &error))?)
        }
        ("tiled_copy", [operation, bits, threads, values]) => {
            let Value::Int(width) = operand(bits)? else {
                return Err(at(bits, &"expected an integer, the bits of an element"));
            };
            let atom = name(operation)?
                .parse()
                .map_err(|error| at(operation, &error))?;
            let copy = TiledCopy::new(&atom, width, &layout(threads)?, &layout(values)?);
            Picture::tiled_copy(&copy.map_err(|error| at(&prepared.expr, &error))?)
        }
        _ => return Ok(None),
    };
    let picture = picture.map_err(|error| at(&prepared.expr, &error))?;
    Ok(Some(picture.titled(text)))
}

/// The picture of a tiling. The tiling is ragged if the tiler does not divide the layout.
fn tiles(value: &Value, whole: &ComposedLayout, tiler: &Tiler) -> Result<Picture, PictureError> {
    let title = format!("{value} / {tiler}");
    match Tiling::new(whole, tiler) {
        Ok(tiling) => Ok(Picture::tiling(&tiling)?.titled(title)),
        Err(refused) => match Tiling::ragged(whole, tiler) {
            Ok(tiling) => Ok(Picture::tiling(&tiling)?.titled(format!("ragged {title}"))),
            Err(_) => Err(refused.into()),
        },
    }
}

fn name(expr: &Expr) -> Result<&str, NotationError> {
    match &expr.kind {
        ExprKind::Name(name) => Ok(name),
        _ => Err(NotationError::new(
            &expr.at,
            "expected the name of an operation",
        )),
    }
}
