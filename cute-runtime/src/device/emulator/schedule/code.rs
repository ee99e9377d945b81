//! Options of an emulated device as the code that makes them, which a user pastes to repeat a failure.

use std::fmt::{self, Display, Formatter};

use super::{Checks, EmulatorOptions};

impl Display for EmulatorOptions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&update(
            "EmulatorOptions",
            options(self),
            options(&EmulatorOptions::default()),
        ))
    }
}

/// The name and the value of each field, as code.
type Fields = Vec<(&'static str, String)>;

fn options(options: &EmulatorOptions) -> Fields {
    // Without `..`, so that a new field is an error here.
    let EmulatorOptions {
        schedule,
        seed,
        step_limit,
        cluster_limit,
        idle_limit,
        resident_clusters,
        checks: looked_for,
        trace,
    } = options;
    vec![
        ("schedule", format!("Policy::{schedule:?}")),
        ("seed", seed.to_string()),
        ("step_limit", step_limit.to_string()),
        ("cluster_limit", cluster_limit.to_string()),
        ("idle_limit", idle_limit.to_string()),
        ("resident_clusters", resident_clusters.to_string()),
        (
            "checks",
            update("Checks", checks(looked_for), checks(&Checks::default())),
        ),
        ("trace", trace.to_string()),
    ]
}

fn checks(checks: &Checks) -> Fields {
    let Checks {
        registers,
        uninitialised,
        order,
        global,
        tensors,
        ways,
        division,
        strict,
    } = checks;
    let fields = [
        ("registers", registers),
        ("uninitialised", uninitialised),
        ("order", order),
        ("global", global),
        ("tensors", tensors),
        ("ways", ways),
        ("division", division),
        ("strict", strict),
    ];
    fields
        .map(|(name, value)| (name, value.to_string()))
        .to_vec()
}

/// `Name { field: value, ..Name::default() }` with the fields that differ from the default.
fn update(name: &str, fields: Fields, default: Fields) -> String {
    let changed: String = fields
        .into_iter()
        .zip(default)
        .filter(|(field, default)| field != default)
        .map(|((field, value), _)| format!("{field}: {value}, "))
        .collect();
    match &changed[..] {
        "" => format!("{name}::default()"),
        changed => format!("{name} {{ {changed}..{name}::default() }}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    /// The text of an expression, and its value: rustc reads what a user would paste.
    macro_rules! pasted {
        ($($code:expr),* $(,)?) => { [$((stringify!($code), $code)),*] };
    }

    #[test]
    fn the_code_of_options_makes_the_options() {
        let without_spaces = |text: &str| text.replace(char::is_whitespace, "");
        let codes = pasted![
            EmulatorOptions::default(),
            EmulatorOptions {
                schedule: Policy::Random,
                seed: 6,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                schedule: Policy::Earliest,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                schedule: Policy::Priorities,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                schedule: Policy::Starvation,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                step_limit: 1,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                cluster_limit: 2,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                idle_limit: 18446744073709551615,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                resident_clusters: 1,
                trace: true,
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                checks: Checks {
                    registers: false,
                    uninitialised: false,
                    order: false,
                    ..Checks::default()
                },
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                checks: Checks {
                    global: false,
                    tensors: false,
                    ways: false,
                    ..Checks::default()
                },
                ..EmulatorOptions::default()
            },
            EmulatorOptions {
                checks: Checks {
                    division: false,
                    strict: false,
                    ..Checks::default()
                },
                ..EmulatorOptions::default()
            },
        ];
        for (code, options) in codes {
            assert_eq!(without_spaces(&options.to_string()), without_spaces(code));
        }
    }
}
