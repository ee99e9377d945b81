//! Loads, stores, atomics and matrix moves.

use super::{Decoded, Decoder, Mnemonic, Result, arithmetic};
use crate::op::{Access, Atomic, Op, Region, Space, Together};
use crate::tensor_map::CHUNK_BYTES;
use cute_ptx::ast::{Operand, Type};

impl<'a> Decoder<'a, '_> {
    pub(super) fn memory(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Decoded {
        let mut together = Together::No;
        let op = match m.name {
            "ld" | "ldu" => self.load(m, operands),
            "st" => self.store(m, operands),
            "atom" | "red" if m.rest.first() != Some(&"async") => self.atomic(m, operands),
            "ldmatrix" | "stmatrix" => {
                together = Together::Warp;
                self.matrix(m, operands)
            }
            "prefetch" | "prefetchu" | "applypriority" | "discard" | "createpolicy" => {
                m.rest.clear();
                self.hint(operands)
            }
            _ => return None,
        };
        Some(op.map(|op| (op, together)))
    }

    /// Instructions that change nothing but speed; a cache policy is a number that nobody looks at.
    pub(super) fn hint(&mut self, operands: &'a [Operand]) -> Result<Op> {
        for operand in operands {
            operand.for_each_name(&mut |_| {});
        }
        Ok(Op::Nop)
    }

    fn load(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let (access, ty) = access(m)?;
        let [dst, address] = without_policy(m, operands) else {
            return Err("two operands are expected".to_owned());
        };
        let dst: Vec<&Operand> = match dst {
            Operand::Vector(parts) => parts.iter().collect(),
            one => vec![one],
        };
        check_vector(m, dst.len())?;
        let dst = dst.into_iter().map(|dst| {
            Ok((
                self.wide_dest(dst, ty)?,
                arithmetic::low_bits(self.width(dst)),
            ))
        });
        Ok(Op::Load {
            access,
            dst: dst.collect::<Result<_>>()?,
            address: self.address(address)?,
        })
    }

    fn store(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        if m.prefix(&["async"]) {
            return self.store_async(m, operands);
        }
        let (access, ty) = access(m)?;
        let [address, src] = without_policy(m, operands) else {
            return Err("two operands are expected".to_owned());
        };
        let src = self.one_or_more(src, ty)?;
        check_vector(m, src.len())?;
        Ok(Op::Store {
            access,
            src,
            address: self.address(address)?,
        })
    }

    fn store_async(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        m.flag("weak");
        let ty = m.ty().ok_or("a type is missing")?;
        let form = m.flag("shared::cluster") && m.flag("mbarrier::complete_tx::bytes");
        let ([to, src, barrier], true) = (operands, form) else {
            return Err("[to], values, [mbarrier] in .shared::cluster are expected".to_owned());
        };
        let src = self.one_or_more(src, ty)?;
        check_vector(m, src.len())?;
        let (bytes, count) = (ty.bits() as usize / 8, src.len());
        if !matches!(bytes, 4 | 8) || bytes * count > CHUNK_BYTES {
            return Err(format!(
                "{count} values of .{}; elements of 4 or 8 bytes, {CHUNK_BYTES} bytes at most, are expected",
                ty.name()
            ));
        }
        let region = Region::Values { src, bytes };
        let (to, barrier) = (self.address(to)?, self.address(barrier)?);
        Ok(Op::CopyIn {
            to,
            region,
            barrier,
            multicast: None,
        })
    }

    /// What is stored: from registers of the type or wider ones.
    fn one_or_more(&mut self, operand: &Operand, ty: Type) -> Result<Box<[crate::op::Reg]>> {
        let parts = match operand {
            Operand::Vector(parts) => &parts[..],
            one => std::slice::from_ref(one),
        };
        parts
            .iter()
            .map(|part| self.wide_source(part, ty))
            .collect()
    }

    fn atomic(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let returns = m.name == "atom";
        let operands = without_policy(m, operands);
        let ty = m.ty().ok_or("a type is missing")?;
        m.flag("noftz");
        let name = m
            .one_of(&[
                "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec",
            ])
            .ok_or("an operation is missing")?;
        let access = Access {
            strong: true,
            ..access_of(m, ty)?
        };
        let op = match name {
            "cas" => Atomic::CompareAndSwap,
            _ => {
                // Bitwise operations and additions do not care for signs.
                let unsigned = match (name, ty) {
                    ("add", Type::B32) => Type::U32,
                    ("add", Type::B64) => Type::U64,
                    _ => ty,
                };
                Atomic::Update(
                    arithmetic::update(name, unsigned)
                        .ok_or_else(|| format!("`.{name}` of .{}", ty.name()))?,
                )
            }
        };
        let (dst, rest) = if returns {
            operands
                .split_first()
                .map_or((None, operands), |(dst, rest)| (Some(dst), rest))
        } else {
            (None, operands)
        };
        let dst = match dst {
            Some(Operand::Vector(parts)) => Some(self.dests(parts, ty)?),
            Some(one) => Some([self.dest(one, ty)?].into()),
            None => None,
        };
        let (address, src, swap) = match (rest, &op) {
            ([address, src, swap], Atomic::CompareAndSwap) => {
                (address, src, Some(self.source(swap, ty)?))
            }
            ([address, src], Atomic::Update(_)) => (address, src, None),
            _ => return Err(format!("{} operands", operands.len())),
        };
        let src = self.one_or_more(src, ty)?;
        check_vector(m, src.len())?;
        Ok(Op::Atomic {
            access,
            op,
            dst,
            address: self.address(address)?,
            src,
            swap,
        })
    }

    fn matrix(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let fixed = m.prefix(&["sync", "aligned", "m8n8"]);
        let count = m.one_of(&["x1", "x2", "x4"]);
        let transpose = m.flag("trans");
        m.one_of(&["shared", "shared::cta"]);
        let (Some(count), true, true) = (count, fixed, m.flag("b16")) else {
            return Err("only .sync.aligned.m8n8 of .b16 is modelled".to_owned());
        };
        let [first, second] = operands else {
            return Err("two operands are expected".to_owned());
        };
        let load = m.name == "ldmatrix";
        let (registers, address) = if load {
            (first, second)
        } else {
            (second, first)
        };
        let rows = match registers {
            Operand::Vector(parts) if load => self.dests(parts, Type::B32)?,
            Operand::Vector(parts) => self.sources(parts, Type::B32)?,
            one if load => [self.dest(one, Type::B32)?].into(),
            one => [self.source(one, Type::B32)?].into(),
        };
        if count[1..].parse() != Ok(rows.len()) {
            return Err(format!("{} registers for .{count}", rows.len()));
        }
        let address = self.address(address)?;
        Ok(match load {
            true => Op::LoadMatrix {
                dst: rows,
                address,
                transpose,
            },
            false => Op::StoreMatrix {
                src: rows,
                address,
                transpose,
            },
        })
    }
}

