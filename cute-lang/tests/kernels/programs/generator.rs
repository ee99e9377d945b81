//! Makes random programs, each as a text for rustc and one for the kernel language. They differ only in numbers of 16 bits.

use crate::numbers::{Exact, Type, types};
use crate::random::Random;

/// A function `f` of some numbers.
pub(super) struct Program {
    pub(super) params: Vec<Type>,
    pub(super) result: Type,
    pub(super) rust: String,
    kernel: String,
}

/// The same code for rustc and for the kernel language.
#[derive(Clone)]
struct Code {
    rust: String,
    kernel: String,
}

impl Code {
    fn same(text: impl Into<String>) -> Self {
        let rust = text.into();
        Self {
            kernel: rust.clone(),
            rust,
        }
    }

    /// Text in which `@` stands for these, in order.
    fn of(text: &str, parts: &[&Code]) -> Self {
        let fill = |of: fn(&Code) -> &str| {
            let mut parts = parts.iter();
            let pieces = text.split('@').enumerate();
            let filled = pieces.map(|(i, piece)| match i {
                0 => piece.to_owned(),
                _ => format!("{}{piece}", of(parts.next().expect("a part for each"))),
            });
            filled.collect()
        };
        Self {
            rust: fill(|code| &code.rust),
            kernel: fill(|code| &code.kernel),
        }
    }
}

impl Program {
    pub(super) fn new(random: &mut Random) -> Self {
        let all: Vec<Type> = types().collect();
        let params: Vec<Type> = (0..5).map(|_| random.pick(&all)).collect();
        let result = random.pick(&all);
        let mut generator = Generator {
            random,
            all,
            result,
            variables: Vec::new(),
            names: 0,
        };
        for (i, ty) in params.iter().enumerate() {
            generator.variables.push(Variable {
                name: format!("p{i}"),
                ty: *ty,
                changes: false,
            });
        }
        let mut body: Vec<Code> = Vec::new();
        for _ in 0..2 + generator.random.below(5) {
            body.push(generator.statement());
        }
        body.push(generator.expression(&result, 3));
        let listed: Vec<String> = (0..)
            .zip(&params)
            .map(|(i, ty): (usize, _)| format!("p{i}: {}", ty.name))
            .collect();
        let text = |of: fn(&Code) -> &str| {
            let body: Vec<&str> = body.iter().map(of).collect();
            let pick = "fn pick<T>(c: bool, a: T, b: T) -> T { if c { a } else { b } }";
            format!(
                "{pick}\npub fn f({}) -> {} {{\n{}\n}}",
                listed.join(", "),
                result.name,
                body.join("\n")
            )
        };
        Self {
            rust: text(|code| &code.rust),
            kernel: text(|code| &code.kernel),
            params: params.clone(),
            result,
        }
    }

    /// A module with a kernel that calls the function with values that it loads.
    pub(super) fn module(&self) -> String {
        let params: String = (0..)
            .zip(&self.params)
            .map(|(i, ty): (usize, _)| format!("x{i}: Global<{}, 1>, ", ty.name))
            .collect();
        let args: Vec<String> = (0..self.params.len())
            .map(|i| format!("x{i}[thread()]"))
            .collect();
        let threads = super::RUNS;
        let (function, result) = (&self.kernel, self.result.name);
        let args = args.join(", ");
        format!(
            "mod kernels {{ {function} #[kernel(threads = {threads})] pub unsafe fn k({params}out: Global<{result}, 1>) {{ out[thread()] = f({args}); }} }}"
        )
    }

    /// A module with a kernel that calls the function with the first values, so that they are known at expansion.
    pub(super) fn known(&self, arguments: &[Vec<u64>]) -> String {
        let args = self
            .params
            .iter()
            .zip(arguments)
            .map(|(ty, values)| argument(ty, values[0], false));
        let args: Vec<String> = args.collect();
        let (function, result) = (&self.kernel, self.result.name);
        let args = args.join(", ");
        format!(
            "mod kernels {{ {function} #[kernel(threads = 1)] pub unsafe fn k(out: Global<{result}, 1>) {{ out[0] = f({args}); }} }}"
        )
    }
}

