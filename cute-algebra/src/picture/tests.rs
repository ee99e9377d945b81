//! Small pictures are compared in full. Others must be well-formed and have the right text in their cells.

use super::color::Rgb;
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
        <svg xmlns="http://www.w3.org/2000/svg" width="111" height="153" viewBox="0 0 111 153" role="img" aria-label="(1,2):(0,1)" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" text-anchor="middle">
        <rect width="111" height="153" fill="#ffffff"/>
        <g font-size="13" text-anchor="start" fill="#000000">
        <text x="10" y="22">(1,2):(0,1)</text>
        </g>
        <g font-size="11" fill="#444444">
        <text x="36" y="42" text-anchor="start">column j</text>
        <text x="19" y="60" text-anchor="end" transform="rotate(-90 19 60)">row i</text>
        </g>
        <g font-size="9" fill="#444444">
        <text x="49" y="56">0</text>
        <text x="75" y="56">1</text>
        <text x="32" y="74" text-anchor="end">0</text>
        </g>
        <g stroke="#777777" stroke-width="0.5">
        <rect x="36" y="60" width="26" height="23" fill="#e2ebf8"><title>(0,0): 0</title></rect>
        <rect x="62" y="60" width="26" height="23" fill="#4a86d8"><title>(0,1): 1</title></rect>
        </g>
        <g font-size="11" fill="#000000" pointer-events="none">
        <text x="49" y="75">0</text>
        <text x="75" y="75">1</text>
        </g>
        <path d="M36 60L88 60M36 83L88 83M36 60L36 83M88 60L88 83" fill="none" stroke="#000000" stroke-width="2" stroke-linecap="square" pointer-events="none"/>
        <g font-size="11" fill="#000000">
        <text x="10" y="117" text-anchor="start">colour: value</text>
        <rect x="10" y="123" width="26" height="16" fill="#e2ebf8" stroke="#777777" stroke-width="0.5"/>
        <text x="23" y="135">0</text>
        <rect x="40" y="123" width="26" height="16" fill="#4a86d8" stroke="#777777" stroke-width="0.5"/>
        <text x="53" y="135">1</text>
        </g>
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
        \definecolor{c5e9bef}{HTML}{5E9BEF}
        \definecolor{cc57714}{HTML}{C57714}
        \begin{document}\frenchspacing
        \begin{tikzpicture}[x=7.00mm,y=-9.20mm,font=\ttfamily\footnotesize,line cap=rect,
          cell/.style={draw=gray,line width=0.2pt,inner sep=0pt,minimum width=7.00mm,minimum height=9.20mm,align=center},
          label/.style={gray!50!black,font=\ttfamily\tiny}]
        \begin{scope}[shift={(0,0)}]
        \node[label,above] at (0.5,0) {0};
        \node[label,above] at (1.5,0) {1};
        \node[label,above] at (2.5,0) {2};
        \node[label,above right,inner xsep=0pt,yshift=2.5mm] at (0,0) {column j of the tile};
        \node[label,rotate=90,anchor=south east,inner xsep=0pt] at ([xshift=-5mm]0,0) {row i of the tile};
        \node[label,left] at (0,0.5) {0};
        \node[label,left] at (0,1.5) {1};
        \cell{0}{0}{c5e9bef}{T0\\V0}
        \cell{1}{0}{cc57714}{T1\\V0}
        \cell{2}{0}{white}{}
        \cell{0}{1}{c5e9bef}{T0\\V1}
        \cell{1}{1}{cc57714}{T1\\V1}
        \cell{2}{1}{white}{}
        \draw[line width=1pt] (0,0) -- (3,0);
        \draw[line width=1pt] (0,2) -- (3,2);
        \draw[line width=1pt] (0,0) -- (0,2);
        \draw[line width=1pt] (3,0) -- (3,2);
        \end{scope}
        \node[above right,font=\ttfamily,inner xsep=0pt] at ([yshift=1mm]current bounding box.north west) {50\% of\_\{T\} \textbackslash{} \textasciitilde{}\textasciicircum{}};
        \node[below right,font=\ttfamily\tiny,inner xsep=0pt,align=left] at (current bounding box.south west) {colour: thread T\\\colorbox{c5e9bef}{\strut T0} \colorbox{cc57714}{\strut T1}};
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
    // This is told once, and not in each cell.
    let notes = picture.colors().legend().notes;
    assert_eq!(
        notes,
        ["A: threads t and t + 32 hold the same elements; cells show t"]
    );
    assert!(!picture.to_svg().contains("T0+1"));
    Ok(())
}

