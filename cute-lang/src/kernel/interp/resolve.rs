//! Names and syntax of all functions of a module, even of functions that no kernel calls.
//!
//! A function is interpreted where it is called, with the values of its arguments. Errors for all values are found here without the values:
//! unknown names, syntax outside of the language, and unused variables. The check runs once the kernels have no errors, so that no mistake
//! is reported twice.

use super::call::unknown_function;
use super::elsewhere::type_hint;
use super::form;
use super::macros;
use super::message::Format;
use super::name::unknown_name;
use super::names::{Name, Resolver, Scope};
use super::near;
use super::statement::initialiser;
use super::suffix;
use super::word;
use crate::kernel::builtins;
use crate::kernel::syntax::pattern;
use crate::kernel::syntax::source::{HERE, Source};
use crate::kernel::value::Element;
use crate::kernel::value::types::register_type;
use crate::notation;
use cute_algebra::operations;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Block, Error, Expr, ExprCall, ExprMethodCall, ExprStruct, Fields, FnArg,
    GenericArgument, GenericParam, Generics, ItemFn, Lit, Local, Macro, Pat, Path, PathArguments,
    Result, ReturnType, Token, Type,
};

/// The types of parameters and results besides numbers and structs.
const TYPES: &[&str] = &[
    "Tensor",
    "Global",
    "Fragment",
    "Barriers",
    "Barrier",
    "TmaLoad",
    "TmaStore",
    "Store",
    "Layout",
    "ComposedLayout",
    "Swizzle",
    "Tiler",
    "Shape",
    "Coord",
    "Coordinate",
    "Range",
    "Option",
    "Self",
    "bool",
    "usize",
    "isize",
];

/// Checks all functions of the expanded module.
pub fn check_names(source: &Source) -> Result<()> {
    resolve(source).errors.finish(())
}

/// The unused variables, in the order of their blocks' ends. Names that begin with `_` are omitted.
pub fn unused_variables(source: &Source) -> Vec<Ident> {
    resolve(source).unused
}

fn resolve(source: &Source) -> Resolver<'_> {
    let module = source.module(HERE);
    let mut resolver = Resolver::new(source);
    let kernels = module.kernels.iter().map(|kernel| &kernel.function);
    for function in kernels.chain(&module.functions) {
        resolver.function(function, &[]);
    }
    for item in &module.aliases {
        resolver.scopes = vec![generics(&[&item.generics])];
        resolver.ty(&item.ty);
    }
    for item in &module.impls {
        for function in &item.functions {
            resolver.function(function, &[&item.generics]);
        }
    }
    resolver
}

