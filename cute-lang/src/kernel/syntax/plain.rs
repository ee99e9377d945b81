//! Types that host code also has: numbers, truth values and structs of these.

use crate::kernel::syntax::enumeration::Enumeration;
use crate::kernel::syntax::module::Module;
use syn::{Expr, ExprUnary, ItemStruct, Type, Visibility};

/// Whether host code can have the struct: it is public and consists of numbers and truth values.
pub(crate) fn is_plain(item: &ItemStruct) -> bool {
    let plain = |field: &syn::Field| primitive(&field.ty).is_some();
    is_public(&item.vis) && item.generics.params.is_empty() && item.fields.iter().all(plain)
}

/// Whether host code can have the enum: it is public, and its discriminants use no names of the module.
pub(crate) fn is_plain_enum(declared: &Enumeration) -> bool {
    let number = |expr: &Expr| match expr {
        Expr::Unary(ExprUnary { expr, .. }) => matches!(**expr, Expr::Lit(_)),
        expr => matches!(expr, Expr::Lit(_)),
    };
    let mut variants = declared.item.variants.iter();
    is_public(&declared.item.vis)
        && variants.all(|variant| variant.discriminant.iter().all(|(_, expr)| number(expr)))
}

/// Whether other modules see it.
pub(crate) fn is_public(vis: &Visibility) -> bool {
    !matches!(vis, Visibility::Inherited)
}

/// The name of a number type or `bool`.
pub(crate) fn primitive(ty: &Type) -> Option<String> {
    const NAMES: &[&str] = &[
        "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "f32", "f64", "bool",
    ];
    let Type::Path(path) = ty else {
        return None;
    };
    let name = path.path.get_ident()?.to_string();
    NAMES.contains(&&name[..]).then_some(name)
}

/// The struct of this module named by the type, if host code has it.
pub(crate) fn structure<'m>(module: &'m Module, ty: &Type) -> Option<&'m ItemStruct> {
    let Type::Path(path) = ty else {
        return None;
    };
    let name = path.path.get_ident()?;
    module
        .structs
        .iter()
        .find(|item| item.ident == *name && is_plain(item))
}
