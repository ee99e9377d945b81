//! Which kernels are shipped and not launched here, and why.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use cute_kernels::gemm::fused::kernels::gemm_fused_CFG;
use cute_kernels::gemm::gated::kernels::gemm_gated_CFG;
use cute_kernels::gemm::kernels::gemm_CFG;
use cute_kernels::lib::Config;
use cute_ptx::table::{Opcode, Together};
use cute_runtime::Constant;

use crate::body::{Body, is_synchronisation};
use crate::launches::LAUNCHES;
use crate::mutation::entry;
use crate::shipped::{instances, parts};

/// Kernels with constants that no launch has, since the launches have what they are made of.
struct Others {
    kernel: &'static str,
    constants: &'static [&'static str],
    reason: &'static str,
}

const OTHERS: &[Others] = &[
    Others {
        kernel: "finish_parts_",
        constants: &["Identity", "Gelu", "GeluTanh", "Silu"],
        reason: "Relu with another function of each number",
    },
    Others {
        kernel: "gemm_linear_",
        constants: &["NARROW"],
        reason: "SQUARE with another size",
    },
    Others {
        kernel: "gemm_scaled_",
        constants: &["NARROW"],
        reason: "SINGLE with another size",
    },
    Others {
        kernel: "gemm_block_scaled_",
        constants: &["NARROW_PROMOTED"],
        reason: "SQUARE_PROMOTED with another size",
    },
    Others {
        kernel: "gemm_list_",
        constants: &["NARROW"],
        reason: "SQUARE with another size",
    },
    Others {
        kernel: "softmax_",
        constants: &[
            "HELD_1", "HELD_3", "HELD_4", "HELD_5", "HELD_7", "HELD_8", "HELD_10", "HELD_11",
            "HELD_12",
        ],
        reason: "HELD_2, HELD_6 and HELD_9 with other numbers of warps and values",
    },
    Others {
        kernel: "layer_norm_",
        constants: &[
            "HELD_1", "HELD_2", "HELD_3", "HELD_4", "HELD_5", "HELD_6", "HELD_7", "HELD_8",
            "HELD_9", "HELD_11", "HELD_12",
        ],
        reason: "HELD_0 and HELD_10 with other numbers of warps and values",
    },
    Others {
        kernel: "rms_norm_",
        constants: &[
            "HELD_0", "HELD_1", "HELD_2", "HELD_3", "HELD_5", "HELD_6", "HELD_7", "HELD_8",
            "HELD_10", "HELD_11", "HELD_12",
        ],
        reason: "HELD_4 and HELD_9 with other numbers of warps and values",
    },
    Others {
        kernel: "sum_rows_",
        constants: &["ROW_2048", "ROW_4096", "ANY_6137"],
        reason: "ROW_8192 and ANY_1017 with other numbers of warps",
    },
];