/// Elements of a tile may be given as numbers or as coordinates.
#[test]
fn holders_of_coordinates() -> Tested {
    let tile = || Layout::right([4, 8]);
    let numbers = Picture::thread_values(&layout("((4,2),4):((1,16),4)"), tile()?)?;
    let coordinates = layout("((4,2),4):((1@0,4@1),1@1)");
    assert_eq!(
        Picture::thread_values(&coordinates, tile()?)?.panels,
        numbers.panels
    );
    let outside = Picture::thread_values(&coordinates, Layout::right([4, 7])?)
        .map_err(|error| error.to_string());
    assert_eq!(
        outside,
        Err("value 3 of thread 4 is at (0,7), outside of the tile of shape (4,7)".to_owned())
    );
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
        let colors = picture.colors();
        let cells = picture.panels[0].cells.iter().step_by(32);
        let mut column: Vec<_> = cells.filter_map(|cell| colors.fill(cell)).collect();
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

/// The lightness and the two colour axes of OKLab, in which equal distances look about equally large.
fn oklab(linear: [f64; 3]) -> [f64; 3] {
    let cones = applied(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ],
        linear.map(|part| part.clamp(0.0, 1.0)),
    );
    applied(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ],
        cones.map(f64::cbrt),
    )
}

fn applied(matrix: [[f64; 3]; 3], color: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(color).map(|(a, b)| a * b).sum())
}

fn linear(color: Rgb) -> [f64; 3] {
    [color.0, color.1, color.2].map(|part| match f64::from(part) / 255.0 {
        dark @ ..=0.04045 => dark / 12.92,
        part => ((part + 0.055) / 1.055).powf(2.4),
    })
}

/// The contrast of black text on a colour, as WCAG defines it.
fn contrast(color: Rgb) -> f64 {
    let [red, green, blue] = linear(color);
    (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) / 0.05
}

/// What readers see: with all cones, and without one kind of them (Machado, Oliveira and Fernandes 2009).
const VIEWS: [[[f64; 3]; 3]; 4] = [
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
];

