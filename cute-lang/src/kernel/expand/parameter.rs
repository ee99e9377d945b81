//! Parameters of a kernel, and the types of its launch arguments.

use crate::kernel::emit::param::{List, Param, ParamKind, TmaParam, TmaRecipe};
use crate::kernel::value::Element;
use crate::kernel::value::types::element_of;
use cute_chip::RustType;
use cute_ptx::ast::Type;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The value of the facade's `Param` for a parameter.
pub(super) fn param_value(facade: &TokenStream, param: &Param) -> TokenStream {
    let each = each_value(facade, param);
    match param.list {
        Some(List { most, .. }) => quote!(#facade::Param::List { each: &#each, most: #most }),
        None => each,
    }
}

/// As `param_value`, for an item of a list or for any other parameter.
fn each_value(facade: &TokenStream, param: &Param) -> TokenStream {
    let name = &param.name;
    match &param.kind {
        ParamKind::TmaLoad(tma) => {
            let recipe = recipe(facade, name, tma);
            quote!(#facade::Param::TmaLoad(#recipe))
        }
        ParamKind::TmaStore(tma) => {
            let recipe = recipe(facade, name, tma);
            quote!(#facade::Param::TmaStore(#recipe))
        }
        ParamKind::Global {
            element,
            rank,
            written,
            extents,
            ..
        } => {
            let element = element_type(facade, *element);
            quote! {
                #facade::Param::Global {
                    name: #name,
                    element: #element,
                    rank: #rank,
                    written: #written,
                    extents: #extents,
                }
            }
        }
        ParamKind::Scalar(ty) => {
            let ty = element_type(facade, number(*ty));
            quote!(#facade::Param::Scalar { name: #name, ty: #ty })
        }
    }
}

fn recipe(facade: &TokenStream, name: &str, tma: &TmaParam) -> TokenStream {
    let element = element_type(facade, tma.element);
    let TmaRecipe { box_shape, swizzle } = tma.recipe();
    let [swizzle, l2, fill] = [
        format!("{swizzle:?}"),
        format!("{:?}", TmaParam::L2),
        format!("{:?}", TmaParam::FILL),
    ]
    .map(|name| format_ident!("{name}"));
    quote! {
        #facade::TmaRecipe {
            name: #name,
            element: #element,
            box_shape: &[#(#box_shape),*],
            swizzle: #facade::SwizzleMode::#swizzle,
            l2: #facade::L2Promotion::#l2,
            fill: #facade::OobFill::#fill,
        }
    }
}

/// The type of a launch argument.
pub(super) fn param_type(facade: &TokenStream, param: &Param) -> TokenStream {
    param_type_of(facade, param, None)
}

/// The type of a launch argument, with a given type parameter as its element type.
pub(super) fn param_type_of(
    facade: &TokenStream,
    param: &Param,
    element: Option<&Ident>,
) -> TokenStream {
    let (generic, is_list) = (element, param.list.is_some());
    let view = |element: Element, rank: usize, written: bool| {
        let element = match generic {
            Some(generic) => quote!(#generic),
            None => rust_type(facade, element),
        };
        let view = match written {
            true => quote!(#facade::TensorViewMut<'_, #element, #rank>),
            false => quote!(#facade::TensorView<'_, #element, #rank>),
        };
        match (written, is_list) {
            (true, true) => quote!(&mut [#view]),
            (true, false) => quote!(&mut #view),
            (false, true) => quote!(&[#view]),
            (false, false) => quote!(&#view),
        }
    };
    match &param.kind {
        ParamKind::TmaLoad(tma) => view(tma.element, tma.rank, false),
        ParamKind::TmaStore(tma) => view(tma.element, tma.rank, true),
        ParamKind::Global {
            element,
            rank,
            written,
            ..
        } => view(*element, *rank, *written),
        ParamKind::Scalar(ty) => {
            let number = rust_type(facade, number(*ty));
            match is_list {
                true => quote!(&[#number]),
                false => number,
            }
        }
    }
}

pub(super) fn rust_type(facade: &TokenStream, element: Element) -> TokenStream {
    let name = format_ident!("{}", element.name());
    match element.rust() {
        RustType::Primitive => quote!(::core::primitive::#name),
        // `lower` refuses parameters without a Rust type, and `choice` leaves out instances that have none.
        RustType::Library | RustType::Absent => quote!(#facade::#name),
        RustType::Of(element) => rust_type(facade, element),
    }
}

/// The type of the elements of an argument.
pub(super) fn element_type(facade: &TokenStream, element: Element) -> TokenStream {
    let name = format_ident!("{}", element.host().name().to_uppercase());
    quote!(#facade::ElementType::#name)
}

/// The element type of a number parameter. `lower` has checked it.
fn number(ty: Type) -> Element {
    element_of(ty).expect("the type of a number parameter is that of an element")
}
