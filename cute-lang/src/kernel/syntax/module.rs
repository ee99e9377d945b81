//! A module under `#[kernels]`, item by item.

use crate::kernel::syntax::alias::Aliases;
use crate::kernel::syntax::enumeration::Enumeration;
use crate::kernel::syntax::errors::Errors;
use crate::kernel::syntax::height::check_height;
use crate::kernel::syntax::import::{Import, imports};
use crate::kernel::syntax::kernel::{Kernel, kernel};
use crate::kernel::syntax::text;
use crate::kernel::syntax::types::{check_field, check_signature};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};
use syn::{
    Attribute, Error, FnArg, Generics, ImplItem, Item, ItemConst, ItemFn, ItemImpl, ItemMod,
    ItemStruct, ItemType, PatType, Receiver, Result, Safety, Type, Visibility,
};

/// The number of kinds of named items.
const KINDS: usize = 5;

/// A parsed module.
pub struct Module {
    /// The attributes.
    pub attrs: Vec<Attribute>,
    /// The visibility.
    pub vis: Visibility,
    /// The name.
    pub ident: Ident,
    /// Names of other modules.
    pub imports: Vec<Import>,
    /// Constants.
    pub consts: Vec<ItemConst>,
    /// Structs.
    pub structs: Vec<ItemStruct>,
    /// Enums.
    pub enums: Vec<Enumeration>,
    /// Names of types.
    pub aliases: Vec<ItemType>,
    /// Functions of structs.
    pub impls: Vec<Implementation>,
    /// Kernels, in order.
    pub kernels: Vec<Kernel>,
    /// Functions that kernels call.
    pub functions: Vec<ItemFn>,
    /// By name, the index of the first item of each kind.
    first: HashMap<String, [Option<usize>; KINDS]>,
}

/// An `impl` of a struct.
pub struct Implementation {
    /// The generic parameters.
    pub generics: Generics,
    /// The struct.
    pub ty: syn::TypePath,
    /// Whether it is an `impl Iterator for`.
    pub iterator: bool,
    /// The functions.
    pub functions: Vec<ItemFn>,
}

impl Implementation {
    /// Whether the struct has this name.
    pub fn is_of(&self, structure: &Ident) -> bool {
        self.ty
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == *structure)
    }
}

/// The module as Rust, and its items.
pub(crate) fn items(tokens: TokenStream) -> Result<(ItemMod, Vec<Item>)> {
    check_height(tokens.clone())?;
    let parsed = syn::parse2(tokens.clone());
    let mut module: ItemMod = parsed.map_err(|error| several_coordinates(error, tokens))?;
    match module.content.take() {
        Some((_, items)) => Ok((module, items)),
        None => Err(Error::new(
            module.ident.span(),
            "`#[kernels]` takes a module with its body: `mod name { … }`",
        )),
    }
}

/// The error of a module that does not parse. At the comma of `x[i, j]`, it says how a coordinate of several modes is written.
fn several_coordinates(error: Error, tokens: TokenStream) -> Error {
    let place = format!("{:?}", error.span());
    let mut open = vec![(false, tokens)];
    while let Some((is_index, tokens)) = open.pop() {
        // Whether a bracket after this token is an index.
        let mut after_value = false;
        for token in tokens.clone() {
            if let TokenTree::Punct(comma) = &token
                && is_index
                && comma.as_char() == ','
                && format!("{:?}", comma.span()) == place
            {
                let coordinate = text::shorten(tokens);
                let message = format!(
                    "a coordinate of several modes is a tuple: write `[({coordinate})]`, not `[{coordinate}]`"
                );
                return Error::new(comma.span(), message);
            }
            let is_value = matches!(token, TokenTree::Ident(_) | TokenTree::Group(_));
            if let TokenTree::Group(group) = token {
                let is_bracket = group.delimiter() == Delimiter::Bracket;
                open.push((is_bracket && after_value, group.stream()));
            }
            after_value = is_value;
        }
    }
    error
}

impl Module {
    /// Parses the module under `#[kernels]`.
    pub fn parse(tokens: TokenStream) -> Result<Self> {
        let (module, items) = items(tokens)?;
        let (parsed, errors) = Self::of(module, items);
        errors.finish(parsed)
    }

