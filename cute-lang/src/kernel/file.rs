//! The modules of kernels of a Rust file, lowered from its text without rustc.

use crate::kernel::lower::{Lowered, constants, kernels, opens};
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::library::bound_from;
use crate::kernel::syntax::location::{Location, relative};
use crate::kernel::syntax::module::Module;
use crate::kernel::syntax::source::Source;
use crate::notation::Bound;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::{Error, Result};

/// A file with modules of kernels.
pub struct File {
    /// The path, as PTX names it.
    name: String,
    modules: Vec<Found>,
    layouts: Vec<(String, String)>,
}

/// A module under `#[kernels]`.
struct Found {
    /// The names of the modules around it and its own, with `::` between them.
    path: String,
    tokens: TokenStream,
}

/// The instances of a module.
pub struct Instances {
    /// Those with PTX.
    pub lowered: Vec<Lowered>,
    /// The names of those that get values when a program runs, with the names of these values.
    pub open: Vec<(String, Vec<String>)>,
}

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The message; notes and help are further lines.
    pub message: String,
    /// Line and column of the first character, both from 1.
    pub begin: (usize, usize),
    /// Line and column behind the last character.
    pub end: (usize, usize),
    /// Whether a name from outside of the file is missing, which only rustc can find.
    pub is_outside: bool,
}

/// The deepest nesting of braces in which modules are searched.
const MAX_DEPTH: usize = 64;

