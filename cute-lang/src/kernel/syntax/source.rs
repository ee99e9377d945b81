//! The expanded module with all modules that it imports.

use crate::kernel::syntax::enumeration::Enumeration;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::import::Import;
use crate::kernel::syntax::instance::Instance;
use crate::kernel::syntax::library::{Entry, Passed};
use crate::kernel::syntax::location::Location;
use crate::kernel::syntax::module::{Implementation, Module};
use crate::notation::Bound;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use std::cell::RefCell;
use syn::{Error, Ident, ItemConst, ItemFn, ItemStruct, ItemType, LitStr, Result};

/// The index of a module in a [`Source`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(usize);

/// The module being expanded.
pub const HERE: ModuleId = ModuleId(0);

/// The deepest chain of imports of imports.
const MAX_IMPORTS: usize = 32;

/// The expanded module, and all modules imported by it or its imports.
pub struct Source {
    modules: Vec<Loaded>,
    /// Whether there are type aliases: most modules have none.
    has_aliases: bool,
    /// Where a span begins.
    locate: Box<Locate>,
    /// Layouts named in kernels that no carrier has passed yet.
    pub unresolved: RefCell<Vec<TokenStream>>,
}

/// The start of a span, if it is known.
pub(crate) type Locate = dyn Fn(Span) -> Option<Location>;

struct Loaded {
    module: Module,
    /// The key that distinguishes modules of the same name.
    key: String,
    /// The tokens, if a carrier has passed them.
    tokens: TokenStream,
    /// The names from outside of the module, as far as carriers have passed them.
    bindings: Vec<(String, Bound)>,
    /// The targets of the paths of all imports.
    targets: Vec<Target>,
}

/// The target of the path of an import.
enum Target {
    /// An item of a module of kernels.
    Item(ModuleId),
    /// A module of kernels.
    Module(ModuleId),
    /// A layout.
    Layout,
}

impl Source {
    /// The source of a module, with the bindings passed for all of its imports, and for layouts.
    pub(crate) fn new(module: Module, passed: &[(String, Bound)]) -> Result<Self> {
        Self::located(module, passed, Box::new(Location::of))
    }

    /// The same, where something else than the compiler knows the places of spans.
    pub(crate) fn located(
        module: Module,
        passed: &[(String, Bound)],
        locate: Box<Locate>,
    ) -> Result<Self> {
        let here = Loaded {
            module,
            key: String::new(),
            tokens: TokenStream::new(),
            bindings: passed.to_vec(),
            targets: Vec::new(),
        };
        let mut entries = Vec::new();
        for (_, bound) in passed {
            if let Bound::Kernels(tokens) = bound {
                entries.extend(syn::parse2::<Passed>(tokens.clone())?.entries);
            }
        }
        Self::of(here, entries, locate)
    }

    /// The source of a module from its carrier.
    #[cfg(feature = "instantiate")]
    pub(crate) fn from_passed(passed: Passed, locate: Box<Locate>) -> Result<Self> {
        let mut entries = passed.entries.into_iter();
        let Some(here) = entries.next() else {
            let message = "there is no module of kernels";
            return Err(Error::new(Span::call_site(), message));
        };
        let here = Loaded {
            module: Module::parse(here.module)?,
            key: String::new(),
            tokens: TokenStream::new(),
            bindings: here.bindings,
            targets: Vec::new(),
        };
        Self::of(here, entries.collect(), locate)
    }

    fn of(here: Loaded, entries: Vec<Entry>, locate: Box<Locate>) -> Result<Self> {
        let mut source = Self {
            modules: vec![here],
            has_aliases: false,
            locate,
            unresolved: RefCell::default(),
        };
        for entry in entries {
            source.load(entry)?;
        }
        let mut modules = source.modules.iter();
        source.has_aliases = modules.any(|loaded| !loaded.module.aliases.is_empty());
        let mut errors = Errors::default();
        for id in (0..source.modules.len()).map(ModuleId) {
            let targets = errors.record(source.targets(id)).unwrap_or_default();
            source.modules[id.0].targets = targets;
        }
        errors.finish(source)
    }