    /// The module with these items, and the errors in them.
    pub(crate) fn of(module: ItemMod, items: Vec<Item>) -> (Self, Errors) {
        let mut parsed = Self {
            attrs: module.attrs,
            vis: module.vis,
            ident: module.ident,
            imports: Vec::new(),
            consts: Vec::new(),
            structs: Vec::new(),
            enums: Vec::new(),
            aliases: Vec::new(),
            impls: Vec::new(),
            kernels: Vec::new(),
            functions: Vec::new(),
            first: HashMap::new(),
        };
        let mut errors = Errors::default();
        for item in items {
            let added = parsed.add(item);
            errors.record(added);
        }
        errors.record(parsed.replace_aliases());
        let names: [Vec<&Ident>; KINDS] = [
            parsed.consts.iter().map(|item| &item.ident).collect(),
            parsed.structs.iter().map(|item| &item.ident).collect(),
            parsed
                .functions
                .iter()
                .map(|item| &item.sig.ident)
                .collect(),
            parsed.enums.iter().map(|item| &item.item.ident).collect(),
            parsed.aliases.iter().map(|item| &item.ident).collect(),
        ];
        for (kind, names) in names.into_iter().enumerate() {
            for (index, name) in names.into_iter().enumerate() {
                let first = parsed.first.entry(name.to_string()).or_default();
                first[kind].get_or_insert(index);
            }
        }
        errors.record(parsed.check_instances());
        (parsed, errors)
    }

    /// The constant with this name.
    pub fn constant(&self, name: &str) -> Option<&ItemConst> {
        self.consts.get(self.first.get(name)?[0]?)
    }

    /// The struct with this name, or the enum, as its struct in registers.
    pub fn structure(&self, name: &str) -> Option<&ItemStruct> {
        match self.first.get(name)?[1] {
            Some(index) => self.structs.get(index),
            None => self.enumeration(name).map(|found| &found.held),
        }
    }

    /// The enum with this name.
    pub fn enumeration(&self, name: &str) -> Option<&Enumeration> {
        self.enums.get(self.first.get(name)?[3]?)
    }

    /// The type alias with this name.
    pub fn alias(&self, name: &str) -> Option<&ItemType> {
        self.aliases.get(self.first.get(name)?[4]?)
    }

    /// The kernel or function with this name.
    pub fn function(&self, name: &str) -> Option<&ItemFn> {
        let mut kernels = self.kernels.iter().map(|kernel| &kernel.function);
        let kernel = kernels.find(|kernel| kernel.sig.ident == name);
        kernel.or_else(|| self.functions.get(self.first.get(name)?[2]?))
    }

    /// The names that other modules can import.
    pub fn exports(&self) -> impl Iterator<Item = (&Visibility, &Ident)> {
        fn public(vis: &Visibility) -> bool {
            !matches!(vis, Visibility::Inherited)
        }
        let consts = self.consts.iter().map(|item| (&item.vis, &item.ident));
        let structs = self.structs.iter().map(|item| (&item.vis, &item.ident));
        let enums = self.enums.iter();
        let enums = enums.map(|item| (&item.item.vis, &item.item.ident));
        let aliases = self.aliases.iter().map(|item| (&item.vis, &item.ident));
        let kernels = self.kernels.iter().map(|kernel| &kernel.function);
        let functions = kernels.chain(&self.functions);
        let functions = functions.map(|function| (&function.vis, &function.sig.ident));
        let imports = self.imports.iter();
        let imports = imports.filter_map(|import| Some((&import.vis, import.name.as_ref()?)));
        consts
            .chain(structs)
            .chain(enums)
            .chain(aliases)
            .chain(functions)
            .chain(imports)
            .filter(|(vis, _)| public(vis))
    }

    fn add(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Const(item) => self.consts.push(item),
            Item::Struct(item) => {
                let mut errors = Errors::default();
                for field in &item.fields {
                    errors.record(check_field(&field.ty));
                }
                self.structs.push(item);
                errors.finish(())?;
            }
            Item::Enum(item) => self.enums.push(Enumeration::new(item)?),
            Item::Type(item) => {
                let checked = check_field(&item.ty);
                self.aliases.push(item);
                checked?;
            }
            Item::Impl(item) => self.impls.push(implementation(item)?),
            Item::Fn(function)
                if function
                    .attrs
                    .iter()
                    .any(|attr| attr.path().is_ident("kernel")) =>
            {
                self.kernels.push(kernel(function)?);
            }
            Item::Fn(function) => {
                let mut errors = Errors::default();
                errors.record(check_function(&function));
                self.functions.push(function);
                errors.finish(())?;
            }
            Item::Use(item) => self.imports.extend(imports(item)?),
            item => return Err(outside(&item)),
        }
        Ok(())
    }

    /// Replaces names of aliases without parameters in items whose types are read without the values of kernels.
    fn replace_aliases(&mut self) -> Result<()> {
        let aliases = Aliases::of(&self.aliases)?;
        let kernels = self.kernels.iter_mut();
        let inputs = kernels.flat_map(|kernel| &mut kernel.function.sig.inputs);
        for input in inputs {
            if let FnArg::Typed(input) = input {
                aliases.replace(&mut input.ty);
            }
        }
        let consts = self.consts.iter_mut();
        consts.for_each(|item| aliases.replace(&mut item.ty));
        let fields = self.structs.iter_mut().flat_map(|item| &mut item.fields);
        fields.for_each(|field| aliases.replace(&mut field.ty));
        for item in &mut self.impls {
            let mut ty = Type::Path(item.ty.clone());
            aliases.replace(&mut ty);
            if let Type::Path(ty) = ty {
                item.ty = ty;
            }
        }
        Ok(())
    }

    /// Refuses two instances with one name.
    pub(crate) fn check_instances(&self) -> Result<()> {
        let mut errors = Errors::default();
        let mut seen = HashSet::new();
        let kernels = self.kernels.iter();
        for instance in kernels.flat_map(|kernel| kernel.instances.iter().chain(&kernel.open)) {
            if !seen.insert(instance.name.to_string()) {
                errors.push(instance.error(format!("two instances are named `{}`", instance.name)));
            }
        }
        errors.finish(())
    }
}

