//! The transpose compared with its definition, bit by bit.

use std::sync::Once;

use cute_kernels::transpose;
use cute_runtime::{Device, bf16, f16};
use zerocopy::IntoBytes;

use crate::device;

macro_rules! check_transpose {
    ($device:expr, $ty:ty, $m:expr, $n:expr, $from:expr) => {{
        let (device, m, n): (&Device, usize, usize) = ($device, $m, $n);
        let pitch = |extent: usize| extent.next_multiple_of(16 / size_of::<$ty>());
        let (from, to) = (pitch(n), pitch(m));
        let source: Vec<$ty> = (0..m * from).map($from).collect();
        let source_buffer = device.upload(&source).unwrap();
        let guard: $ty = $from(12_345);
        let mut buffer = device.upload(&vec![guard; n * to]).unwrap();
        transpose(
            device,
            &source_buffer.view(0, [m, n], [from, 1]).unwrap(),
            &mut buffer.view_mut(0, [n, m], [to, 1]).unwrap(),
        )
        .unwrap();
        let found = buffer.download().unwrap();
        for j in 0..n {
            for i in 0..to {
                let expected = if i < m { source[i * from + j] } else { guard };
                assert_eq!(
                    found[j * to + i].as_bytes(),
                    expected.as_bytes(),
                    "{m} x {n} at ({j}, {i})"
                );
            }
        }
    }};
}

#[test]
pub(crate) fn transpose_agrees_with_its_definition() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let device = device();
        // Extents near multiples of the tiles of 32 and 64 and of 16-byte units, and extents of 1.
        let extents = [1, 7, 32, 33, 63, 100];
        let mut shapes: Vec<_> = extents
            .iter()
            .flat_map(|&m| extents.map(|n| (m, n)))
            .collect();
        if !device.is_emulator() {
            shapes.extend([
                (1024, 1024),
                (4095, 4097),
                (1, 10_000),
                (10_000, 1),
                (8192, 2048),
                // More rows of tiles than the second axis of a grid takes.
                (65_536 * 32 + 1, 1),
            ]);
        }
        for (m, n) in shapes {
            check_transpose!(&device, f32, m, n, |i| i as f32);
            check_transpose!(&device, bf16, m, n, |i| bf16::from_bits(i as u16));
        }
        // Types of the same sizes, stored by TMA and by elements.
        for (m, n) in [(96, 70), (70, 97), (33, 100)] {
            check_transpose!(&device, u32, m, n, |i| i as u32);
            check_transpose!(&device, f16, m, n, |i| f16::from_bits(i as u16));
        }
    });
}
