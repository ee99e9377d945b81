//! mbarriers, asynchronous copies and the tensor cores.

use super::memory::without_policy;
use super::{Decoded, Decoder, Mnemonic, Result, arithmetic};
use crate::numerics::Format;
use crate::op::{
    Address, Function, Inputs, MatrixA, Op, Output, PENDING_SHIFT, Phase, Reduction, Reg, Region,
    Together, Wgmma,
};
use cute_ptx::ast::{Operand, Type};

impl<'a> Decoder<'a, '_> {
    pub(super) fn asynchronous(
        &mut self,
        m: &mut Mnemonic<'_>,
        operands: &'a [Operand],
    ) -> Decoded {
        let name = m.name;
        Some(match name {
            "mbarrier" => self.mbarrier(m, operands).map(|op| (op, Together::No)),
            "cp" if m.prefix(&["async", "bulk"]) => {
                self.bulk(m, operands).map(|op| (op, Together::No))
            }
            "cp" if m.prefix(&["reduce", "async", "bulk"]) => {
                self.bulk_reduce(m, operands).map(|op| (op, Together::No))
            }
            "cp" if m.prefix(&["async"]) => {
                self.copy_async(m, operands).map(|op| (op, Together::No))
            }
            "wgmma" => self.wgmma(m, operands).map(|op| (op, Together::Warp)),
            _ => return None,
        })
    }

    fn mbarrier(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let what = m
            .one_of(&[
                "init",
                "inval",
                "arrive",
                "arrive_drop",
                "expect_tx",
                "complete_tx",
                "pending_count",
                "try_wait",
                "test_wait",
            ])
            .ok_or("unknown mbarrier operation")?;
        m.one_of(&["release", "acquire", "relaxed"]);
        m.one_of(&["cta", "cluster"]);
        m.one_of(&["shared", "shared::cta", "shared::cluster"]);
        m.flag("b64");
        Ok(match (what, operands) {
            ("init", [address, count]) => Op::MbarrierInit {
                address: self.address(address)?,
                count: self.source(count, Type::U32)?,
            },
            ("inval", [address]) => Op::MbarrierInval {
                address: self.address(address)?,
            },
            ("expect_tx", [address, bytes]) => {
                let (address, expect) = (self.address(address)?, self.source(bytes, Type::U32)?);
                Op::MbarrierArrive {
                    address,
                    state: None,
                    count: None,
                    drop: false,
                    expect: Some(expect),
                }
            }
            ("complete_tx", [address, bytes]) => Op::MbarrierCompleteTx {
                address: self.address(address)?,
                bytes: self.source(bytes, Type::U32)?,
            },
            ("pending_count", [count, state]) => {
                // Above the number of the phase.
                let function = Function::F1(|state| state >> PENDING_SHIFT);
                let src = [self.source(state, Type::B64)?, 0, 0, 0];
                Op::Compute {
                    function,
                    dst: self.dest(count, Type::U32)?,
                    src,
                    flush: false,
                    saturate: false,
                }
            }
            ("arrive" | "arrive_drop", _) => {
                let expects = m.flag("expect_tx");
                // Whether the phase ends is what happens; the promise that it does not changes nothing.
                m.flag("noComplete");
                // `_` or a register takes the state; the remote form has none.
                let (state, rest) = match operands {
                    [Operand::Address { .. }, ..] => (None, operands),
                    [Operand::Sink, rest @ ..] => (None, rest),
                    [state, rest @ ..] => (Some(self.dest(state, Type::B64)?), rest),
                    [] => return Err("no operands".to_owned()),
                };
                let one = self.constant(1);
                let (address, count, expect) = match (rest, expects) {
                    ([address], false) => (address, one, None),
                    ([address, count], false) => (address, self.source(count, Type::U32)?, None),
                    ([address, bytes], true) => {
                        (address, one, Some(self.source(bytes, Type::U32)?))
                    }
                    _ => return Err(format!("{} operands", operands.len())),
                };
                Op::MbarrierArrive {
                    address: self.address(address)?,
                    state,
                    count: Some(count),
                    drop: what == "arrive_drop",
                    expect,
                }
            }
            // The hint of how long to wait is of no interest.
            ("try_wait" | "test_wait", [done, address, phase] | [done, address, phase, _]) => {
                let (done, address) = (self.dest(done, Type::Pred)?, self.address(address)?);
                let phase = if m.flag("parity") {
                    Phase::Parity(self.source(phase, Type::U32)?)
                } else {
                    Phase::State(self.source(phase, Type::B64)?)
                };
                Op::MbarrierWait {
                    address,
                    done,
                    phase,
                }
            }
            _ => {
                return Err(format!(
                    "`{what}` with {} operands is not modelled",
                    operands.len()
                ));
            }
        })
    }

    fn bulk(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        if m.flag("commit_group") {
            return Ok(Op::BulkCommit);
        }
        if m.flag("wait_group") {
            let read = m.flag("read");
            return Ok(Op::BulkWait {
                pending: immediate(operands)?,
                read,
            });
        }
        if m.rest.first() == Some(&"prefetch") {
            m.rest.clear();
            return self.hint(operands);
        }
        let tensor = self.tensor(m)?;
        let operands = without_policy(m, operands);
        // The destination's space stands first.
        match m.rest.first() {
            Some(&"global") => {
                if !m.prefix(&["global", "shared::cta"]) {
                    return Err("the spaces should be .global.shared::cta".to_owned());
                }
                self.copy_out(m, tensor, operands, None)
            }
            Some(&("shared::cluster" | "shared::cta")) => {
                m.rest.remove(0);
                let shared = m.flag("shared::cta");
                if !shared && !m.flag("global") {
                    return Err("the source's space is missing".to_owned());
                }
                if !m.flag("mbarrier::complete_tx::bytes") {
                    return Err("`.mbarrier::complete_tx::bytes` is missing".to_owned());
                }
                let multicast = m.flag("multicast::cluster");
                let (to, region, rest) = match (tensor, operands) {
                    (Some(rank), [to, from, rest @ ..]) => (to, self.tile(from, rank)?, rest),
                    (None, [to, from, bytes, rest @ ..]) => {
                        let (address, bytes) =
                            (self.address(from)?, self.source(bytes, Type::U32)?);
                        let region = match shared {
                            true => Region::Shared { address, bytes },
                            false => Region::Bytes { address, bytes },
                        };
                        (to, region, rest)
                    }
                    _ => return Err(format!("{} operands", operands.len())),
                };
                let (barrier, multicast) = match (rest, multicast) {
                    ([barrier], false) => (barrier, None),
                    ([barrier, mask], true) => (barrier, Some(self.source(mask, Type::B16)?)),
                    _ => return Err(format!("{} operands", operands.len())),
                };
                Ok(Op::CopyIn {
                    to: self.address(to)?,
                    region,
                    barrier: self.address(barrier)?,
                    multicast,
                })
            }
            _ => Err("this bulk copy is not modelled".to_owned()),
        }
    }

    /// The rank of `.tensor.Nd`, with `.tile`, which is the default.
    fn tensor(&mut self, m: &mut Mnemonic<'_>) -> Result<Option<usize>> {
        if !m.prefix(&["tensor"]) {
            return Ok(None);
        }
        let rank = m
            .one_of(&["1d", "2d", "3d", "4d", "5d"])
            .ok_or("the rank is missing")?;
        m.flag("tile");
        Ok(rank[..1].parse().ok())
    }

    fn tile(&mut self, operand: &Operand, rank: usize) -> Result<Region> {
        let Operand::Tensor { map, coords } = operand else {
            return Err(format!("`{operand}` is not a tensor coordinate"));
        };
        if coords.len() != rank {
            return Err(format!("{} coordinates for .{rank}d", coords.len()));
        }
        let map = match &**map {
            address @ Operand::Address { .. } => self.address(address)?,
            value => Address {
                base: self.address_base(value)?,
                offset: 0,
            },
        };
        Ok(Region::Tile {
            map,
            coords: self.sources(coords, Type::S32)?,
        })
    }

    fn bulk_reduce(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        let tensor = self.tensor(m)?;
        let operands = without_policy(m, operands);
        if !m.prefix(&["global", "shared::cta"]) {
            return Err("the spaces should be .global.shared::cta".to_owned());
        }
        let name = m
            .one_of(&["add", "min", "max", "inc", "dec", "and", "or", "xor"])
            .ok_or("an operation is missing")?;
        // A tensor's reduction takes the type from its map when it runs; the others name it.
        let reduction = match (tensor, m.ty()) {
            (Some(_), None) => Reduction::ByElement(name),
            (None, Some(ty)) => {
                m.flag("noftz");
                let ty = match ty {
                    Type::B32 => Type::U32,
                    Type::B64 => Type::U64,
                    ty => ty,
                };
                let update = arithmetic::update(name, ty)
                    .ok_or_else(|| format!("`.{name}` of .{}", ty.name()))?;
                Reduction::Typed {
                    update,
                    bytes: ty.bits() as usize / 8,
                }
            }
            _ => {
                return Err(
                    "a type belongs to reductions without a tensor map, and only to them"
                        .to_owned(),
                );
            }
        };
        self.copy_out(m, tensor, operands, Some(reduction))
    }

    fn copy_out(
        &mut self,
        m: &mut Mnemonic<'_>,
        tensor: Option<usize>,
        operands: &'a [Operand],
        reduction: Option<Reduction>,
    ) -> Result<Op> {
        if !m.flag("bulk_group") {
            return Err("`.bulk_group` is missing".to_owned());
        }
        let (region, from) = match (tensor, operands) {
            (Some(rank), [to, from]) => (self.tile(to, rank)?, from),
            (None, [to, from, bytes]) => (
                Region::Bytes {
                    address: self.address(to)?,
                    bytes: self.source(bytes, Type::U32)?,
                },
                from,
            ),
            _ => return Err(format!("{} operands", operands.len())),
        };
        Ok(Op::CopyOut {
            region,
            from: self.address(from)?,
            reduction,
        })
    }

    fn copy_async(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        if m.flag("commit_group") {
            return Ok(Op::CopyAsyncCommit);
        }
        if m.flag("wait_all") {
            return Ok(Op::CopyAsyncWait { pending: None });
        }
        if m.flag("wait_group") {
            return Ok(Op::CopyAsyncWait {
                pending: Some(immediate(operands)?),
            });
        }
        if m.prefix(&["mbarrier", "arrive"]) {
            let counted = !m.flag("noinc");
            m.one_of(&["shared", "shared::cta"]);
            m.flag("b64");
            let [address] = operands else {
                return Err("one operand is expected".to_owned());
            };
            return Ok(Op::CopyAsyncArrive {
                address: self.address(address)?,
                counted,
            });
        }
        m.one_of(&["ca", "cg"]).ok_or("this copy is not modelled")?;
        let operands = without_policy(m, operands);
        let spaces = m.one_of(&["shared", "shared::cta"]).is_some() && m.flag("global");
        m.rest
            .retain(|part| !matches!(*part, "L2::64B" | "L2::128B" | "L2::256B"));
        let (to, from, bytes, source) = match operands {
            [to, from, Operand::Int(bytes)] if spaces => (to, from, *bytes, None),
            [to, from, Operand::Int(bytes), source] if spaces => {
                (to, from, *bytes, Some(self.source(source, Type::U32)?))
            }
            _ => {
                return Err(
                    "cp.async.{ca,cg}.shared.global [to], [from], bytes is expected".to_owned(),
                );
            }
        };
        let (4 | 8 | 16) = bytes else {
            return Err(format!("{bytes} bytes are not 4, 8 or 16"));
        };
        Ok(Op::CopyAsync {
            to: self.address(to)?,
            from: self.address(from)?,
            bytes: bytes as u32,
            source_bytes: source,
        })
    }

    fn wgmma(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<Op> {
        match m.one_of(&["fence", "commit_group", "wait_group", "mma_async"]) {
            Some("mma_async") => {}
            Some(other) => {
                if !m.prefix(&["sync", "aligned"]) {
                    return Err("`.sync.aligned` is missing".to_owned());
                }
                return Ok(match other {
                    "fence" => Op::WgmmaFence,
                    "commit_group" => Op::WgmmaCommit,
                    _ => Op::WgmmaWait {
                        pending: immediate(operands)?,
                    },
                });
            }
            None => return Err("unknown wgmma operation".to_owned()),
        }
        if !m.prefix(&["sync", "aligned"]) {
            return Err("`.sync.aligned` is missing".to_owned());
        }
        let saturate = m.flag("satfinite");
        let [shape, d_type, a_type, b_type] = m.rest[..] else {
            return Err("the shape and three types are expected".to_owned());
        };
        m.rest.clear();
        let inputs = inputs(a_type, b_type)
            .ok_or_else(|| format!("inputs .{a_type} and .{b_type} are not modelled"))?;
        let output = match (d_type, inputs) {
            ("f32", Inputs::Float(..)) => Output::F32,
            ("f16", Inputs::Float(Format::F16 | Format::E4m3 | Format::E5m2, _)) => Output::F16,
            ("s32", Inputs::Int(..)) => Output::S32 { saturate },
            _ => return Err(format!(".{d_type} results from .{a_type} and .{b_type}")),
        };
        let k = 32 / inputs.bytes();
        let n = shape
            .strip_prefix("m64n")
            .and_then(|rest| rest.strip_suffix(&format!("k{k}")))
            .and_then(|n| n.parse().ok());
        let n: usize = n
            .filter(|n| (8..=256).contains(n) && n % 8 == 0)
            .ok_or_else(|| format!("shape .{shape}"))?;
        let [Operand::Vector(d), a, b, scale_d, rest @ ..] = operands else {
            return Err("{d}, a, b, scale-d are expected".to_owned());
        };
        let registers = if output == Output::F16 { n / 4 } else { n / 2 };
        if d.len() != registers {
            return Err(format!(
                "{} registers where .{shape} has {registers} in D",
                d.len()
            ));
        }
        let a = match a {
            Operand::Vector(parts) => {
                let rows: [Reg; 4] = self
                    .sources(parts, Type::B32)?
                    .to_vec()
                    .try_into()
                    .map_err(|_| "A has four registers")?;
                MatrixA::Registers(rows)
            }
            descriptor => MatrixA::Descriptor(self.source(descriptor, Type::B64)?),
        };
        let immediates = rest
            .iter()
            .map(|operand| match operand {
                Operand::Int(value) => Ok(*value),
                other => Err(format!("`{other}` is not an immediate")),
            })
            .collect::<Result<Vec<_>>>()?;
        let narrow = inputs.bytes() == 2;
        let (scales, transposes) = match (inputs, &a, &immediates[..]) {
            (Inputs::Int(..), _, []) => ((1, 1), (0, 0)),
            (Inputs::Float(..), MatrixA::Descriptor(_), [a, b, ta, tb]) if narrow => {
                ((*a, *b), (*ta, *tb))
            }
            (Inputs::Float(..), MatrixA::Registers(_), [a, b, tb]) if narrow => {
                ((*a, *b), (0, *tb))
            }
            (Inputs::Float(..), _, [a, b]) if !narrow => ((*a, *b), (0, 0)),
            _ => return Err(format!("{} immediates", immediates.len())),
        };
        let scale = |scale| match scale {
            1 => Ok(false),
            -1 => Ok(true),
            other => Err(format!("scale {other} is not 1 or -1")),
        };
        let transpose = |transpose| match transpose {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(format!("transpose {other} is not 0 or 1")),
        };
        Ok(Op::Wgmma(Box::new(Wgmma {
            n,
            inputs,
            output,
            d: self.dests(d, Type::B32)?,
            a,
            b: self.source(b, Type::B64)?,
            scale_d: self.source(scale_d, Type::Pred)?,
            negate_a: scale(scales.0)?,
            negate_b: scale(scales.1)?,
            transpose_a: transpose(transposes.0)?,
            transpose_b: transpose(transposes.1)?,
        })))
    }
}

fn inputs(a: &str, b: &str) -> Option<Inputs> {
    let eight = |name| match name {
        "e4m3" => Some(Format::E4m3),
        "e5m2" => Some(Format::E5m2),
        _ => None,
    };
    let int = |name| match name {
        "s8" => Some(true),
        "u8" => Some(false),
        _ => None,
    };
    match (a, b) {
        ("f16", "f16") => Some(Inputs::Float(Format::F16, Format::F16)),
        ("bf16", "bf16") => Some(Inputs::Float(Format::Bf16, Format::Bf16)),
        ("tf32", "tf32") => Some(Inputs::Float(Format::Tf32, Format::Tf32)),
        _ => match (eight(a), eight(b)) {
            (Some(a), Some(b)) => Some(Inputs::Float(a, b)),
            _ => Some(Inputs::Int(int(a)?, int(b)?)),
        },
    }
}

/// The one operand of a `wait_group`.
fn immediate(operands: &[Operand]) -> Result<u64> {
    match operands {
        [Operand::Int(value)] => u64::try_from(*value).map_err(|_| format!("{value} is negative")),
        _ => Err("one immediate is expected".to_owned()),
    }
}