impl File {
    /// Finds the modules of kernels in the text of a file. The spans made here stay in the memory of the thread.
    ///
    /// ```
    /// use cute_lang::kernel::file::File;
    /// let text = "
    ///     #[cute_runtime::kernels]
    ///     mod kernels {
    ///         #[kernel(threads = 32)]
    ///         pub fn nothing(n: u32) {}
    ///     }";
    /// let file = File::parse("src/main.rs", text).map_err(|mistakes| format!("{mistakes:?}"))?;
    /// assert_eq!(file.modules().collect::<Vec<_>>(), ["kernels"]);
    /// let instances = file.lower("kernels", &|_| None).map_err(|mistakes| format!("{mistakes:?}"))?;
    /// assert!(instances.lowered[0].module.to_string().contains(".file 1 \"src/main.rs\""));
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// The text cannot be split into tokens.
    pub fn parse(name: &str, text: &str) -> std::result::Result<Self, Vec<Mistake>> {
        let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| {
            let message = "the tokens of this file cannot be read from here on";
            mistakes(Error::new(error.span(), message), &[])
        })?;
        let mut file = Self {
            name: relative(name),
            modules: Vec::new(),
            layouts: Vec::new(),
        };
        file.search(tokens, &mut Vec::new(), 0);
        Ok(file)
    }

    /// The paths of the modules, such as `outer::kernels`, in their order.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(|found| &*found.path)
    }

    /// The layouts that `layout!` declares in the file, each with its definition.
    pub fn layouts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.layouts
            .iter()
            .map(|(name, definition)| (&**name, &**definition))
    }

    /// Lowers all instances of the module with this path. `layout` gives the values of layouts from outside of it, by name.
    ///
    /// # Errors
    /// All mistakes.
    pub fn lower(
        &self,
        path: &str,
        layout: &dyn Fn(&str) -> Option<String>,
    ) -> std::result::Result<Instances, Vec<Mistake>> {
        let mut outside = Vec::new();
        let found = self.modules.iter().find(|found| found.path == path);
        let lowered = match found {
            Some(found) => self.lowered(found, layout, &mut outside),
            None => {
                let message = format!("the file has no module of kernels `{path}`");
                Err(Error::new(Span::call_site(), message))
            }
        };
        lowered.map_err(|error| mistakes(error, &outside))
    }

    fn lowered(
        &self,
        found: &Found,
        layout: &dyn Fn(&str) -> Option<String>,
        outside: &mut Vec<String>,
    ) -> Result<Instances> {
        let mut bindings = self.imports(found, layout, outside)?;
        loop {
            let module = Module::parse(found.tokens.clone())?;
            let file = self.name.clone();
            let locate = move |span: Span| location(&file, span);
            let mut source = Source::located(module, &bindings, Box::new(locate))?;
            let kernels = kernels(&mut source);
            let parts = (kernels, constants(&source), opens(&source));
            // The layouts that kernels name by a path, and not by `use`, are known now.
            let known = bindings.len();
            for path in source.unresolved.borrow().iter() {
                let key: String = path.clone().into_iter().map(|it| it.to_string()).collect();
                let name = key.rsplit("::").next().unwrap_or(&key);
                let is_new = bindings.iter().all(|(bound, _)| *bound != key);
                let value = layout(name).filter(|_| is_new);
                bindings.extend(value.map(|value| (key.clone(), Bound::Text(value))));
            }
            if bindings.len() > known {
                continue;
            }
            let (kernels, constants, opens) = parts;
            let mut errors = Errors::default();
            let kernels = errors.record(kernels).unwrap_or_default();
            errors.record(constants);
            let opens = errors.record(opens).unwrap_or_default();
            let open = opens.iter().map(|open| {
                let fields = open.fields.iter().map(|field| field.name.to_string());
                (open.name.to_string(), fields.collect())
            });
            let open = open.collect();
            let lowered = kernels.into_iter().flat_map(|kernel| kernel.into_lowered());
            return errors.finish(Instances {
                lowered: lowered.collect(),
                open,
            });
        }
    }

    /// What carriers would pass for the imports of a module: other modules of the file, and layouts.
    fn imports(
        &self,
        found: &Found,
        layout: &dyn Fn(&str) -> Option<String>,
        outside: &mut Vec<String>,
    ) -> Result<Vec<(String, Bound)>> {
        let libraries = self.libraries(found);
        let libraries: Vec<_> = libraries
            .iter()
            .map(|(path, tokens)| (&**path, tokens.clone()))
            .collect();
        let (mut bindings, mut errors) = (Vec::new(), Errors::default());
        for import in &Module::parse(found.tokens.clone())?.imports {
            let key = import.key();
            let given = || layout(&import.item.to_string()).map(Bound::Text);
            match errors.record(bound_from(&key, &libraries)) {
                Some(bound) => match bound.or_else(given) {
                    Some(bound) => bindings.push((key, bound)),
                    None => {
                        let message =
                            format!("`{key}` is not in this file, and only rustc finds it");
                        outside.push(message.clone());
                        errors.push(Error::new(import.item.span(), message));
                    }
                },
                None => continue,
            }
        }
        errors.finish(bindings)
    }

    /// The other modules of the file, with the paths by which a module imports from them: behind `super::`, which a key does not
    /// have, and behind `crate::` if the file is the root of a crate or in its folder `src`.
    fn libraries(&self, here: &Found) -> Vec<(String, TokenStream)> {
        let parent = here.path.rsplit_once("::").map_or("", |(parent, _)| parent);
        let inside = self.path_in_crate();
        let mut libraries = Vec::new();
        for found in self.modules.iter().filter(|found| found.path != here.path) {
            let relative = match parent {
                "" => Some(&*found.path),
                parent => {
                    let rest = found.path.strip_prefix(parent);
                    rest.and_then(|rest| rest.strip_prefix("::"))
                }
            };
            let paths = [
                relative.map(str::to_owned),
                Some(format!("crate::{inside}{}", found.path)),
            ];
            let paths = paths.into_iter().flatten();
            libraries.extend(paths.map(|path| (path, found.tokens.clone())));
        }
        libraries
    }

    /// The path of the file in its crate, with `::` at its end: `a::b::` for `src/a/b.rs`, and nothing for a root.
    fn path_in_crate(&self) -> String {
        let inside = self
            .name
            .rsplit_once("src/")
            .map_or("", |(_, inside)| inside);
        let inside = inside.strip_suffix(".rs").unwrap_or(inside);
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        match inside {
            "" | "lib" | "main" => String::new(),
            inside => inside.replace('/', "::") + "::",
        }
    }

    /// Adds the modules of kernels and the layouts among the tokens, which are inside of the modules `around`.
    fn search(&mut self, tokens: TokenStream, around: &mut Vec<String>, depth: usize) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut i = 0;
        while i < tokens.len() {
            match &tokens[i..] {
                [hash, TokenTree::Group(attribute), rest @ ..]
                    if is_sign(hash, '#') && names_kernels(attribute.stream()) =>
                {
                    if let Some((name, length)) = module(rest) {
                        around.push(name);
                        self.modules.push(Found {
                            path: around.join("::"),
                            tokens: rest[..length].iter().cloned().collect(),
                        });
                        around.pop();
                        i += 2 + length;
                        continue;
                    }
                }
                [TokenTree::Ident(word), sign, TokenTree::Group(items), ..]
                    if word == "layout" && is_sign(sign, '!') =>
                {
                    self.layouts.extend(layouts(items.stream()));
                }
                [
                    TokenTree::Ident(word),
                    TokenTree::Ident(name),
                    TokenTree::Group(body),
                    ..,
                ] if word == "mod" && depth < MAX_DEPTH => {
                    around.push(name.to_string());
                    self.search(body.stream(), around, depth + 1);
                    around.pop();
                    i += 3;
                    continue;
                }
                [TokenTree::Group(body), ..]
                    if body.delimiter() == Delimiter::Brace && depth < MAX_DEPTH =>
                {
                    self.search(body.stream(), around, depth + 1);
                }
                _ => {}
            }
            i += 1;
        }
    }
}

