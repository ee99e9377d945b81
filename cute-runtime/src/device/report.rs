//! Reports of kernels at run time: the host's side of `print!` and of `assert!`.
//!
//! A kernel with [`Kernel::REPORTS`](crate::Kernel::REPORTS) writes records into a buffer, which a device gives it for each
//! launch: [`Buffer::words`] of `u32`. The first four are the number of words that records have reserved, how many there are for
//! them, how many records found no room, and an unused one. A record begins with [`MARK`] and the number of the report. The
//! CTA's three indices follow, the thread, and the values.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Mutex;

use half::{bf16, f16};

use crate::device::lock::lock;
use crate::{AssertionFailure, ElementType, Error, Piece, Report, e4m3, e5m2};

/// The upper half of the first word of a record.
const MARK: u32 = 0xc07e << 16;
/// The words of the buffer before the records.
const HEADER: usize = 4;
/// The words of a record before its values.
const RECORD: usize = 5;
/// The words for records, if none of them is longer: 1 MiB.
const ROOM: usize = 1 << 18;

/// Gets the text of a launch.
pub(crate) type Receiver = Box<dyn FnMut(&str) + Send>;

/// The receiver of the text that kernels print: the standard output, unless another receiver is set.
///
/// The receiver is user code and may use the device, so it is called, and dropped, without a lock.
#[derive(Default)]
pub(crate) struct Output(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    /// `None` for the standard output, and while the receiver is called.
    receiver: Option<Receiver>,
    /// Whether the receiver is called, by any thread.
    called: bool,
    /// The texts that wait until the receiver returns.
    texts: VecDeque<String>,
}

impl Output {
    pub(crate) fn set(&self, receiver: Receiver) {
        let _former = lock(&self.0).receiver.replace(receiver);
    }

    /// Hands on the printed text. If the receiver is running, it gets the text after it returns.
    pub(crate) fn print(&self, text: String) {
        if text.is_empty() {
            return;
        }
        let mut waiting = lock(&self.0);
        waiting.texts.push_back(text);
        if waiting.called {
            return;
        }
        waiting.called = true;
        drop(waiting);
        let mut turn = Turn {
            output: self,
            receiver: None,
            ended: false,
        };
        while let Some(text) = turn.next() {
            match &mut turn.receiver {
                Some(receiver) => receiver(&text),
                // The result is ignored, as there is nobody to tell that the standard output is closed.
                None => _ = io::stdout().write_all(text.as_bytes()),
            }
        }
    }
}

/// While this value lives, its thread calls the receiver. The receiver is put back when no text is left, or if it panics.
struct Turn<'a> {
    output: &'a Output,
    receiver: Option<Receiver>,
    ended: bool,
}

impl Turn<'_> {
    /// The next text, for the receiver that is set now.
    fn next(&mut self) -> Option<String> {
        let (text, _former) = {
            let mut waiting = lock(&self.output.0);
            let former = match waiting.receiver.take() {
                Some(newer) => self.receiver.replace(newer),
                None => None,
            };
            let text = waiting.texts.pop_front();
            if text.is_none() {
                self.end(&mut waiting);
            }
            (text, former)
        };
        text
    }

    fn end(&mut self, waiting: &mut Waiting) {
        self.ended = true;
        waiting.called = false;
        if waiting.receiver.is_none() {
            waiting.receiver = self.receiver.take();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let output = self.output;
            self.end(&mut lock(&output.0));
        }
    }
}

/// The buffer of a launch.
pub(crate) struct Buffer {
    kernel: &'static str,
    reports: &'static [Report],
}

impl Buffer {
    /// `None` for a kernel that reports nothing.
    pub(crate) fn new(kernel: &'static str, reports: &'static [Report]) -> Option<Buffer> {
        (!reports.is_empty()).then_some(Buffer { kernel, reports })
    }

    /// The words of the buffer before the launch.
    pub(crate) fn words(&self) -> Vec<u32> {
        let longest = self
            .reports
            .iter()
            .map(|report| RECORD + words(report))
            .max();
        let room = ROOM.max(longest.unwrap_or(0));
        let mut words = vec![0; HEADER + room];
        words[1] = room as u32;
        words
    }

    /// The text that the kernel printed. `words` is the buffer after the launch.
    pub(crate) fn text(&self, words: &[u32]) -> String {
        let printed = self
            .records(words)
            .into_iter()
            .filter(|(report, _)| !report.fails);
        let mut text: String = printed
            .map(|(report, record)| message(report, record))
            .collect();
        if let Some(&[_, room, lost, _]) = words.first_chunk()
            && lost > 0
        {
            text += &format!(
                "[{lost} more messages of kernel {} are lost: the buffer of a launch holds {room} words]\n",
                self.kernel
            );
        }
        text
    }

    /// The first assertion that failed.
    pub(crate) fn failure(&self, words: &[u32]) -> Option<Error> {
        let mut failed = self
            .records(words)
            .into_iter()
            .filter(|(report, _)| report.fails);
        let (report, record) = failed.next()?;
        Some(Error::Assertion(AssertionFailure {
            kernel: self.kernel,
            file: report.file,
            line: report.line,
            block: [record[1], record[2], record[3]],
            thread: record[4],
            message: message(report, record),
        }))
    }