/// Whether each kernel is launched with each of its constants, or is one of the others, of which each exists; and whether no instance
/// waits, signals or orders by an instruction that no launched one of its kernel has. Prints what is otherwise.
pub(crate) fn all_are_launched() -> bool {
    let launched: BTreeSet<&str> = LAUNCHES.iter().map(|launch| launch.kernel()).collect();
    let mut kinds = BTreeSet::new();
    let mut used: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for name in &launched {
        let (kernel, _, constants) = parts(name);
        kinds.insert((kernel, constants));
    }
    let mut others: BTreeSet<(&str, &str)> = BTreeSet::new();
    for it in OTHERS {
        others.extend(it.constants.iter().map(|constants| (it.kernel, *constants)));
    }
    let made_of: BTreeSet<Part> = kinds
        .iter()
        .filter_map(|(kernel, constants)| sizes(kernel, constants))
        .flat_map(parts_of)
        .collect();
    let all = instances();
    let existing: BTreeSet<(&str, &str)> = all
        .iter()
        .map(|(name, _)| {
            let (kernel, _, constants) = parts(name);
            (kernel, constants)
        })
        .collect();
    for (name, ptx) in all.iter().filter(|(name, _)| launched.contains(name)) {
        used.entry(parts(name).0).or_default().extend(orders(ptx));
    }
    // A product of other sizes is made of what the launched ones are made of.
    for (kernel, constants) in &existing {
        if !kinds.contains(&(kernel, constants))
            && let Some(config) = sizes(kernel, constants)
            && parts_of(config).iter().all(|part| made_of.contains(part))
        {
            others.insert((kernel, constants));
        }
    }
    let mut wrong = Vec::new();
    for kind in &existing {
        if kinds.contains(kind) == others.contains(kind) {
            wrong.push(format!(
                "{kind:?} is neither launched nor one of the others, or both"
            ));
        }
    }
    for kind in others.difference(&existing) {
        wrong.push(format!("{kind:?} does not exist"));
    }
    let no_orders = BTreeSet::new();
    for (name, ptx) in &all {
        let (kernel, _, constants) = parts(name);
        // Products with an epilogue have the main loop of those without.
        let of_sizes = sizes(kernel, constants).map(|_| "gemm_");
        let of = |kernel| used.get(kernel).unwrap_or(&no_orders);
        let (own, shared) = (of(kernel), of_sizes.map_or(&no_orders, of));
        let is_new = |order: &String| !own.contains(order) && !shared.contains(order);
        let new = orders(ptx).into_iter().filter(is_new);
        wrong.extend(new.map(|order| format!("{name} has {order}, and no launch of its kernel")));
    }
    println!(
        "{} of {} kernels with their constants are launched",
        kinds.len(),
        existing.len()
    );
    for it in OTHERS {
        let constants = it.constants.join(", ");
        println!("not launched: {}{constants}: {}", it.kernel, it.reason);
    }
    for it in &wrong {
        println!("FAILED: {it}");
    }
    wrong.is_empty()
}

/// The sizes of a product with these constants, of a kernel whose instances have many.
fn sizes(kernel: &str, constants: &str) -> Option<Config> {
    fn of<C: Constant<Value = Config> + Debug>(name: &str) -> Option<Config> {
        let mut all = C::ALL.iter();
        let found = all.find(|it| format!("{it:?}") == name);
        found.map(|it| it.value())
    }
    // The function of each number comes first.
    let of_fused = constants.split_once('_').map(|(_, sizes)| sizes);
    match kernel {
        "gemm_" => of::<gemm_CFG>(constants),
        "gemm_fused_" => of::<gemm_fused_CFG>(of_fused?),
        "gemm_gated_" => of::<gemm_gated_CFG>(of_fused?),
        _ => None,
    }
}

/// What a product is made of: how warpgroups divide a tile and store it, what CTAs of a cluster share, and how matrices lie.
type Part = (&'static str, [bool; 3]);

fn parts_of(config: Config) -> [Part; 5] {
    [
        (
            "warpgroups",
            [config.pingpong, config.by_columns, config.swapped],
        ),
        (
            "clusters",
            [config.cluster_m > 1, config.cluster_n > 1, config.split > 1],
        ),
        ("D", [config.by_element, false, false]),
        ("A", [config.a_mn, false, false]),
        ("B", [config.b_mn, false, false]),
    ]
}

/// By which instructions a kernel waits, signals, orders, and lets lanes or copies work together.
fn orders(ptx: &str) -> BTreeSet<String> {
    let module = cute_ptx::parse(ptx).expect("the kernel is PTX");
    let body = Body::new(&entry(&module).body);
    let orders = body.instructions().filter_map(|(_, inst)| {
        let opcode = inst.mnemonic.opcode();
        let guarded = if inst.guard.is_some() { "@p " } else { "" };
        // Of what their sizes and types say nothing of.
        let sized = [
            Opcode::WgmmaMmaAsync,
            Opcode::Mma,
            Opcode::Stmatrix,
            Opcode::Shfl,
        ]
        .contains(&opcode);
        match inst.mnemonic.together() {
            _ if is_synchronisation(inst) => Some(format!("{guarded}{}", inst.mnemonic)),
            Together::No => None,
            _ if sized => Some(format!("{guarded}{opcode:?}")),
            _ => Some(format!("{guarded}{}", inst.mnemonic)),
        }
    });
    orders.collect()
}