/// A value as an argument.
pub(super) fn argument(ty: &Type, bits: u64, rust: bool) -> String {
    let name = ty.name;
    let half = name.ends_with("f16");
    match (ty.exact)(bits) {
        Exact::Int(value) => format!("{value}{name}"),
        Exact::Float(value) => {
            let of = if half { "f64" } else { name };
            let number = match value {
                value if value.is_nan() => format!("{of}::NAN"),
                value if value.is_infinite() && value < 0.0 => format!("{of}::NEG_INFINITY"),
                value if value.is_infinite() => format!("{of}::INFINITY"),
                value if half || name == "f64" => format!("{value:?}f64"),
                value => format!("{:?}f32", value as f32),
            };
            match (half, rust) {
                (false, _) => number,
                (true, true) => format!("{name}::of({number})"),
                (true, false) => format!("({number}) as {name}"),
            }
        }
    }
}

struct Variable {
    name: String,
    ty: Type,
    changes: bool,
}

struct Generator<'r> {
    random: &'r mut Random,
    all: Vec<Type>,
    /// The type of the function's value.
    result: Type,
    variables: Vec<Variable>,
    names: usize,
}

fn is_integer(ty: &Type) -> bool {
    !ty.name.contains('f')
}

fn is_half(ty: &Type) -> bool {
    ty.name.ends_with("f16")
}

