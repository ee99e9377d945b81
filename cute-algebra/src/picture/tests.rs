//! Small pictures are compared in full. Others must be well-formed and have the right text in their cells.

use super::*;
use crate::error::LayoutError;
use crate::tiler::Tiler;
use expect_test::{ExpectFile, expect, expect_file};

type Tested = Result<(), Box<dyn std::error::Error>>;

fn layout(text: &str) -> Layout {
    text.parse().expect("a layout")
}

fn plain(layout: Layout) -> Result<ComposedLayout, LayoutError> {
    ComposedLayout::new(Swizzle::IDENTITY, 0, layout)
}

/// The pictures of the documentation, at least one of each kind, with their files.
fn gallery() -> Result<Vec<(Picture, ExpectFile)>, Box<dyn std::error::Error>> {
    let swizzle = Swizzle::new(3, 4, 3)?;
    let smem: ComposedLayout = "Sw<2,1,3> o (8,16):(16,1)".parse()?;
    let rows = plain(Layout::right([8, 8])?)?;
    let tiling = Tiling::new(&rows, &"<4:2,(2,2):(1,4)>".parse()?)?;
    let tiled = Picture::tiling(&tiling)?.titled("(8,8):(8,1) / <4:2,(2,2):(1,4)>");
    let ragged = Tiling::ragged(&plain(Layout::right([7, 10])?)?, &"<3,4>".parse()?)?;
    let ldmatrix = "((4,8),2):((16,1),8)";
    let mma = TiledMma::new(
        "SM80_16x8x8_F32F16F16F32_TN".parse()?,
        &Layout::left([1, 1, 1])?,
        &Tiler::Keep,
    )?;
    let ldsm = "SM75_U32x2_LDSM_N".parse()?;
    let copy = TiledCopy::for_mma(&ldsm, 16, &mma, MmaOperand::A)?;
    Ok(vec![
        (
            Picture::new(layout("((2,2),(2,4)):((1,4),(2,8))"))?,
            expect_file!["../../docs/layout.svg"],
        ),
        (
            Picture::new(layout("(4,8):(8,1)"))?,
            expect_file!["../../docs/row_major.svg"],
        ),
        (
            Picture::new(layout("(4,8):(1,4)"))?,
            expect_file!["../../docs/column_major.svg"],
        ),
        (
            Picture::new(swizzle)?.color_by(ColorBy::Bank { bits: 128 })?,
            expect_file!["../../docs/swizzle.svg"],
        ),
        (
            Picture::new(&smem)?.color_by(ColorBy::Bank { bits: 32 })?,
            expect_file!["../../docs/composed_layout.svg"],
        ),
        (tiled.clone(), expect_file!["../../docs/tile.svg"]),
        (
            tiled.color_by(ColorBy::Rest)?,
            expect_file!["../../docs/rest.svg"],
        ),
        (
            Picture::tiling(&ragged)?.titled("ragged (7,10):(10,1) / <3,4>"),
            expect_file!["../../docs/ragged.svg"],
        ),
        (
            Picture::thread_values(&layout(ldmatrix), Layout::left([8, 8])?)?,
            expect_file!["../../docs/thread_values.svg"],
        ),
        (
            Picture::tiled_mma(&mma)?.titled("SM80_16x8x8_F32F16F16F32_TN"),
            expect_file!["../../docs/tiled_mma.svg"],
        ),
        (
            Picture::tiled_copy(&copy)?.titled("SM75_U32x2_LDSM_N to A of SM80_16x8x8"),
            expect_file!["../../docs/tiled_copy.svg"],
        ),
    ])
}

/// The pictures in the documentation are drawn by this code.
#[test]
fn documented() -> Tested {
    for (picture, file) in gallery()? {
        file.assert_eq(&picture.to_svg());
    }
    Ok(())
}