/// The least distance between two colours in any view.
fn distance(a: Rgb, b: Rgb) -> f64 {
    let seen = |view| {
        let [a, b] = [a, b].map(|color| oklab(applied(view, linear(color))));
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    VIEWS.map(seen).into_iter().fold(f64::MAX, f64::min)
}

#[test]
fn black_text_is_readable_on_all_colors() {
    let all = (0..color::CYCLE).map(color::cycled);
    let ranked = (0..64).map(|rank| color::ranked(rank, 64));
    for color in all.chain(ranked) {
        assert!(contrast(color) >= 4.5, "{color}: {}", contrast(color));
    }
}

/// Also by readers who lack one kind of cones. One unit is the distance from black to white; adjacent fields differ visibly
/// from about 0.02 on.
#[test]
fn colors_are_told_apart() {
    let paper = Rgb(255, 255, 255);
    let apart = |a: Rgb, b: Rgb, least: f64| {
        let distance = distance(a, b);
        assert!(distance >= least, "{a} and {b}: {distance}");
    };
    for key in 0..color::CYCLE {
        apart(color::cycled(key), paper, 0.07);
        for step in [1, 2, 4, 8] {
            apart(color::cycled(key), color::cycled(key + step), 0.03);
        }
        apart(color::of_bank(key), color::of_bank(key + 1), 0.03);
    }
    for (a, b) in (0..8).flat_map(|a| (0..a).map(move |b| (a, b))) {
        apart(color::cycled(a), color::cycled(b), 0.07);
        // The first of four banks.
        apart(color::of_bank(4 * a), color::of_bank(4 * b), 0.07);
    }
    apart(color::ranked(0, 2), paper, 0.04);
    for rank in 1..8 {
        apart(color::ranked(rank - 1, 8), color::ranked(rank, 8), 0.025);
    }
}

/// The heading and the swatches of a legend, `…` for what is left out.
fn legend(picture: Picture) -> String {
    let legend = picture.colors().legend();
    let swatches = legend.swatches.into_iter();
    let texts = swatches.map(|swatch| swatch.map_or("…".into(), |swatch| swatch.text));
    format!(
        "{}: {}",
        legend.heading,
        texts.collect::<Vec<_>>().join(" ")
    )
}

#[test]
fn legends_are_short_and_right() -> Tested {
    let of = |text: &str, by: ColorBy| {
        Ok::<_, PictureError>(legend(Picture::new(layout(text))?.color_by(by)?))
    };
    let bank = |bits| ColorBy::Bank { bits };
    assert_eq!(of("(4,8):(8,1)", ColorBy::Value)?, "colour: value: 0 … 31");
    assert_eq!(of("(1,2)", ColorBy::Value)?, "colour: value: 0 1");
    assert_eq!(
        of("(2,3):(1@0,1@1)", ColorBy::Value)?,
        "colour: coordinate: (0,0) … (1,2)"
    );
    assert_eq!(
        of("(8,8)", bank(128))?,
        "colour: first bank b, elements of 128 bits: b0 b4 b8 b12 b16 b20 b24 b28"
    );
    assert_eq!(
        of("(8,8)", bank(32))?,
        "colour: bank b, elements of 32 bits: b0 b1 b2 b3 b4 b5 … b31"
    );
    // The colours repeat from 33 on, and only then the legend says so.
    assert_eq!(
        of("(2,32)", ColorBy::Tile)?,
        "colour: column: 0 1 2 3 4 5 … 31"
    );
    assert_eq!(
        of("(2,33)", ColorBy::Tile)?,
        "colour: column modulo 32: 0 1 2 3 4 5 … 31"
    );
    let threads = |text: &str| Picture::thread_values(&layout(text), Layout::left(64)?);
    assert_eq!(
        legend(threads("(32,2)")?),
        "colour: thread T: T0 T1 T2 T3 T4 T5 … T31"
    );
    assert_eq!(
        legend(threads("(64,1)")?),
        "colour: thread T modulo 32: T0 T1 T2 T3 T4 T5 … T31"
    );
    assert_eq!(
        legend(threads("(32,2)")?.color_by(ColorBy::Value)?),
        "colour: value V of a thread: V0 V1"
    );
    let rows = plain(Layout::right([8, 8])?)?;
    let tiled = Picture::tiling(&Tiling::new(&rows, &"<4,2>".parse()?)?)?;
    assert_eq!(legend(tiled.clone()), "colour: tile: 0 1 2 3 4 5 6 7");
    assert_eq!(
        legend(tiled.color_by(ColorBy::Rest)?),
        "colour: place in the tile: 0 1 2 3 4 5 6 7"
    );
    Ok(())
}

/// Each swatch has the colour of the cells that it stands for.
#[test]
fn swatches_have_the_colors_of_cells() -> Tested {
    for (picture, _) in gallery()? {
        let colors = picture.colors();
        let fills: Vec<_> = (picture.panels.iter())
            .flat_map(|panel| panel.cells.iter().map(move |cell| (panel, cell)))
            .filter_map(|(panel, cell)| Some((colors.fill(cell)?, picture.lines(panel, cell))))
            .collect();
        for swatch in colors.legend().swatches.into_iter().flatten() {
            let is_shown = |(fill, lines): &(Rgb, Vec<String>)| {
                *fill == swatch.fill
                    && (matches!(picture.color_by, ColorBy::Tile | ColorBy::Rest)
                        || lines.contains(&swatch.text))
            };
            assert!(
                fills.iter().any(is_shown),
                "{}: {}",
                picture.title,
                swatch.text
            );
        }
    }
    Ok(())
}

#[test]
fn axes_have_names() -> Tested {
    let of = |picture: &Picture| {
        let names = picture.panels.iter().map(|panel| {
            let down = panel.axes.down.as_deref().unwrap_or("nothing");
            format!("{down}, {}", panel.axes.across)
        });
        names.collect::<Vec<_>>().join("; ")
    };
    for (text, expected) in [
        ("8:2", "nothing, coordinate i"),
        ("(4,8)", "row i, column j"),
        ("((2,2),(2,4))", "mode 0 = (2,2), mode 1 = (2,4)"),
        ("(2,(3,4))", "mode 0 = 2, mode 1 = (3,4)"),
        ("(2,3,4)", "mode 0 = 2, modes 1 to 2 = (3,4)"),
    ] {
        assert_eq!(of(&Picture::new(layout(text))?), expected);
    }
    let swizzle = |text: &str| {
        Ok::<_, Box<dyn std::error::Error>>(of(&Picture::new(text.parse::<Swizzle>()?)?))
    };
    assert_eq!(swizzle("Sw<3,4,3>")?, "row i, unit j of 2^4 elements");
    assert_eq!(swizzle("Sw<3,0,3>")?, "row i, column j");
    let held = Picture::thread_values(&layout("(4,2)"), Layout::left([2, 4])?)?;
    assert_eq!(of(&held), "row i of the tile, column j of the tile");
    let mma = TiledMma::new(
        "SM80_16x8x8_F32F16F16F32_TN".parse()?,
        &Layout::left([1, 1, 1])?,
        &Tiler::Keep,
    )?;
    assert_eq!(
        of(&Picture::tiled_mma(&mma)?),
        "row k, column n; row m, column k; row m, column n"
    );
    Ok(())
}

/// The box of each text: left, top, right and bottom.
fn boxes(svg: &str) -> Vec<(String, [f64; 4])> {
    fn attribute<'a>(line: &'a str, name: &str) -> Option<&'a str> {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()
    }
    let mut group = "";
    let mut boxes = Vec::new();
    for line in svg.lines() {
        if line.starts_with("<g ") {
            group = line;
        }
        let Some((_, text)) = line
            .strip_suffix("</text>")
            .and_then(|line| line.rsplit_once('>'))
        else {
            continue;
        };
        let number = |name| -> f64 {
            let found = attribute(line, name).or_else(|| attribute(group, name));
            found.and_then(|text| text.parse().ok()).expect("a number")
        };
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        let text = ["&lt;", "&gt;", "&amp;", "&quot;"]
            .iter()
            .fold(text.to_owned(), |text, sign| text.replace(sign, "?"));
        // The width of a character of DejaVu Sans Mono.
        let width = text.chars().count() as f64 * size * 0.602;
        let anchor = attribute(line, "text-anchor").or_else(|| attribute(group, "text-anchor"));
        let before = match anchor {
            Some("start") => 0.0,
            Some("end") => width,
            _ => width / 2.0,
        };
        boxes.push((
            text,
            match line.contains("rotate(-90") {
                false => [x - before, y - 0.73 * size, x - before + width, y],
                true => [x - 0.73 * size, y - width + before, x, y + before],
            },
        ));
    }
    boxes
}

