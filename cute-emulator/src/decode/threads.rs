//! Exchanges between lanes, barriers, and the other instructions about threads.

use super::{Decoded, Decoder, Mnemonic, Result, arithmetic};
use crate::op::{Op, Shuffle, Together, Vote};
use cute_ptx::ast::{Operand, Type};

impl<'a> Decoder<'a, '_> {
    pub(super) fn threads(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Decoded {
        let name = m.name;
        Some(match name {
            "shfl" => self.shuffle(m, operands),
            "vote" => self.vote(m, operands),
            "redux" => self.redux(m, operands),
            "elect" => self.elect(m, operands),
            "activemask" => match operands {
                [dst] if m.flag("b32") => self
                    .dest(dst, Type::B32)
                    .map(|dst| (Op::ActiveMask { dst }, Together::No)),
                _ => return None,
            },
            "bar" if m.prefix(&["warp", "sync"]) => match operands {
                [members] => self
                    .source(members, Type::B32)
                    .map(|members| (Op::WarpSync, Together::Mask(members))),
                _ => Err("one operand is expected".to_owned()),
            },
            "bar" | "barrier" if !m.rest.contains(&"cluster") => self.barrier(m, operands),
            "barrier" => {
                m.flag("cluster");
                let together = if m.flag("aligned") {
                    Together::Warp
                } else {
                    Together::No
                };
                m.one_of(&["release", "relaxed", "acquire"]);
                match m.one_of(&["arrive", "wait"]) {
                    Some("arrive") => Ok((Op::ClusterArrive, together)),
                    Some(_) => Ok((Op::ClusterWait, together)),
                    None => Err("`.arrive` or `.wait` is missing".to_owned()),
                }
            }
            "setmaxnreg" => self.set_max_registers(m, operands),
            "mapa" => self.map_rank(m, operands),
            "getctarank" => {
                let generic = !m.flag("shared::cluster");
                let Some(ty @ (Type::U32 | Type::U64)) = m.ty() else {
                    return Some(Err("getctarank.u32 or .u64 is expected".to_owned()));
                };
                match operands {
                    [dst, address] => self.source(address, ty).and_then(|address| {
                        let dst = self.dest(dst, Type::U32)?;
                        Ok((
                            Op::RankOf {
                                dst,
                                address,
                                generic,
                            },
                            Together::No,
                        ))
                    }),
                    _ => Err("two operands are expected".to_owned()),
                }
            }
            "griddepcontrol" => match m.one_of(&["launch_dependents", "wait"]) {
                Some(_) => Ok((Op::Nop, Together::No)),
                None => return None,
            },
            "nanosleep" => {
                m.flag("u32");
                Ok((Op::Nop, Together::No))
            }
            "fence" | "membar" => self.fence(m),
            "pmevent" | "brkpt" => Err("not modelled".to_owned()),
            _ => return None,
        })
    }

    fn shuffle(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<(Op, Together)> {
        let sync = m.flag("sync");
        let mode = match m.one_of(&["up", "down", "bfly", "idx"]) {
            Some("up") => Shuffle::Up,
            Some("down") => Shuffle::Down,
            Some("bfly") => Shuffle::Butterfly,
            Some(_) => Shuffle::Index,
            None => return Err("a mode is missing".to_owned()),
        };
        let ([dst, src, lane, clamp, members], true, true) = (operands, sync, m.flag("b32")) else {
            return Err("shfl.sync.MODE.b32 with five operands is expected".to_owned());
        };
        let (dst, valid) = match dst {
            Operand::Pair(dst, valid) => (
                self.dest(dst, Type::B32)?,
                Some(self.dest(valid, Type::Pred)?),
            ),
            dst => (self.dest(dst, Type::B32)?, None),
        };
        let [src, lane, clamp, members] =
            [src, lane, clamp, members].map(|it| self.source(it, Type::B32));
        let (src, lane, clamp, members) = (src?, lane?, clamp?, members?);
        Ok((
            Op::Shuffle {
                mode,
                dst,
                valid,
                src,
                lane,
                clamp,
            },
            Together::Mask(members),
        ))
    }

    fn vote(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<(Op, Together)> {
        let sync = m.flag("sync");
        let mode = match m.one_of(&["any", "all", "uni", "ballot"]) {
            Some("any") => Vote::Any,
            Some("all") => Vote::All,
            Some("uni") => Vote::Uniform,
            Some(_) => Vote::Ballot,
            None => return Err("a mode is missing".to_owned()),
        };
        m.one_of(&["pred", "b32"]);
        let ([dst, predicate, members], true) = (operands, sync) else {
            return Err("vote.sync with three operands is expected".to_owned());
        };
        let predicate = self.source(predicate, Type::Pred)?;
        let members = self.source(members, Type::B32)?;
        let ty = match mode {
            Vote::Ballot => Type::B32,
            _ => Type::Pred,
        };
        Ok((
            Op::Vote {
                mode,
                dst: self.dest(dst, ty)?,
                predicate,
                members,
            },
            Together::Mask(members),
        ))
    }

    fn redux(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<(Op, Together)> {
        let ty = m.ty().ok_or("a type is missing")?;
        let sync = m.flag("sync");
        let name = m
            .one_of(&["add", "min", "max", "and", "or", "xor"])
            .ok_or("an operation is missing")?;
        let ([dst, src, members], true) = (operands, sync) else {
            return Err("redux.sync with three operands is expected".to_owned());
        };
        let op =
            arithmetic::update(name, ty).ok_or_else(|| format!("`.{name}` of .{}", ty.name()))?;
        let (src, members) = (self.source(src, ty)?, self.source(members, Type::B32)?);
        Ok((
            Op::Reduce {
                op,
                dst: self.dest(dst, ty)?,
                src,
            },
            Together::Mask(members),
        ))
    }

    fn elect(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<(Op, Together)> {
        let ([Operand::Pair(dst, elected), members], true) = (operands, m.flag("sync")) else {
            return Err("elect.sync d|p, membermask is expected".to_owned());
        };
        let members = self.source(members, Type::B32)?;
        Ok((
            Op::Elect {
                dst: self.dest(dst, Type::B32)?,
                elected: self.dest(elected, Type::Pred)?,
                members,
            },
            Together::Mask(members),
        ))
    }

    fn barrier(&mut self, m: &mut Mnemonic<'_>, operands: &'a [Operand]) -> Result<(Op, Together)> {
        m.flag("cta");
        let wait = match m.one_of(&["sync", "arrive"]) {
            Some("sync") => true,
            Some(_) => false,
            None => return Err("`.sync` or `.arrive` is missing".to_owned()),
        };
        // `bar` is short for `barrier.cta….aligned`.
        m.flag("aligned");
        let (id, threads) = match operands {
            [id] => (id, None),
            [id, threads] => (id, Some(self.source(threads, Type::U32)?)),
            _ => return Err(format!("{} operands", operands.len())),
        };
        if !wait && threads.is_none() {
            return Err("the number of threads is missing".to_owned());
        }
        Ok((
            Op::Barrier {
                id: self.source(id, Type::U32)?,
                threads,
                wait,
            },
            Together::Warp,
        ))
    }

    fn set_max_registers(
        &mut self,
        m: &mut Mnemonic<'_>,
        operands: &'a [Operand],
    ) -> Result<(Op, Together)> {
        let increase = match m.one_of(&["inc", "dec"]) {
            Some(direction) => direction == "inc",
            None => return Err("`.inc` or `.dec` is missing".to_owned()),
        };
        let ([Operand::Int(count)], true) = (operands, m.prefix(&["sync", "aligned", "u32"]))
        else {
            return Err("one immediate is expected".to_owned());
        };
        match u32::try_from(*count) {
            Ok(count) if (24..=256).contains(&count) && count.is_multiple_of(8) => {
                Ok((Op::SetMaxRegisters { count, increase }, Together::Warp))
            }
            _ => Err(format!(
                "{count} registers are not a multiple of 8 from 24 to 256"
            )),
        }
    }

    fn map_rank(
        &mut self,
        m: &mut Mnemonic<'_>,
        operands: &'a [Operand],
    ) -> Result<(Op, Together)> {
        let generic = !m.flag("shared::cluster");
        let ([dst, address, rank], Some(ty @ (Type::U32 | Type::U64))) = (operands, m.ty()) else {
            return Err("mapa.u32 or .u64 with three operands is expected".to_owned());
        };
        let (address, rank) = (self.source(address, ty)?, self.source(rank, Type::U32)?);
        Ok((
            Op::MapRank {
                dst: self.dest(dst, ty)?,
                address,
                rank,
                generic,
            },
            Together::No,
        ))
    }

    fn fence(&mut self, m: &mut Mnemonic<'_>) -> Result<(Op, Together)> {
        let proxy = m.prefix(&["proxy"]);
        let op = if proxy {
            match m.rest[..] {
                ["async"] | ["async", "shared::cta" | "shared::cluster" | "global"] => {}
                ["alias"] => {
                    m.rest.clear();
                    return Ok((Op::Nop, Together::No));
                }
                _ => return Err("this proxy fence is not modelled".to_owned()),
            }
            // A fence for global memory says nothing about shared memory.
            if m.rest.last() == Some(&"global") {
                Op::Nop
            } else {
                Op::ProxyFence
            }
        } else if m.rest.first() == Some(&"mbarrier_init") {
            Op::InitFence
        } else {
            // Accesses happen in order here; what a fence orders is seen through barriers and atomics.
            Op::Nop
        };
        m.rest.clear();
        Ok((op, Together::No))
    }
}
