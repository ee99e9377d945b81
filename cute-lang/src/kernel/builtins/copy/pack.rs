//! Registers assembled from bytes of other registers.

use crate::kernel::emit::builder::Builder;
use crate::kernel::ir::Operand;
use crate::kernel::value::Scalar;
use cute_ptx::ast::Type;
use cute_ptx::table::op;

/// Assembles a register from two halves or four bytes of registers. If there are fewer parts, the upper bytes have no
/// meaning.
pub(in crate::kernel::builtins) fn pack(
    b: &mut Builder,
    to: &Scalar,
    parts: &[(Scalar, usize)],
    width: usize,
) {
    let mut bytes: Vec<(&Scalar, usize)> = parts
        .iter()
        .flat_map(|(register, part)| (0..width).map(move |byte| (register, part * width + byte)))
        .collect();
    bytes.resize(4, bytes[bytes.len() - 1]);
    let mut sources: Vec<&Scalar> = Vec::new();
    for (register, _) in &bytes {
        if !sources.contains(register) {
            sources.push(register);
        }
    }
    if let [first, rest @ ..] = &sources[..]
        && rest.len() <= 1
    {
        permute(b, to, first, rest.first().unwrap_or(first), &bytes);
        return;
    }
    // `prmt` reads two registers. For more, the two halves are assembled first.
    let halves: Vec<Scalar> = bytes
        .chunks(2)
        .map(|pair| {
            let half = b.register(Type::B32);
            permute(b, &half, pair[0].0, pair[1].0, pair);
            half
        })
        .collect();
    let [low, high] = &halves[..] else {
        unreachable!("four bytes are two halves");
    };
    permute(
        b,
        to,
        low,
        high,
        &[(low, 0), (low, 1), (high, 0), (high, 1)],
    );
}

/// Emits `prmt`, which selects bytes of two registers. The lowest byte of the result comes first.
fn permute(
    b: &mut Builder,
    to: &Scalar,
    first: &Scalar,
    second: &Scalar,
    bytes: &[(&Scalar, usize)],
) {
    let selector = bytes
        .iter()
        .enumerate()
        .fold(0, |selector, (place, (register, byte))| {
            let source = if *register == first { *byte } else { 4 + byte };
            selector | (source as i128) << (4 * place)
        });
    b.emit(
        op::Prmt,
        (),
        [
            to.operand(),
            first.operand(),
            second.operand(),
            Operand::Int(selector),
        ],
    );
}