/// Whether an attribute is `kernels`, maybe behind a path, and maybe with arguments.
fn names_kernels(attribute: TokenStream) -> bool {
    let names = attribute
        .into_iter()
        .take_while(|token| !matches!(token, TokenTree::Group(_)));
    let last = names
        .filter(|token| !matches!(token, TokenTree::Punct(sign) if sign.as_char() == ':'))
        .last();
    matches!(last, Some(TokenTree::Ident(name)) if name == "kernels")
}

/// The name of the module at the beginning of the tokens, behind attributes and `pub`, and how many tokens it has.
fn module(tokens: &[TokenTree]) -> Option<(String, usize)> {
    let at = tokens
        .iter()
        .position(|token| matches!(token, TokenTree::Ident(word) if word == "mod"))?;
    let before = tokens[..at].iter();
    let mut before =
        before.filter(|token| !matches!(token, TokenTree::Group(_)) && !is_sign(token, '#'));
    let is_public = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "pub");
    match &tokens[at + 1..] {
        [TokenTree::Ident(name), TokenTree::Group(_), ..] if before.all(is_public) => {
            Some((name.to_string(), at + 3))
        }
        _ => None,
    }
}

/// The items `pub NAME = definition;` of `layout!`.
fn layouts(tokens: TokenStream) -> Vec<(String, String)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let items = tokens
        .split(|token| is_sign(token, ';'))
        .filter_map(|item| {
            let at = item.iter().position(|token| is_sign(token, '='))?;
            let TokenTree::Ident(name) = item[..at].last()? else {
                return None;
            };
            let definition: TokenStream = item[at + 1..].iter().cloned().collect();
            Some((name.to_string(), definition.to_string()))
        });
    items.collect()
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn location(file: &str, span: Span) -> Option<Location> {
    let start = span.start();
    Some(Location {
        file: file.to_owned(),
        line: u32::try_from(start.line).ok()?,
        column: u32::try_from(start.column + 1).ok()?,
    })
}