impl Resolver<'_> {
    fn function(&mut self, function: &ItemFn, around: &[&Generics]) {
        let around = around.iter().copied();
        let all: Vec<&Generics> = around.chain([&function.sig.generics]).collect();
        let mut names = generics(&all);
        names.push(Name::known("self"));
        names.push(Name::known("Self"));
        self.scopes = vec![names];
        self.scoped(|this| {
            for input in &function.sig.inputs {
                if let FnArg::Typed(input) = input {
                    this.ty(&input.ty);
                    this.bind(&input.pat);
                }
            }
            // Facts about a parameter may name others.
            for attribute in function.sig.inputs.iter().flat_map(attributes) {
                this.mention(attribute.to_token_stream());
            }
            if let ReturnType::Type(_, ty) = &function.sig.output {
                this.ty(ty);
            }
            this.block(&function.block);
        });
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.scoped(|this| {
            let stmts = block.stmts.iter();
            stmts.for_each(|stmt| form::statement(stmt, &mut *this));
        });
    }

    pub(super) fn local(&mut self, local: &Local) {
        if let Some(init) = self.errors.record(initialiser(local)) {
            self.expr(&init.expr);
            self.exprs(init.diverge.as_ref().map(|(_, other)| &**other));
        }
        self.bind(&local.pat);
    }

    pub(super) fn bind(&mut self, pat: &Pat) {
        pattern::parts(pat)
            .into_iter()
            .for_each(|pat| self.bind(pat));
        match pat {
            Pat::Ident(pat) => {
                let text = pat.ident.to_string();
                let is_constant = text == "None"
                    || self.source.constant(HERE, &text).is_some()
                    || self.is_unit_struct(&text);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.push(match is_constant {
                        true => Name::known(text),
                        false => Name::variable(&pat.ident),
                    });
                }
            }
            Pat::Guard(pat) => self.expr(&pat.guard),
            Pat::Path(pat) => self.first(&pat.path),
            _ => {}
        }
    }

    pub(super) fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        form::expression(expr, self);
    }

    pub(super) fn literal(&mut self, lit: &Lit) {
        self.errors.record(suffix::check(lit));
    }

    pub(super) fn call(&mut self, expr: &ExprCall) {
        let operation = match &*expr.func {
            Expr::Path(path) => self.callee(&path.path),
            callee => {
                self.expr(callee);
                None
            }
        };
        self.arguments(operation, &expr.args, 0);
    }

    pub(super) fn method_call(&mut self, expr: &ExprMethodCall) {
        let operation = self.method(&expr.method);
        self.arguments(operation, [&*expr.receiver], 0);
        self.arguments(operation, &expr.args, 1);
        if let Some(generics) = &expr.turbofish {
            self.generics(&generics.args);
        }
    }

    pub(super) fn struct_literal(&mut self, expr: &ExprStruct) {
        self.structure(&expr.path);
        self.exprs(expr.fields.iter().map(|field| &field.expr));
        self.exprs(expr.rest.as_deref());
    }

    /// Arguments from number `first` on. For operations of the algebra, words need not be names.
    fn arguments<'e>(
        &mut self,
        operation: Option<&operations::Operation>,
        args: impl IntoIterator<Item = &'e Expr>,
        first: usize,
    ) {
        for (index, argument) in (first..).zip(args) {
            let takes_word = operation.is_some_and(|operation| operation.takes_word(index));
            match argument {
                Expr::Path(word) if takes_word => self.mention(word.to_token_stream()),
                argument => self.expr(argument),
            }
        }
    }

    pub(super) fn macro_call(&mut self, mac: &Macro) {
        if !macros::is_known(mac) {
            return self.errors.push(macros::unknown(mac));
        }
        if mac.path.is_ident("layout") {
            self.layouts(mac);
        }
        // Layouts and instructions have a syntax of their own.
        if ["assert", "print", "println"]
            .iter()
            .all(|name| !mac.path.is_ident(name))
        {
            return self.mention(mac.tokens.clone());
        }
        let parsed = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let Some(arguments) = self.errors.record(parsed) else {
            return;
        };
        let mut arguments: Vec<Expr> = arguments.into_iter().collect();
        if mac.path.is_ident("assert") && !arguments.is_empty() {
            self.expr(&arguments.remove(0));
        }
        let format = Format::parse(&mac.path.to_token_stream().to_string(), arguments);
        if let Some(Some(format)) = self.errors.record(format) {
            format.names().for_each(|name| self.name(name));
            self.exprs(format.arguments());
        }
    }

    /// Asks for the layouts declared outside of the module.
    fn layouts(&mut self, mac: &Macro) {
        // Wrong notation is an error where the values are known.
        for (name, path) in notation::layout_names(mac.tokens.clone()).unwrap_or_default() {
            let is_known = self.is_local(&name)
                || self.source.constant(HERE, &name).is_some()
                || self.source.layout(HERE, &name).is_some();
            if !is_known {
                self.source.unresolved.borrow_mut().push(path);
            }
        }
    }

    // ---- names

    fn name(&mut self, name: &Ident) {
        let text = name.to_string();
        let is_known = self.is_local(&text)
            || self.source.constant(HERE, &text).is_some()
            || self.source.function(HERE, &text).is_some()
            || self.source.layout(HERE, &text).is_some()
            || text == "None"
            || builtins::WORDS.contains(&&text[..])
            || builtins::find(&text).is_some()
            || operations::find(&text).is_some()
            || self.is_type(&text)
            || word::operation(&name.clone().into()).is_some();
        if !is_known {
            let names = self
                .scopes
                .iter()
                .flat_map(|scope| &scope.names)
                .map(|name| &name.text[..]);
            self.errors.push(unknown_name(name, names));
        }
    }

    pub(super) fn path(&mut self, path: &Path) {
        match path.get_ident() {
            Some(name) => self.name(name),
            None if word::operation(path).is_some() => {}
            None => self.first(path),
        }
    }

    /// Checks the first name of a path of several: a module, a struct or an element type.
    fn first(&mut self, path: &Path) {
        let Some(first) = path.segments.first() else {
            return;
        };
        let text = first.ident.to_string();
        let is_known = self.is_local(&text)
            || self.source.imported(HERE, &text).is_some()
            || self.is_type(&text);
        if !is_known {
            let name = path.to_token_stream().to_string().replace(' ', "");
            let message = format!("cannot find `{name}`");
            self.errors.push(Error::new_spanned(path, message));
        }
        self.segments(path);
    }

    /// Checks the name of a function, and returns the operation of the algebra with this name.
    fn callee(&mut self, path: &Path) -> Option<&'static operations::Operation> {
        self.segments(path);
        match &path.segments.iter().collect::<Vec<_>>()[..] {
            [only] if self.is_local(&only.ident.to_string()) || only.ident == "Some" => None,
            [only] if self.is_declared_type(&only.ident.to_string()) => None,
            [only] => self.function_name(&only.ident),
            _ => {
                self.first(path);
                None
            }
        }
    }

    fn method(&mut self, name: &Ident) -> Option<&'static operations::Operation> {
        match self.source.has_method(&name.to_string()) {
            true => None,
            false => self.function_name(name),
        }
    }

    fn function_name(&mut self, name: &Ident) -> Option<&'static operations::Operation> {
        let text = name.to_string();
        let is_function = self.source.function(HERE, &text).is_some()
            || builtins::find(&text).is_some()
            || text == "map";
        match operations::find(&text) {
            _ if is_function => None,
            Some(operation) => Some(operation),
            None => {
                self.errors.push(unknown_function(self.source, HERE, name));
                None
            }
        }
    }

    fn structure(&mut self, path: &Path) {
        if path.segments.len() > 1 {
            return self.first(path);
        }
        let Some(only) = path.segments.first() else {
            return;
        };
        let name = only.ident.to_string();
        let is_known = name == "Self" || self.is_local(&name) || self.is_declared_type(&name);
        if !is_known {
            let message = format!("cannot find the struct `{}`", only.ident);
            self.errors.push(Error::new_spanned(path, message));
        }
        self.segments(path);
    }

    // ---- types

    fn is_type(&self, name: &str) -> bool {
        TYPES.contains(&name)
            || register_type(name).is_some()
            || Element::from_name(name).is_some()
            || self.is_declared_type(name)
    }

    /// Whether it is a struct, an enum or a type alias.
    fn is_declared_type(&self, name: &str) -> bool {
        self.source.structure(HERE, name).is_some() || self.source.alias(HERE, name).is_some()
    }

    fn is_unit_struct(&self, name: &str) -> bool {
        let found = self.source.structure(HERE, name);
        found.is_some_and(|(_, item)| matches!(item.fields, Fields::Unit))
    }

    pub(super) fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Path(ty) => self.type_path(&ty.path),
            Type::Reference(ty) => self.ty(&ty.elem),
            Type::Paren(ty) => self.ty(&ty.elem),
            Type::Group(ty) => self.ty(&ty.elem),
            Type::Tuple(ty) => ty.elems.iter().for_each(|ty| self.ty(ty)),
            Type::Array(ty) => {
                self.ty(&ty.elem);
                self.expr(&ty.len);
            }
            _ => {}
        }
    }

    fn type_path(&mut self, path: &Path) {
        if path.segments.len() > 1 {
            return self.first(path);
        }
        let Some(only) = path.segments.first() else {
            return;
        };
        let name = only.ident.to_string();
        if !self.is_local(&name) && !self.is_type(&name) {
            let elements = Element::ALL.iter().map(|element| element.name());
            let near = || near::hint(&name, TYPES.iter().copied().chain(elements));
            let hint = type_hint(&name).unwrap_or_else(near);
            let message = format!("cannot find the type `{name}`{hint}");
            self.errors.push(Error::new(only.ident.span(), message));
        }
        self.segments(path);
    }

    /// The generic arguments of a path.
    fn segments(&mut self, path: &Path) {
        for segment in &path.segments {
            if let PathArguments::AngleBracketed(generics) = &segment.arguments {
                self.generics(&generics.args);
            }
        }
    }

    fn generics<'a>(&mut self, args: impl IntoIterator<Item = &'a GenericArgument>) {
        for argument in args {
            match argument {
                // A constant looks like a type.
                GenericArgument::Type(Type::Path(ty)) if ty.path.get_ident().is_some() => {
                    self.path(&ty.path);
                }
                GenericArgument::Type(ty) => self.ty(ty),
                GenericArgument::Const(expr) => self.expr(expr),
                _ => {}
            }
        }
    }
}

/// The names of generic parameters.
fn generics(all: &[&Generics]) -> Scope {
    let mut names = Scope::default();
    for param in all.iter().flat_map(|generics| &generics.params) {
        match param {
            GenericParam::Type(param) => names.push(Name::known(&param.ident)),
            GenericParam::Const(param) => names.push(Name::known(&param.ident)),
            GenericParam::Lifetime(_) => {}
        }
    }
    names
}

fn attributes(input: &FnArg) -> &[Attribute] {
    match input {
        FnArg::Typed(input) => &input.attrs,
        FnArg::Receiver(input) => &input.attrs,
    }
}