/// No text is cut at the edges or lies on another one.
#[test]
fn texts_have_room() -> Tested {
    let bank = ColorBy::Bank { bits: 32 };
    let mut pictures: Vec<_> = gallery()?.into_iter().map(|(picture, _)| picture).collect();
    for text in [
        "8:1",
        "(1,2)",
        "((2,2),3)",
        "(2,(3,5)):(100,(1,2000))",
        "(2,3,4)",
        "(2,40)",
        "(120,2)",
        "(2,3):(1@0,1@1)",
    ] {
        pictures.push(Picture::new(layout(text))?);
    }
    pictures.push(Picture::new(layout("(8,32)"))?.color_by(bank)?);
    pictures.push(Picture::thread_values(
        &layout("((4,8),2):((1,0),4)"),
        Layout::left([2, 4])?,
    )?);
    pictures.push(
        Picture::thread_values(&layout("((4,8),2):((1,0),4)"), layout("((2,2),2)"))?
            .color_by(bank)?,
    );
    for picture in pictures {
        let svg = picture.to_svg();
        let size = svg
            .split_once("viewBox=\"0 0 ")
            .and_then(|(_, rest)| rest.split('"').next())
            .ok_or("no size")?;
        let [width, height] = [0, 1].map(|at| {
            size.split(' ')
                .nth(at)
                .and_then(|text| text.parse::<f64>().ok())
                .unwrap_or(0.0)
        });
        let boxes = boxes(&svg);
        for (index, (text, [left, top, right, bottom])) in boxes.iter().enumerate() {
            assert!(
                *left >= 0.0 && *top >= 0.0 && *right <= width && *bottom <= height,
                "cut: {text} in {}",
                picture.title
            );
            for (other, [x, y, to_x, to_y]) in &boxes[..index] {
                assert!(
                    x >= right || left >= to_x || y >= bottom || top >= to_y,
                    "{other} and {text} in {}",
                    picture.title
                );
            }
        }
    }
    Ok(())
}