/// The mistakes of an error; those with one of the messages `outside` are about names from outside of the file.
fn mistakes(error: Error, outside: &[String]) -> Vec<Mistake> {
    let mistakes = error.into_iter().map(|error| {
        let (begin, end) = (error.span().start(), error.span().end());
        let message = error.to_string();
        Mistake {
            is_outside: outside.contains(&message),
            message,
            begin: (begin.line, begin.column + 1),
            end: (end.line, end.column + 1),
        }
    });
    mistakes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
use cute_runtime::{kernels, layout};

layout! { pub TILE = (32,32):(33,1); pub HALF = TILE o (16,32); }

/// A library.
#[kernels]
pub(crate) mod library {
    pub fn double(x: u32) -> u32 { x * 2 }
}

mod outer {
    #[cute_runtime::kernels(crate = cute)]
    #[allow(unused)]
    mod inner {
        use super::TILE;
        #[kernel(threads = 32)]
        #[instance(given: N = _)]
        #[instance(two: N = 2)]
        pub fn k<const N: u32>(x: Global<u32, 1>) {
            if thread() < extent(x, 0) { x[thread()] = layout!(TILE).at(thread()); }
        }
    }
    fn f() { let x = 1; }
}

#[cute::kernels]
mod last {
    use super::library::double;
    #[kernel(threads = 64)]
    pub fn k(x: Global<u32, 1>) {
        if thread() < extent(x, 0) { x[thread()] = double(x[thread()]); }
    }
}
";

    fn file(text: &str) -> File {
        File::parse("src/m.rs", text).expect("the tokens can be read")
    }

    #[test]
    fn modules_and_layouts_are_found() {
        let file = file(TEXT);
        assert_eq!(
            file.modules().collect::<Vec<_>>(),
            ["library", "outer::inner", "last"]
        );
        let layouts: Vec<_> = file.layouts().map(|(name, _)| name).collect();
        assert_eq!(layouts, ["TILE", "HALF"]);
    }

    #[test]
    fn modules_are_lowered() {
        let tile = |name: &str| (name == "TILE").then(|| "(32,32):(33,1)".to_owned());
        let inner = file(TEXT)
            .lower("outer::inner", &tile)
            .expect("it is right");
        assert_eq!(inner.open, [("given".to_owned(), vec!["N".to_owned()])]);
        let names = |instances: &Instances| -> Vec<String> {
            instances
                .lowered
                .iter()
                .map(|it| it.name.to_string())
                .collect()
        };
        assert_eq!(names(&inner), ["two"]);
        let last = file(TEXT).lower("last", &|_| None).expect("it is right");
        assert_eq!(names(&last), ["k"]);
        let ptx = last.lowered[0].module.to_string();
        assert!(
            ptx.contains(".file 1 \"src/m.rs\"") && ptx.contains(".loc 1 32 "),
            "{ptx}"
        );
    }

    #[test]
    fn mistakes_have_places() {
        let mistakes = |text: &str, path: &str| {
            let instances =
                File::parse("src/m.rs", text).and_then(|file| file.lower(path, &|_| None));
            instances.err().expect("it is wrong")
        };
        let [outside] = &mistakes(TEXT, "outer::inner")[..] else {
            panic!("one mistake");
        };
        assert!(outside.is_outside && outside.begin == (16, 20) && outside.end == (16, 24));
        let wrong = TEXT.replace("double(x[", "triple(x[");
        let [unknown] = &mistakes(&wrong, "last")[..] else {
            panic!("one mistake");
        };
        assert!(
            !unknown.is_outside && unknown.begin == (32, 52),
            "{unknown:?}"
        );
        assert_eq!(
            mistakes(TEXT, "other")[0].message,
            "the file has no module of kernels `other`"
        );
        assert_eq!(mistakes("fn f() {", "f").len(), 1);
    }

    #[test]
    fn the_path_of_a_file_leads_to_its_modules() {
        for (name, path) in [
            ("src/main.rs", ""),
            ("kernels/src/lib.rs", ""),
            ("src/a/b.rs", "a::b::"),
            ("src/a/mod.rs", "a::"),
            ("examples/saxpy.rs", ""),
        ] {
            let file = File {
                name: name.to_owned(),
                modules: Vec::new(),
                layouts: Vec::new(),
            };
            assert_eq!(file.path_in_crate(), path);
        }
    }
}
