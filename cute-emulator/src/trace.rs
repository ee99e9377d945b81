//! Traces of launches: what each warp, barrier and copy did when, as events for Chrome's trace viewer.

mod svg;

use std::fmt::{self, Display, Formatter};

/// A trace of launches, one after another. `Display` writes it in Chrome's trace-event format, for <https://ui.perfetto.dev> and
/// `chrome://tracing`; [`Trace::to_svg`] draws a short one.
///
/// A CTA is a process of the viewer. Its rows are its warps, its mbarriers, and its bulk copies and wgmma instructions. A
/// warp has a slice for each turn in the schedule, named after the highest [`Class`](crate::Class) of its instructions, and one for
/// each wait at a barrier. An mbarrier has a slice for each phase. A copy or wgmma has a slice from the instruction to its execution by
/// the emulator. The unit of time, shown as a microsecond, is a step: a warp instruction of any warp.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    slices: Vec<Slice>,
    names: Vec<Name>,
    /// The number of slices dropped at the limit.
    lost: u64,
    /// The steps and the CTAs of the launches before the current one.
    before: (u64, u64),
}

/// The most slices of a trace. More would slow down viewers.
const MOST_SLICES: usize = 1 << 19;

/// Something that lasts for some steps.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    pub(crate) name: String,
    /// The number of the CTA in the grid.
    pub(crate) cta: u64,
    pub(crate) event: Event,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The source location.
    pub(crate) place: String,
}

/// What lasts, and the row of the CTA in which it is shown. The slices of such a row do not overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A turn of a warp.
    Turn(u64),
    /// A wait of a warp.
    Wait(u64),
    /// A phase of an mbarrier.
    Phase(u64),
    /// Asynchronous work of this kind. It has no row, since it may overlap other work.
    UnderWay(&'static str),
}

/// The name of a CTA or of one of its rows.
#[derive(Clone, Debug)]
struct Name {
    cta: u64,
    row: Option<u64>,
    name: String,
}

impl Trace {
    /// An empty trace.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// The number of slices.
    pub fn len(&self) -> usize {
        self.slices.len()
    }

    /// Whether nothing has been traced.
    pub fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    pub(crate) fn add(&mut self, slice: Slice) {
        if self.slices.len() == MOST_SLICES {
            self.lost += 1;
            return;
        }
        let (steps, ctas) = self.before;
        self.slices.push(Slice {
            cta: ctas + slice.cta,
            start: steps + slice.start,
            end: steps + slice.end,
            ..slice
        });
    }

    /// Names a CTA, or one of its rows.
    pub(crate) fn name(&mut self, cta: u64, row: Option<u64>, name: String) {
        let cta = self.before.1 + cta;
        if self.names.len() < MOST_SLICES {
            self.names.push(Name { cta, row, name });
        }
    }

    /// Called after a launch of this many steps and CTAs.
    pub(crate) fn end(&mut self, steps: u64, ctas: u64) {
        self.before.0 += steps;
        self.before.1 += ctas;
    }
}

impl Display for Trace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{{\"traceEvents\":[")?;
        for Name { cta, row, name } in &self.names {
            let (what, row) = match row {
                None => ("process_name", 0),
                Some(row) => ("thread_name", *row),
            };
            writeln!(
                f,
                r#"{{"name":"{what}","ph":"M","pid":{cta},"tid":{row},"args":{{"name":{}}}}},"#,
                Text(name)
            )?;
        }
        for (id, slice) in self.slices.iter().enumerate() {
            let Slice {
                name,
                cta,
                event,
                start,
                end,
                place,
            } = slice;
            let (name, place) = (Text(name), Text(place));
            match event {
                Event::Turn(row) | Event::Wait(row) | Event::Phase(row) => writeln!(
                    f,
                    r#"{{"name":{name},"ph":"X","pid":{cta},"tid":{row},"ts":{start},"dur":{},"args":{{"from":{place}}}}},"#,
                    end - start
                )?,
                Event::UnderWay(kind) => {
                    for (phase, time) in [("b", start), ("e", end)] {
                        writeln!(
                            f,
                            r#"{{"name":{name},"cat":"{kind}","ph":"{phase}","id":{id},"pid":{cta},"ts":{time},"args":{{"from":{place}}}}},"#
                        )?;
                    }
                }
            }
        }
        // An element without a trailing comma ends the list.
        writeln!(
            f,
            r#"{{"name":"end","ph":"M","pid":0,"args":{{"lost slices":{}}}}}"#,
            self.lost
        )?;
        write!(f, "],\"displayTimeUnit\":\"ms\"}}")
    }
}

/// A string of JSON.
struct Text<'a>(&'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for c in self.0.chars() {
            match c {
                '"' | '\\' => write!(f, "\\{c}")?,
                '\0'..' ' => write!(f, "\\u{:04x}", u32::from(c))?,
                _ => write!(f, "{c}")?,
            }
        }
        f.write_str("\"")
    }
}