    /// The start of a span, if it is known.
    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        (self.locate)(span)
    }

    fn load(&mut self, entry: Entry) -> Result<()> {
        if self.find(&entry.key).is_none() {
            self.modules.push(Loaded {
                module: Module::parse(entry.module.clone())?,
                key: entry.key,
                tokens: entry.module,
                bindings: entry.bindings,
                targets: Vec::new(),
            });
        }
        Ok(())
    }

    fn find(&self, key: &str) -> Option<ModuleId> {
        let found = self.modules[1..]
            .iter()
            .position(|loaded| loaded.key == key);
        found.map(|index| ModuleId(index + 1))
    }

    /// The targets of the imports of a module.
    fn targets(&self, id: ModuleId) -> Result<Vec<Target>> {
        let loaded = &self.modules[id.0];
        let mut errors = Errors::default();
        let mut targets = Vec::new();
        for import in &loaded.module.imports {
            targets.extend(errors.record(self.target(loaded, import)));
        }
        errors.finish(targets)
    }

    fn target(&self, loaded: &Loaded, import: &Import) -> Result<Target> {
        let key = import.key();
        let bound = loaded.bindings.iter().find(|(name, _)| *name == key);
        let id = match bound {
            Some((_, Bound::Kernels(tokens))) => {
                let passed = syn::parse2::<Passed>(tokens.clone())?;
                self.find(&passed.key)
            }
            Some((_, Bound::Text(_) | Bound::Error(_))) => return Ok(Target::Layout),
            Some((_, Bound::Broken | Bound::Feature(_))) | None => None,
        };
        let item = &import.item;
        let Some(id) = id else {
            let message = format!("cannot find the module of kernels with `{item}`");
            return Err(Error::new(item.span(), message));
        };
        let module = &self.modules[id.0].module;
        let is_module = *item == module.ident && !import.doubles();
        if import.name.is_none() || is_module {
            return Ok(Target::Module(id));
        }
        if module.exports().any(|(_, name)| name == item) {
            return Ok(Target::Item(id));
        }
        let message = format!(
            "`{item}` is no item of the module of kernels `{}`",
            module.ident
        );
        Err(Error::new(item.span(), message))
    }

    /// The module with this index.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.0].module
    }

    /// The expanded module, to change it.
    pub(crate) fn here_mut(&mut self) -> &mut Module {
        &mut self.modules[HERE.0].module
    }

    /// The features that an instance needs and the crate lacks.
    pub fn missing_features(&self, instance: &Instance) -> Vec<String> {
        let is_off = |feature: &&LitStr| {
            let name = feature.token().to_string();
            let mut bindings = self.modules[0].bindings.iter();
            bindings.any(|(known, bound)| *known == name && matches!(bound, Bound::Feature(false)))
        };
        let missing = instance.features.iter().filter(is_off);
        missing.map(LitStr::value).collect()
    }

    /// A function or kernel named in a module, and the module that declares it.
    pub fn function(&self, id: ModuleId, name: &str) -> Option<(ModuleId, &ItemFn)> {
        self.item(id, name, &Module::function)
    }

    /// A constant named in a module, and the module that declares it.
    pub fn constant(&self, id: ModuleId, name: &str) -> Option<(ModuleId, &ItemConst)> {
        self.item(id, name, &Module::constant)
    }

    /// A struct named in a module, and the module that declares it.
    pub fn structure(&self, id: ModuleId, name: &str) -> Option<(ModuleId, &ItemStruct)> {
        self.item(id, name, &Module::structure)
    }

    /// An enum named in a module, and the module that declares it.
    pub fn enumeration(&self, id: ModuleId, name: &str) -> Option<(ModuleId, &Enumeration)> {
        self.item(id, name, &Module::enumeration)
    }

    /// A type alias named in a module, and the module that declares it.
    pub fn alias(&self, id: ModuleId, name: &str) -> Option<(ModuleId, &ItemType)> {
        match self.has_aliases {
            true => self.item(id, name, &Module::alias),
            false => None,
        }
    }

    /// A function of a struct of this module, and its `impl`.
    pub fn method(
        &self,
        id: ModuleId,
        structure: &Ident,
        name: &str,
    ) -> Option<(&Implementation, &ItemFn)> {
        let impls = self
            .module(id)
            .impls
            .iter()
            .filter(|item| item.is_of(structure));
        impls
            .flat_map(|item| item.functions.iter().map(move |function| (item, function)))
            .find(|(_, function)| function.sig.ident == name)
    }

    /// Whether a struct of any module has a function with this name.
    pub fn has_method(&self, name: &str) -> bool {
        let impls = self.modules.iter().flat_map(|loaded| &loaded.module.impls);
        let mut functions = impls.flat_map(|item| &item.functions);
        functions.any(|function| function.sig.ident == name)
    }

    /// The module of kernels imported by a module under this name.
    pub fn imported(&self, id: ModuleId, name: &str) -> Option<ModuleId> {
        self.imports(id).find_map(|(import, target)| match target {
            Target::Module(id) if import.name.as_ref().is_some_and(|known| known == name) => {
                Some(*id)
            }
            _ => None,
        })
    }

    /// The path of an imported item, seen from outside of the expanded module.
    pub(crate) fn path(&self, name: &Ident) -> Option<TokenStream> {
        self.named(name).map(|(_, _, path)| path)
    }

    /// The path, inside of the expanded module, of a struct or an enum that it imports from the module that declares it. `None` if the path
    /// begins with `super`, which leads elsewhere if the module is declared in a function. Also `None` if it leads to a module that imports
    /// the item itself: Rust has the item only where it is declared.
    pub(crate) fn path_inside(&self, name: &Ident, declared: ModuleId) -> Option<TokenStream> {
        let (import, from, path) = self.named(name)?;
        (from == declared && !import.from_outside).then_some(path)
    }

    /// The import of an item, the named module, and the path of the item, seen from outside of the expanded module.
    fn named(&self, name: &Ident) -> Option<(&Import, ModuleId, TokenStream)> {
        self.imports(HERE).find_map(|(import, target)| {
            let path = &import.path;
            match (target, &import.name) {
                (Target::Item(from), Some(known)) if known == name => {
                    Some((import, *from, path.clone()))
                }
                (Target::Module(from), None) => {
                    let mut exports = self.module(*from).exports();
                    let found = exports.any(|(_, known)| known == name);
                    found.then(|| (import, *from, quote!(#path::#name)))
                }
                _ => None,
            }
        })
    }

    /// The layout that a module imports under this name, or names by this path.
    pub(crate) fn layout(&self, id: ModuleId, name: &str) -> Option<&Bound> {
        let imported = self.imports(id).find_map(|(import, target)| match target {
            Target::Layout if import.name.as_ref().is_some_and(|known| known == name) => {
                Some(import.key())
            }
            _ => None,
        });
        let name = imported.as_deref().unwrap_or(name);
        let bindings = self.modules[id.0].bindings.iter();
        bindings
            .filter(|(_, bound)| !matches!(bound, Bound::Kernels(_)))
            .find_map(|(known, bound)| (known == name).then_some(bound))
    }

    /// The tokens passed by a carrier of the expanded module.
    pub(crate) fn passed(&self, key: String, module: TokenStream) -> Passed {
        let here = Entry {
            key: key.clone(),
            bindings: references(&self.modules[0].bindings),
            module,
        };
        let others = self.modules[1..].iter();
        let others = others.filter(|loaded| loaded.key != key);
        let others = others.map(|loaded| Entry {
            key: loaded.key.clone(),
            bindings: loaded.bindings.clone(),
            module: loaded.tokens.clone(),
        });
        let entries = [here].into_iter().chain(others).collect();
        Passed { key, entries }
    }

    fn imports(&self, id: ModuleId) -> impl Iterator<Item = (&Import, &Target)> {
        let loaded = &self.modules[id.0];
        loaded.module.imports.iter().zip(&loaded.targets)
    }

    /// An item named in a module, and the module that declares it.
    fn item<'s, T>(
        &'s self,
        id: ModuleId,
        name: &str,
        get: &impl Fn(&'s Module, &str) -> Option<T>,
    ) -> Option<(ModuleId, T)> {
        self.item_within(id, name, get, MAX_IMPORTS)
    }

    fn item_within<'s, T>(
        &'s self,
        id: ModuleId,
        name: &str,
        get: &impl Fn(&'s Module, &str) -> Option<T>,
        depth: usize,
    ) -> Option<(ModuleId, T)> {
        if let Some(item) = get(self.module(id), name) {
            return Some((id, item));
        }
        let depth = depth.checked_sub(1)?;
        self.imports(id)
            .find_map(|(import, target)| match (target, &import.name) {
                (Target::Item(from), Some(known)) if known == name => {
                    self.item_within(*from, &import.item.to_string(), get, depth)
                }
                (Target::Module(from), None)
                    if self.module(*from).exports().any(|(_, known)| known == name) =>
                {
                    self.item_within(*from, name, get, depth)
                }
                _ => None,
            })
    }
}

/// The bindings with the keys of modules instead of their tokens.
fn references(bindings: &[(String, Bound)]) -> Vec<(String, Bound)> {
    let reference = |(name, bound): &(String, Bound)| {
        let bound = match bound {
            Bound::Kernels(tokens) => {
                let key = tokens.clone().into_iter().next();
                let key = key.expect("`Source::new` has read a key, which comes first");
                Bound::Kernels(key.into())
            }
            bound => bound.clone(),
        };
        (name.clone(), bound)
    };
    bindings.iter().map(reference).collect()
}