/// The error of an item outside of the language.
fn outside(item: &Item) -> Error {
    let message = match item {
        Item::Trait(_) | Item::TraitAlias(_) => {
            "the kernel language has no traits but `Iterator`: write `impl Name { … }`, and pass a function as `impl Fn(…) -> …`"
        }
        Item::Static(_) => {
            "the kernel language has no `static`: a `const` is known, and what changes is a tensor in shared memory, `smem::<f32>(128)` in the kernel, or in global memory"
        }
        Item::Macro(_) => {
            "a module of kernels declares no macros: a function or a closure is inlined where it is called"
        }
        Item::Mod(_) => {
            "a module of kernels holds no other: write a module of kernels of its own, and import its items by `use`"
        }
        Item::Union(_) => {
            "the kernel language has no unions: `recast` and `to_bits` read bits as another type"
        }
        _ => "a kernel module takes `fn`, `struct`, `enum`, `type`, `impl`, `const` and `use` only",
    };
    Error::new_spanned(item, message)
}

/// Refuses attributes and qualifiers of kernels, and types outside of the language.
fn check_function(function: &ItemFn) -> Result<()> {
    let mut errors = Errors::default();
    if let Some(attr) = function
        .attrs
        .iter()
        .find(|attr| attr.path().is_ident("instance") || attr.path().is_ident("instances"))
    {
        errors.push(Error::new_spanned(
            attr,
            "`#[instance]` belongs to a function with `#[kernel(…)]`",
        ));
    }
    for input in &function.sig.inputs {
        let (FnArg::Typed(PatType { attrs, .. }) | FnArg::Receiver(Receiver { attrs, .. })) = input;
        if let Some(attr) = attrs.first() {
            let message = "only a parameter of a kernel has facts, which its launch checks";
            errors.push(Error::new_spanned(attr, message));
        }
    }
    if let Safety::Unsafe(token) = &function.sig.safety {
        errors.push(Error::new_spanned(
            token,
            "only a kernel may be `unsafe`, since the host calls nothing else",
        ));
    }
    errors.record(check_signature(&function.sig));
    errors.finish(())
}

fn implementation(item: ItemImpl) -> Result<Implementation> {
    let iterator = match &item.trait_ {
        None => false,
        Some((path, _)) if path.is_ident("Iterator") => true,
        Some((path, _)) => {
            return Err(Error::new_spanned(
                path,
                "the kernel language has no traits but `Iterator`: write `impl Name { … }`",
            ));
        }
    };
    let ty = match *item.self_ty {
        Type::Path(ty) if ty.qself.is_none() => ty,
        ty => return Err(Error::new_spanned(ty, "expected the name of a struct")),
    };
    let mut errors = Errors::default();
    let mut functions = Vec::new();
    for item in item.items {
        match item {
            ImplItem::Fn(item) => {
                let function = ItemFn {
                    attrs: item.attrs,
                    vis: item.vis,
                    modifiers: item.modifiers,
                    sig: item.sig,
                    block: Box::new(item.block),
                };
                errors.record(check_function(&function));
                functions.push(function);
            }
            ImplItem::Type(ty) if iterator && ty.ident == "Item" => {}
            item => {
                let message = "an `impl` takes functions only: a `const` or a `type` is an item of the module";
                errors.push(Error::new_spanned(item, message));
            }
        }
    }
    errors.finish(Implementation {
        generics: item.generics,
        ty,
        iterator,
        functions,
    })
}