/// Several holders of an element are told once, if it is the same for each element.
#[test]
fn shared_elements() -> Tested {
    let of = |text: &str, tile: i64| {
        let picture = Picture::thread_values(&layout(text), Layout::left(tile)?)?;
        let marks = picture.to_svg().matches("+1</text>").count();
        Ok::<_, PictureError>((picture.colors().legend().notes.concat(), marks))
    };
    for (text, tile, note, marks) in [
        ("(4,2):(1,4)", 8, "", 0),
        (
            "((4,2),2):((1,0),4)",
            8,
            "threads t and t + 4 hold the same elements; cells show t",
            0,
        ),
        (
            "((4,3),2):((1,0),4)",
            8,
            "threads t, t + 4 and t + 8 hold the same elements; cells show t",
            0,
        ),
        (
            "((4,8),2):((1,0),4)",
            8,
            "threads t, t + 4, t + 8, …, t + 28 hold the same elements; cells show t",
            0,
        ),
        (
            "(4,(2,2)):(1,(4,0))",
            8,
            "values v and v + 2 of a thread are the same element; cells show v",
            0,
        ),
        (
            "((2,2),2):((1,0),0)",
            2,
            "each element has 4 holders; cells show the first",
            0,
        ),
        (
            "((2,2,3),1):((1,0,0),0)",
            2,
            "threads t, t + 2, t + 4, …, t + 10 hold the same elements; cells show t",
            0,
        ),
        (
            "(2,2):(1,1)",
            3,
            "+1 in a cell: one more thread or value holds the element",
            1,
        ),
        (
            "((2,2),2):((2,0),1)",
            4,
            "threads t and t + 2 hold the same elements; cells show t",
            0,
        ),
    ] {
        assert_eq!(of(text, tile)?, (note.to_owned(), marks), "{text}");
    }
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
    let x = |column: usize| 36 + column * 31;
    let lines = [8, 16, 24].map(|column| format!("M{0} 74L{0} 362", x(column)));
    assert!(svg.contains(&lines.concat()));
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

/// Coordinates that do not fit the modes of the data are refused with both, not with the operation that fails inside.
#[test]
fn coordinates_have_the_modes_of_the_data() {
    for (tv, data, message) in [
        (
            "(8,4):(4@0,1@0)",
            "(1,32):(0,1)",
            "the layout gives coordinates with mode 0 only, such as (0), while the data of shape (1,32) has 2 modes",
        ),
        (
            "(8,4):(4@1,1@1)",
            "32:1",
            "the layout gives coordinates with 2 modes, such as (0,0), while the data of shape 32 has 1 mode",
        ),
        (
            "(4,8):(1@0@0,1@1)",
            "((2,2),16):((1,2),4)",
            "the layout gives coordinates such as ((0),0), which do not nest as the data of shape ((2,2),16)",
        ),
    ] {
        let (tv, data): (Layout, Layout) = (tv.parse().unwrap(), data.parse().unwrap());
        let error = Picture::thread_values(&tv, data).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
