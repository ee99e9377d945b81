//! Values as JSON and back.

use cute_algebra::{
    ColorBy, ComposedLayout, Coord, IntTuple, Layout, Picture, Stride, Swizzle, Tiler, Tiling,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::str::FromStr;

type Tested = Result<(), Box<dyn std::error::Error>>;

/// What `text` describes is serialised as `written`, and read back as the same value.
fn check<T>(text: &str, written: &str) -> Tested
where
    T: FromStr<Err: std::error::Error + 'static> + Serialize + DeserializeOwned + PartialEq + Debug,
{
    let value: T = text.parse()?;
    let json = serde_json::to_string(&value)?;
    assert_eq!(json, format!("\"{written}\""));
    assert_eq!(serde_json::from_str::<T>(&json)?, value);
    Ok(())
}

#[test]
fn values_are_their_text() -> Tested {
    check::<Layout>("(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)")?;
    check::<Layout>("8", "8:1")?;
    check::<Layout>("(4,3):(1@0,1@1)", "(4,3):(1@0,1@1)")?;
    check::<IntTuple>("(4, (2, 3))", "(4,(2,3))")?;
    check::<IntTuple>("7", "7")?;
    check::<Stride>("(1,2@1)", "(1,2@1)")?;
    check::<Coord>("(_,3)", "(_,3)")?;
    check::<Coord>("_", "_")?;
    check::<Tiler>("<4:2,(2,2):(1,4),_>", "<4:2,(2,2):(1,4),_>")?;
    check::<Tiler>("4", "4:1")?;
    check::<Swizzle>("Sw<3,4,3>", "Sw<3,4,3>")?;
    check::<ComposedLayout>("Sw<2,0,3> o (8,8):(8,1)", "Sw<2,0,3> o 0 o (8,8):(8,1)")?;
    check::<Tiling>(
        "(8,6):(6,1) / <4,3>",
        "Sw<0,0,0> o 0 o (8,6):(6,1) / <4:1,3:1>",
    )?;
    check::<Tiling>("ragged 10:1 / 4:1", "ragged Sw<0,0,0> o 0 o 10:1 / 4:1")?;
    check::<ColorBy>("bank:16", "bank:16")
}

#[test]
fn mistakes_are_those_of_the_notation() {
    let error = serde_json::from_str::<Layout>("\"(4,2):(1,\"").unwrap_err();
    let said = "(4,2):(1,".parse::<Layout>().unwrap_err().to_string();
    assert!(error.to_string().starts_with(&said), "{error}");
    let error = serde_json::from_str::<Layout>("4").unwrap_err();
    let expected = "invalid type: integer `4`, expected text in the notation of layouts";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn a_picture_is_its_cells() -> Tested {
    let layout: Layout = "(2,2):(2,1)".parse()?;
    let picture = serde_json::to_value(Picture::new(&layout)?)?;
    assert_eq!(picture["subject"], "values");
    assert_eq!(picture["color_by"], "value");
    let panel = &picture["panels"][0];
    assert_eq!((&panel["rows"], &panel["columns"]), (&2.into(), &2.into()));
    let values: Vec<&str> = (panel["cells"].as_array().unwrap().iter())
        .map(|cell| cell["value"].as_str().unwrap())
        .collect();
    assert_eq!(values, ["0", "1", "2", "3"]);
    Ok(())
}