impl Generator<'_> {
    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn any_type(&mut self) -> Type {
        self.random.pick(&self.all)
    }

    fn integer_type(&mut self) -> Type {
        let integers: Vec<Type> = self
            .all
            .iter()
            .filter(|ty| is_integer(ty))
            .copied()
            .collect();
        self.random.pick(&integers)
    }

    fn statement(&mut self) -> Code {
        let changing: Vec<(String, Type)> = self
            .variables
            .iter()
            .filter(|variable| variable.changes)
            .map(|variable| (variable.name.clone(), variable.ty))
            .collect();
        match self.random.below(9) {
            0..=2 => self.declaration(),
            8 => self.early_return(),
            3 | 4 if !changing.is_empty() => {
                let (name, ty) = self.random.pick(&changing);
                self.assignment(&name, &ty)
            }
            5 if !changing.is_empty() => {
                let (name, ty) = self.random.pick(&changing);
                let (other, of_other) = self.random.pick(&changing);
                let condition = self.condition(2);
                let (then, otherwise) = (
                    self.assignment(&name, &ty),
                    self.assignment(&other, &of_other),
                );
                Code::of("if @ { @ } else { @ }", &[&condition, &then, &otherwise])
            }
            6 if !changing.is_empty() => {
                let (name, ty) = self.random.pick(&changing);
                let index = self.name();
                let from = self.random.below(3);
                let known = self.variables.len();
                let index_type = match is_integer(&ty) {
                    true => ty,
                    false => self.integer_type(),
                };
                self.variables.push(Variable {
                    name: index.clone(),
                    ty: index_type,
                    changes: false,
                });
                let mut body = self.assignment(&name, &ty);
                if self.random.below(3) == 0 {
                    body = Code::of("@ @", &[&body, &self.early_return()]);
                }
                self.variables.truncate(known);
                Code::of(
                    &format!("for {index} in {from}..{} {{ @ }}", from + 3),
                    &[&body],
                )
            }
            7 if !changing.is_empty() => {
                let (name, ty) = self.random.pick(&changing);
                let counter = self.name();
                let body = self.assignment(&name, &ty);
                Code::of(
                    &format!("let mut {counter} = 0; while {counter} < 3 {{ @ {counter} += 1; }}"),
                    &[&body],
                )
            }
            _ => self.declaration(),
        }
    }

    fn early_return(&mut self) -> Code {
        let result = self.result;
        let (condition, value) = (self.condition(2), self.expression(&result, 2));
        Code::of("if @ { return @; }", &[&condition, &value])
    }

    fn declaration(&mut self) -> Code {
        let (one, two) = (self.any_type(), self.any_type());
        let value = self.expression(&one, 3);
        let (name, other) = (self.name(), self.name());
        let code = match self.random.below(8) {
            0 => {
                let second = self.expression(&two, 2);
                self.variables.push(Variable {
                    name: other.clone(),
                    ty: two,
                    changes: false,
                });
                self.variables.push(Variable {
                    name: name.clone(),
                    ty: one,
                    changes: false,
                });
                return Code::of(
                    &format!("let ({name}, {other}) = (@, @);"),
                    &[&value, &second],
                );
            }
            1 => Code::of(&format!("let {name}: {} = @;", one.name), &[&value]),
            2 => Code::of(&format!("let {name} = @;"), &[&value]),
            3 => Code::of(&format!("let mut {name}: {} = @;", one.name), &[&value]),
            _ => Code::of(&format!("let mut {name} = @;"), &[&value]),
        };
        let changes = code.rust.starts_with("let mut");
        self.variables.push(Variable {
            name,
            ty: one,
            changes,
        });
        code
    }

    fn assignment(&mut self, name: &str, ty: &Type) -> Code {
        let value = self.expression(ty, 2);
        let operators: &[&str] = match is_integer(ty) {
            true => &["=", "+=", "-=", "*=", "&=", "|=", "^="],
            false => &["=", "+=", "-=", "*="],
        };
        match self.random.below(8) {
            0 if is_integer(ty) => Code::same(format!("{name} <<= {};", self.random.below(8))),
            1 if is_integer(ty) => Code::same(format!("{name} >>= {};", self.random.below(8))),
            _ => Code::of(
                &format!("{name} {} @;", self.random.pick(operators)),
                &[&value],
            ),
        }
    }

    fn expression(&mut self, ty: &Type, depth: usize) -> Code {
        if depth == 0 {
            return self.leaf(ty);
        }
        let depth = depth - 1;
        match self.random.below(16) {
            0 | 1 => self.leaf(ty),
            14 | 15 => {
                let condition = self.condition(depth);
                let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
                let text = match self.random.below(3) {
                    0 => "(loop { if @ { break @; } break @; })",
                    1 => "('a: { if @ { break 'a @; } @ })",
                    _ => "('a: { loop { if @ { break 'a @; } break; } @ })",
                };
                Code::of(text, &[&condition, &a, &b])
            }
            2 => self.cast(ty, depth),
            3 => {
                let condition = self.condition(depth);
                let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
                Code::of("(if @ { @ } else { @ })", &[&condition, &a, &b])
            }
            4 => {
                let of = self.integer_type();
                let (value, a, b, c) = (
                    self.expression(&of, depth),
                    self.expression(ty, depth),
                    self.expression(ty, depth),
                    self.expression(ty, depth),
                );
                Code::of(
                    "(match @ { 0 | 3 => @, 1..=2 => @, _ => @ })",
                    &[&value, &a, &b, &c],
                )
            }
            5 => {
                let known = self.variables.len();
                let inner = self.any_type();
                let (name, value) = (self.name(), self.expression(&inner, depth));
                self.variables.push(Variable {
                    name: name.clone(),
                    ty: inner,
                    changes: false,
                });
                let result = self.expression(ty, depth);
                self.variables.truncate(known);
                Code::of(&format!("{{ let {name} = @; @ }}"), &[&value, &result])
            }
            6 => {
                let condition = self.condition(depth);
                let (a, b) = (self.expression(ty, depth), self.expression(ty, depth));
                Code::of("pick(@, @, @)", &[&condition, &a, &b])
            }
            7 => {
                let (a, b, c) = (
                    self.expression(ty, depth),
                    self.expression(ty, depth),
                    self.expression(ty, depth),
                );
                Code::of(
                    &format!("[@, @, @][{}]", self.random.below(3)),
                    &[&a, &b, &c],
                )
            }
            8 => {
                let name = self.name();
                let (value, other) = (self.expression(ty, depth), self.expression(ty, depth));
                Code::of(
                    &format!("{{ let {name} = |x| x + @; {name}(@) }}"),
                    &[&value, &other],
                )
            }
            _ if is_integer(ty) => self.integer(ty, depth),
            _ => self.float(ty, depth),
        }
    }

    fn integer(&mut self, ty: &Type, depth: usize) -> Code {
        let a = self.expression(ty, depth);
        match self.random.below(12) {
            0 => {
                let b = self.expression(ty, depth);
                let operator = self.random.pick(&["/", "%"]);
                Code::of(&format!("(@ {operator} (@ & 7 | 1))"), &[&a, &b])
            }
            1 | 2 => {
                let amount = self.random.below(8);
                Code::of(
                    &format!("(@ {} {amount})", self.random.pick(&["<<", ">>"])),
                    &[&a],
                )
            }
            3 => {
                let of = self.integer_type();
                let amount = self.expression(&of, depth);
                Code::of(
                    &format!("(@ {} (@ & 7))", self.random.pick(&["<<", ">>"])),
                    &[&a, &amount],
                )
            }
            4 => Code::of("(!@)", &[&a]),
            5 if ty.name.starts_with('i') => Code::of("(-@)", &[&a]),
            6 => {
                let b = self.expression(ty, depth);
                Code::of(
                    &format!("{}(@, @)", self.random.pick(&["min", "max"])),
                    &[&a, &b],
                )
            }
            _ => {
                let b = self.expression(ty, depth);
                Code::of(
                    &format!(
                        "(@ {} @)",
                        self.random.pick(&["+", "-", "*", "&", "|", "^"])
                    ),
                    &[&a, &b],
                )
            }
        }
    }

    fn float(&mut self, ty: &Type, depth: usize) -> Code {
        let a = self.expression(ty, depth);
        if self.random.below(6) == 0 {
            return Code::of("(-@)", &[&a]);
        }
        let b = match is_half(ty) && self.variables.iter().any(|it| it.name == a.rust) {
            true => self.inferred_half(ty),
            false => self.expression(ty, depth),
        };
        let operators: &[&str] = match is_half(ty) {
            true => &["+", "-", "*"],
            false => &["+", "-", "*", "/"],
        };
        Code::of(&format!("(@ {} @)", self.random.pick(operators)), &[&a, &b])
    }

    fn cast(&mut self, ty: &Type, depth: usize) -> Code {
        if is_integer(ty) && self.random.below(4) == 0 {
            let condition = self.condition(depth);
            return Code::of(&format!("(@ as {})", ty.name), &[&condition]);
        }
        let from = self.any_type();
        let value = self.expression(&from, depth);
        match (is_half(&from), is_half(ty)) {
            (false, false) => Code::of(&format!("(@ as {})", ty.name), &[&value]),
            // Through f64, an integer of 64 bits would be rounded twice.
            (_, true) if from.bytes == 8 && is_integer(&from) => self.leaf(ty),
            _ => Code {
                rust: format!("Cast::<{}>::cast({})", ty.name, value.rust),
                kernel: format!("({} as {})", value.kernel, ty.name),
            },
        }
    }

    fn condition(&mut self, depth: usize) -> Code {
        let ty = self.any_type();
        let (a, b) = (self.expression(&ty, depth), self.expression(&ty, depth));
        let compared = Code::of(
            &format!(
                "(@ {} @)",
                self.random.pick(&["<", "<=", ">", ">=", "==", "!="])
            ),
            &[&a, &b],
        );
        match self.random.below(6) {
            0 if depth > 0 => {
                let other = self.condition(depth - 1);
                Code::of(
                    &format!("(@ {} @)", self.random.pick(&["&&", "||"])),
                    &[&compared, &other],
                )
            }
            1 => Code::of("(!@)", &[&compared]),
            _ => compared,
        }
    }

    fn leaf(&mut self, ty: &Type) -> Code {
        let variables: Vec<String> = self
            .variables
            .iter()
            .filter(|variable| variable.ty.name == ty.name)
            .map(|variable| variable.name.clone())
            .collect();
        match variables.is_empty() || self.random.below(3) == 0 {
            true => self.literal(ty),
            false => Code::same(self.random.pick(&variables)),
        }
    }

    /// A number of 16 bits whose type follows from what it meets.
    fn inferred_half(&mut self, ty: &Type) -> Code {
        let value = self.random.pick(&["0.5", "0.1", "3.3", "1e-3"]);
        Code {
            rust: format!("{}::of({value})", ty.name),
            kernel: value.to_owned(),
        }
    }

    fn literal(&mut self, ty: &Type) -> Code {
        let suffix = match self.random.below(3) {
            0 => ty.name,
            _ => "",
        };
        if is_integer(ty) {
            let value = match self.random.below(3) {
                0 => match (ty.exact)(self.random.pick(&(ty.values)())) {
                    Exact::Int(value) => value,
                    Exact::Float(_) => 0,
                },
                _ => self.random.below(128) as i128,
            };
            return match value < 0 {
                true => Code::same(format!("({value}{suffix})")),
                false => Code::same(format!("{value}{suffix}")),
            };
        }
        let value = self.random.pick(&[
            "0.5",
            "1.0",
            "0.1",
            "3.3",
            "16777217.0",
            "1e-3",
            "65519.0",
            "1234567.8",
        ]);
        match is_half(ty) {
            false => Code::same(format!("{value}{suffix}")),
            true => Code {
                rust: format!("{}::of({value})", ty.name),
                kernel: self.random.pick(&[
                    format!("({value} as {})", ty.name),
                    format!("{value}{}", ty.name),
                ]),
            },
        }
    }
}