#[test]
fn svg() -> Tested {
    let picture = Picture::new(Layout::right([1, 2])?)?;
    expect![[r##"
        <svg xmlns="http://www.w3.org/2000/svg" width="218" height="97" viewBox="0 0 218 97" role="img" aria-label="(1,2):(0,1)" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" text-anchor="middle">
        <rect width="218" height="97" fill="#ffffff"/>
        <g font-size="13" text-anchor="start" fill="#000000">
        <text x="10" y="22">(1,2):(0,1)</text>
        </g>
        <g font-size="9" fill="#444444">
        <text x="34" y="42">0</text>
        <text x="60" y="42">1</text>
        <text x="17" y="60" text-anchor="end">0</text>
        </g>
        <g stroke="#777777" stroke-width="0.5">
        <rect x="21" y="46" width="26" height="23" fill="#ffffff"><title>(0,0): 0</title></rect>
        <rect x="47" y="46" width="26" height="23" fill="#77aadd"><title>(0,1): 1</title></rect>
        </g>
        <g font-size="11" fill="#000000" pointer-events="none">
        <text x="34" y="61">0</text>
        <text x="60" y="61">1</text>
        </g>
        <path d="M21 46L73 46M21 69L73 69M21 46L21 69M73 46L73 69" fill="none" stroke="#000000" stroke-width="2" stroke-linecap="square" pointer-events="none"/>
        <text x="10" y="87" font-size="9" text-anchor="start" fill="#444444">colour: value, the larger the darker</text>
        </svg>
    "##]]
    .assert_eq(&picture.to_svg());
    Ok(())
}

#[test]
fn latex() -> Tested {
    let tv = layout("(2,2):(2,1)");
    let picture = Picture::thread_values(&tv, Layout::left([2, 3])?)?.titled("50% of_{T} \\ ~^");
    expect![[r#"
        \documentclass[tikz,border=2mm]{standalone}
        \newcommand{\cell}[4]{\node[cell,fill=#3] at (#1.5,#2.5) {#4};}
        \definecolor{c77aadd}{HTML}{77AADD}
        \definecolor{cee8866}{HTML}{EE8866}
        \begin{document}\frenchspacing
        \begin{tikzpicture}[x=7.00mm,y=-9.20mm,font=\ttfamily\footnotesize,line cap=rect,
          cell/.style={draw=gray,line width=0.2pt,inner sep=0pt,minimum width=7.00mm,minimum height=9.20mm,align=center},
          label/.style={gray!50!black,font=\ttfamily\tiny}]
        \begin{scope}[shift={(0,0)}]
        \node[label,above] at (0.5,0) {0};
        \node[label,above] at (1.5,0) {1};
        \node[label,above] at (2.5,0) {2};
        \node[label,left] at (0,0.5) {0};
        \node[label,left] at (0,1.5) {1};
        \cell{0}{0}{c77aadd}{T0\\V0}
        \cell{1}{0}{cee8866}{T1\\V0}
        \cell{2}{0}{white}{}
        \cell{0}{1}{c77aadd}{T0\\V1}
        \cell{1}{1}{cee8866}{T1\\V1}
        \cell{2}{1}{white}{}
        \draw[line width=1pt] (0,0) -- (3,0);
        \draw[line width=1pt] (0,2) -- (3,2);
        \draw[line width=1pt] (0,0) -- (0,2);
        \draw[line width=1pt] (3,0) -- (3,2);
        \end{scope}
        \node[above right,font=\ttfamily,inner xsep=0pt] at ([yshift=1mm]current bounding box.north west) {50\% of\_\{T\} \textbackslash{} \textasciitilde{}\textasciicircum{}};
        \node[below right,label,inner xsep=0pt] at (current bounding box.south west) {colour: thread, modulo 32};
        \end{tikzpicture}
        \end{document}
    "#]]
    .assert_eq(&picture.to_latex());
    Ok(())
}

/// Asserts that tags are nested, attributes are quoted, and there is a single root. This is not a full XML parser, but it
/// covers the output of the renderer.
fn check_well_formed(svg: &str) {
    assert!(!svg.contains("\n\n"), "an empty line ends HTML in Markdown");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg.trim_end();
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        assert!(
            !text.contains('>') && !text.contains('"'),
            "unescaped: {text}"
        );
        assert!(
            !open.is_empty() || text.is_empty(),
            "outside of the root: {text}"
        );
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        assert!(inside.matches('"').count() % 2 == 0, "unquoted: {inside}");
        let name = inside.split([' ', '/']).find(|name| !name.is_empty());
        let name = name.expect("a tag has a name");
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !inside.ends_with('/') {
            open.push(name);
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty() && rest.is_empty(), "{open:?} {rest}");
}

#[test]
fn well_formed() -> Tested {
    let odd = Picture::new(layout("(2,3)"))?.titled("a < b & \"c\" > d\n\ne");
    let long = Picture::new(layout("(2,3)"))?.titled("x".repeat(10_000));
    assert!(long.to_svg().contains("x…</text>"));
    let gallery = gallery()?.into_iter().map(|(picture, _)| picture);
    for picture in gallery.chain([odd, long, Picture::new(layout("(4,5):(1@1,1@0)"))?]) {
        check_well_formed(&picture.to_svg());
        let latex = picture.to_latex();
        let count =
            |sign: char| latex.matches(sign).count() - latex.matches(&format!("\\{sign}")).count();
        assert_eq!(count('{'), count('}'));
        assert_eq!(
            latex.matches("\\begin{").count(),
            latex.matches("\\end{").count()
        );
    }
    Ok(())
}

/// Every cell of a TV picture has its holder from the layout.
#[test]
fn holders() -> Tested {
    let mma = TiledMma::new(
        "SM80_16x8x8_F32F16F16F32_TN".parse()?,
        &Layout::left([1, 2, 1])?,
        &Tiler::Keep,
    )?;
    let picture = Picture::tiled_mma(&mma)?;
    let b = &picture.panels[0];
    let layout_tv = mma.layout_tv(MmaOperand::B)?;
    assert_eq!((b.rows, b.columns), (8, 16));
    for (index, cell) in b.cells.iter().enumerate() {
        // In the transposed B, K runs down and N to the right.
        let (k, n) = ((index / b.columns) as i64, (index % b.columns) as i64);
        let holder = cell.holder.ok_or("nobody holds it")?;
        let coord: Coord = [Some(holder.outer), Some(holder.inner)].into();
        assert_eq!(layout_tv.crd2idx(&coord)?, Tuple::Leaf(n + 16 * k));
        assert_eq!(holder.others, 0);
    }
    // The two atoms along N use the same A, so each element of A has two holders.
    let a = &picture.panels[1];
    assert!(
        a.cells
            .iter()
            .all(|cell| cell.holder.is_some_and(|holder| holder.others == 1))
    );
    assert!(picture.to_svg().contains(">T0+1<"));
    Ok(())
}

/// Every element has its tile and its position from the tiling.
#[test]
fn tiles() -> Tested {
    let whole = "Sw<2,0,2> o (4,(3,4)):(12,(4,1))".parse()?;
    let tiling = Tiling::ragged(&whole, &"<3:1,<2:1,_>>".parse()?)?;
    let picture = Picture::tiling(&tiling)?;
    let places = tiling.layout().layout().mode(0).ok_or("a tile")?.size();
    for cell in &picture.panels[0].cells {
        let holder = cell.holder.ok_or("every cell is in a tile")?;
        let index = holder.outer * places + holder.inner;
        assert_eq!(
            tiling.layout().at(index).map(Tuple::Leaf),
            Some(cell.value.clone())
        );
        assert_eq!(holder.others, 0);
    }
    Ok(())
}

#[test]
fn thick_lines() -> Tested {
    let picture = Picture::new(layout("((2,2),3)"))?;
    let lines: Vec<_> = picture.panels[0]
        .lines()
        .iter()
        .map(|line| (line.from, line.to))
        .collect();
    assert_eq!(
        lines,
        [
            ((0, 0), (3, 0)),
            ((0, 2), (3, 2)),
            ((0, 4), (3, 4)),
            ((0, 0), (0, 4)),
            ((3, 0), (3, 4)),
        ]
    );
    Ok(())
}

#[test]
fn colors() -> Tested {
    // In a row-major tile with rows of 32 floats, a column lies in one bank; with the swizzle it lies in eight.
    let column = |picture: &Picture| {
        let fills = picture.fills(&picture.panels[0]);
        let mut column: Vec<_> = fills.into_iter().step_by(32).flatten().collect();
        column.sort_unstable();
        column.dedup();
        column.len()
    };
    let by = ColorBy::Bank { bits: 32 };
    let plain = Picture::new(layout("(8,32):(32,1)"))?.color_by(by)?;
    let swizzled: ComposedLayout = "Sw<3,2,3> o (8,32):(32,1)".parse()?;
    assert_eq!(column(&plain), 1);
    assert_eq!(column(&Picture::new(&swizzled)?.color_by(by)?), 8);
    for by in ColorBy::ALL {
        assert_eq!(by.to_string().parse(), Ok(by));
    }
    assert_eq!("bank".parse(), Ok(ColorBy::Bank { bits: 32 }));
    Ok(())
}

#[test]
fn refused() {
    let of = |text: &str| Picture::new(layout(text));
    let color = |text: &str| match text.parse::<ColorBy>() {
        Ok(by) => of("(4,4)")
            .and_then(|picture| picture.color_by(by))
            .map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    let on_4x4 = |text: &str| {
        Picture::thread_values(&layout(text), Layout::unit()).map_err(|error| error.to_string())
    };
    let message = |result: Result<Picture, PictureError>| result.map_err(|error| error.to_string());
    for (found, expected) in [
        (
            message(of("(1000,1000)")),
            "a picture of 1000000 cells: the limit is 65536; draw a tile of it",
        ),
        (
            message(of("(256,257)")),
            "a picture of 65792 cells: the limit is 65536; draw a tile of it",
        ),
        (
            message(Picture::new(Swizzle::new(20, 0, 40).expect("legal"))),
            "a picture of 1152921504606846976 cells: the limit is 65536; draw a tile of it",
        ),
        (
            message(Picture::new(true)),
            "no picture of a truth value: expected a layout, a shape or a swizzle",
        ),
        (
            color("thread"),
            "a picture of a layout cannot be coloured by thread, only by value, bank:32, tile, rest",
        ),
        (
            color("bank:0"),
            "a picture cannot be coloured by `bank:0`: expected value, thread, bank, bank:BITS with 1 to 128 bits, tile or rest",
        ),
        (
            on_4x4("(4,4):(5,1)"),
            "value 0 of thread 1 is element 5, outside of the tile of 1 elements",
        ),
        (
            on_4x4("(2,2):(-1,1)"),
            "value 0 of thread 1 is element -1, outside of the tile of 1 elements",
        ),
        (
            on_4x4("16"),
            "a layout of rank 1: expected one of rank 2, from (thread, value) to the elements of a tile",
        ),
        (
            on_4x4("(4096,4096):(0,0)"),
            "a picture of 16777216 pairs of thread and value: the limit is 4194304",
        ),
    ] {
        assert_eq!(found.err().as_deref(), Some(expected));
    }
    assert!(of("(256,256)").is_ok());
}

/// Thick lines separate the atoms of a tiled copy, here of 8 elements each.
#[test]
fn atoms_are_separated() -> Tested {
    let (threads, values) = (Layout::right([8, 4])?, Layout::right([1, 8])?);
    let copy = TiledCopy::new(&"UniversalCopy<uint128_t>".parse()?, 16, &threads, &values)?;
    let svg = Picture::tiled_copy(&copy)?.to_svg();
    assert!(svg.contains("M261 60L261 348M501 60L501 348M741 60L741 348"));
    Ok(())
}

/// Cells outside of a slice are faint; a slice outside of the layout is refused.
#[test]
fn slices_are_highlighted() -> Tested {
    let picture = || Picture::new(Layout::right([4, 8])?);
    let row = picture()?.highlight(&"(2,_)".parse()?)?;
    assert_eq!(row.to_svg().matches("fill-opacity").count(), 24);
    assert_eq!(row.to_latex().matches("!15").count(), 24);
    let nested = Picture::new(layout("((2,2),8)"))?;
    let half = nested.highlight(&"((_,1),3)".parse()?)?;
    assert_eq!(half.to_svg().matches("fill-opacity").count(), 30);
    for outside in ["(4,_)", "(_,-1)", "(_,_,_)", "32", "((_,0),_)"] {
        assert!(
            picture()?.highlight(&outside.parse()?).is_err(),
            "{outside}"
        );
    }
    Ok(())
}