/// The operands without the cache policy that stands last.
pub(super) fn without_policy<'o>(m: &mut Mnemonic<'_>, operands: &'o [Operand]) -> &'o [Operand] {
    match operands.split_last() {
        Some((_, rest)) if m.flag("L2::cache_hint") => rest,
        _ => operands,
    }
}

/// The vector modifier against the number of registers.
fn check_vector(m: &mut Mnemonic<'_>, registers: usize) -> Result<()> {
    let declared = match m.one_of(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    };
    if declared == registers {
        Ok(())
    } else {
        Err(format!("{registers} registers for a vector of {declared}"))
    }
}

fn access(m: &mut Mnemonic<'_>) -> Result<(Access, Type)> {
    let ty = m.ty().ok_or("a type is missing")?;
    Ok((access_of(m, ty)?, ty))
}

fn access_of(m: &mut Mnemonic<'_>, ty: Type) -> Result<Access> {
    let order = m.one_of(&[
        "weak", "volatile", "relaxed", "acquire", "release", "acq_rel",
    ]);
    m.one_of(&["cta", "cluster", "gpu", "sys"]);
    let space = match m.one_of(&[
        "global",
        "shared",
        "shared::cta",
        "shared::cluster",
        "param",
        "param::entry",
        "const",
    ]) {
        Some("global") => Space::Global,
        Some("param" | "param::entry") => Space::Param,
        Some("const") => return Err("constant memory is not modelled".to_owned()),
        Some(_) => Space::Shared,
        None if m.rest.contains(&"local") => return Err("local memory is not modelled".to_owned()),
        None => Space::Generic,
    };
    // Cache hints change no result.
    m.rest.retain(|part| !CACHE_HINTS.contains(part));
    if ty == Type::B128 || ty == Type::Pred {
        return Err(format!("accesses of .{} are not modelled", ty.name()));
    }
    let signed = matches!(ty, Type::S8 | Type::S16 | Type::S32 | Type::S64);
    let strong = !matches!(order, None | Some("weak"));
    Ok(Access {
        space,
        bytes: (ty.bits() / 8) as u8,
        signed,
        strong,
    })
}

const CACHE_HINTS: &[&str] = &[
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::64B",
    "L2::128B",
    "L2::256B",
];
