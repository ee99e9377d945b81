//! Words of threads in several CTAs of a cluster, exchanged through the shared memory of each.

use super::across::{load, strides};
use super::digits::Digit;
use crate::kernel::access::address::Addresses;
use crate::kernel::access::crd2idx::crd2idx;
use crate::kernel::builtins::call::Call;
use crate::kernel::builtins::exchange::scratch;
use crate::kernel::builtins::fragment::holder;
use crate::kernel::builtins::sync::wait_for_cluster;
use crate::kernel::builtins::thread::ctarank;
use crate::kernel::emit::builder::{Builder, address_operand, when};
use crate::kernel::emit::operation::Cmp;
use crate::kernel::emit::shared::Purpose;
use crate::kernel::ir::Operand;
use crate::kernel::value::{Num, Scalar, Value};
use cute_algebra::{Layout, Swizzle, Tuple};
use cute_ptx::ast::Type;
use cute_ptx::table::choice::{Accessible, SharedCluster};
use cute_ptx::table::op;
use syn::Result;

/// Bytes of a word.
const WORD: i64 = 4;

/// For each word, the words of the CTAs of the cluster, in order. Threads of a CTA that differ only in combined digits have the same words.
/// `digits` are the digits of threads in a CTA.
pub(super) fn exchange_between_ctas(
    b: &mut Builder,
    call: &Call,
    digits: &[Digit],
    words: &[Scalar],
) -> Result<Vec<Vec<Scalar>>> {
    let ctas = b.cluster_threads() / i64::from(b.threads);
    let (places, place) = numbered(b, call, digits, |digit| !digit.is_combined())?;
    let (_, copy) = numbered(b, call, digits, Digit::is_combined)?;
    let bytes = places * ctas * WORD * words.len() as i64;
    let start = b.shared.now();
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    let threads = u32::try_from(b.cluster_threads()).unwrap_or(u32::MAX);
    let base = scratch(b, call.name, Purpose::Scratch { threads, bytes }, bytes)?;
    let at = |word: usize| word as i64 * places * ctas * WORD;
    let place = b.mul(&place, &Num::from(ctas * WORD))?;
    let rank = ctarank(b);
    let own = b.mul(&rank, &Num::from(WORD))?;
    let own = b.add(&place, &own)?;
    let addresses = |offset| Addresses::new(base.into(), Swizzle::IDENTITY, offset);
    let own = addresses(own).register(b, 0)?;
    // All CTAs have started, and have read the earlier contents.
    wait_for_cluster(b);
    let guard = match b.compare(Cmp::Eq, &copy, &Num::Const(0))? {
        Value::Scalar(is_first) => Some(when(&is_first)),
        Value::Bool(true) => None,
        _ => {
            let message = "no thread stores its part of the result (a defect)";
            return Err(call.error_at(0, message));
        }
    };
    b.guarded(guard, |b| {
        for cta in 0..ctas {
            let operands = [own.operand(), Operand::Int(cta.into())];
            let mapped = (SharedCluster, Type::U32);
            let there = b.compute(Type::U32, op::Mapa, mapped, operands);
            for (word, value) in words.iter().enumerate() {
                let modifiers = (Accessible::SharedCluster, value.ty);
                let address = address_operand(&there, at(word));
                b.emit(op::St, modifiers, [address, value.operand()]);
            }
        }
    });
    wait_for_cluster(b);
    let mut place = addresses(place);
    let mut found = Vec::new();
    for (word, value) in words.iter().enumerate() {
        let address = |b: &mut Builder, part| place.operand(b, at(word) + part * WORD);
        found.push(load(b, value.ty, ctas, address)?);
    }
    b.shared.free_since(start, &[]);
    Ok(found)
}

/// The number of this thread among the threads of its CTA that differ in the chosen digits, and the number of these threads.
fn numbered(
    b: &mut Builder,
    call: &Call,
    digits: &[Digit],
    chosen: impl Fn(&Digit) -> bool,
) -> Result<(i64, Num)> {
    let mut count = 1;
    let strides = strides(digits, &mut count, chosen);
    let shape: Tuple<i64> = digits.iter().map(|it| Tuple::Leaf(it.extent)).collect();
    let layout = Layout::new(shape, strides).map_err(|error| call.error_at(0, error))?;
    let threads = b.threads;
    let thread = holder(b, threads.into())?;
    Ok((count, crd2idx(b, &layout, &thread, 1)?))
}