    /// The records, each with the statement that made it.
    fn records<'w>(&self, words: &'w [u32]) -> Vec<(&'static Report, &'w [u32])> {
        let mut records = Vec::new();
        let reserved = words.first().map_or(0, |&reserved| reserved as usize);
        let end = words.len().min(reserved.saturating_add(HEADER));
        let mut rest = words.get(HEADER..end).unwrap_or_default();
        while let [first, after @ ..] = rest {
            let report = self.reports.get((first ^ MARK) as usize);
            let record =
                report.and_then(|report| Some((report, rest.get(..RECORD + self::words(report))?)));
            // A thread stopped by the fault of another one leaves a record without its first word.
            rest = match record {
                Some((_, record)) => &rest[record.len()..],
                None => after,
            };
            records.extend(record);
        }
        records
    }
}

/// The words of a report's values.
fn words(report: &Report) -> usize {
    let words = report.pieces.iter().map(|piece| match piece {
        Piece::Text(_) => 0,
        Piece::Bool => 1,
        Piece::Number(element) => element.bits().div_ceil(32) as usize,
    });
    words.sum()
}

/// The message of a report with the values of a record.
fn message(report: &Report, record: &[u32]) -> String {
    let mut values = record[RECORD..].iter().map(|&word| u64::from(word));
    let mut next = || values.next().unwrap_or(0);
    let pieces = report.pieces.iter().map(|piece| match *piece {
        Piece::Text(text) => text.to_string(),
        Piece::Bool => (next() != 0).to_string(),
        Piece::Number(element) if element.bits() == 64 => number(element, next() | next() << 32),
        Piece::Number(element) => number(element, next()),
    });
    pieces.collect()
}

fn number(element: ElementType, bits: u64) -> String {
    match element {
        ElementType::U8 => (bits as u8).to_string(),
        ElementType::I8 => (bits as i8).to_string(),
        ElementType::U16 => (bits as u16).to_string(),
        ElementType::I16 => (bits as i16).to_string(),
        ElementType::U32 => (bits as u32).to_string(),
        ElementType::I32 => (bits as i32).to_string(),
        ElementType::U64 => bits.to_string(),
        ElementType::I64 => (bits as i64).to_string(),
        ElementType::BF16 => bf16::from_bits(bits as u16).to_string(),
        ElementType::F16 => f16::from_bits(bits as u16).to_string(),
        ElementType::F32 | ElementType::TF32 => f32::from_bits(bits as u32).to_string(),
        ElementType::F64 => f64::from_bits(bits).to_string(),
        ElementType::E4M3 => e4m3::from_bits(bits as u8).to_f32().to_string(),
        ElementType::U4 => (bits & 0xf).to_string(),
        ElementType::I4 => (((bits as i8) << 4) >> 4).to_string(),
        ElementType::E2M1 => e2m1(bits).to_string(),
        ElementType::E5M2 => e5m2::from_bits(bits as u8).to_f32().to_string(),
    }
}

/// The number of four bits: a sign, two bits of an exponent of bias 1, and one of a fraction (PTX ISA 9.0, "Alternate Floating-Point Data
/// Formats").
fn e2m1(bits: u64) -> f32 {
    let magnitude = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0][bits as usize & 7];
    match bits & 8 {
        0 => magnitude,
        _ => -magnitude,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_4_bits() {
        let all = |element| {
            (0..16)
                .map(|bits| number(element, bits))
                .collect::<Vec<_>>()
        };
        let numbers = |range: std::ops::Range<i32>| range.map(|number| number.to_string());
        assert_eq!(all(ElementType::U4), numbers(0..16).collect::<Vec<_>>());
        let signed: Vec<_> = numbers(0..8).chain(numbers(-8..0)).collect();
        assert_eq!(all(ElementType::I4), signed);
        assert_eq!(
            all(ElementType::E2M1).join(" "),
            "0 0.5 1 1.5 2 3 4 6 -0 -0.5 -1 -1.5 -2 -3 -4 -6"
        );
    }

    const REPORTS: &[Report] = &[
        Report {
            file: "src/k.rs",
            line: 3,
            fails: false,
            pieces: &[
                Piece::Number(ElementType::I64),
                Piece::Text(", "),
                Piece::Bool,
                Piece::Text("\n"),
            ],
        },
        Report {
            file: "src/k.rs",
            line: 12,
            fails: true,
            pieces: &[Piece::Number(ElementType::BF16), Piece::Text(" is large")],
        },
    ];

    fn reported(words: &[u32]) -> (String, Option<String>) {
        let buffer = Buffer::new("k", REPORTS).unwrap();
        let failure = buffer.failure(words);
        (buffer.text(words), failure.map(|error| error.to_string()))
    }

    #[test]
    fn records_become_text() {
        let (first, second) = (MARK, MARK | 1);
        let printed = [first, 0, 0, 0, 7, -3i32 as u32, u32::MAX, 1];
        let failed = [second, 3, 0, 0, 17, 0x4000];
        let mut words = vec![14, 100, 0, 0];
        words.extend(printed.iter().chain(&failed));
        let error = "kernel k: assertion failed at src/k.rs:12 in CTA (3, 0, 0), warp 0, lane 17: 2 is large";
        assert_eq!(reported(&words), ("-3, true\n".into(), Some(error.into())));

        // A record without its first word, and one that found no room.
        let mut words = vec![22, 16, 1, 0];
        words.extend([0; 8].iter().chain(&printed));
        let lost =
            "[1 more messages of kernel k are lost: the buffer of a launch holds 16 words]\n";
        assert_eq!(reported(&words), (format!("-3, true\n{lost}"), None));

        assert_eq!(reported(&[0, 100, 0, 0, 0, 0]), (String::new(), None));
        assert_eq!(reported(&[]), (String::new(), None));
    }
}
