//! Parameters of a kernel, and the types of the arguments of its launch.

use crate::kernel::emit::param::{Param, ParamKind, TmaParam};
use crate::kernel::value::Element;
use cute_hopper::{RustType, SwizzleMode, tma};
use cute_ptx::ast::Type;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The value of the facade's `Param` for a parameter.
pub(super) fn param_value(facade: &TokenStream, param: &Param) -> TokenStream {
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
            let ty = element_type(facade, scalar_element(*ty));
            quote!(#facade::Param::Scalar { name: #name, ty: #ty })
        }
    }
}

fn recipe(facade: &TokenStream, name: &str, tma: &TmaParam) -> TokenStream {
    let element = element_type(facade, tma.element);
    // A parameter that the kernel never uses needs a tensor map nevertheless. Its box is the smallest that TMA accepts:
    // 16 bytes along the contiguous mode.
    let (box_shape, swizzle) = match &tma.recipe {
        Some(recipe) => (recipe.box_shape.clone(), recipe.swizzle),
        None => {
            let mut unit = vec![1; tma.rank - 1];
            unit.push(tma::GLOBAL_ALIGN / tma.element.bytes());
            (unit, SwizzleMode::None)
        }
    };
    let swizzle = format_ident!("{}", format!("{swizzle:?}"));
    // Measured for the GEMM on an H100: L2 promotion to 256 bytes costs a fifth of the bandwidth if rows do not start
    // at multiples of 256 bytes, and gains nothing otherwise.
    quote! {
        #facade::TmaRecipe {
            name: #name,
            element: #element,
            box_shape: &[#(#box_shape),*],
            swizzle: #facade::SwizzleMode::#swizzle,
            l2: #facade::L2Promotion::B128,
            fill: #facade::OobFill::Zero,
        }
    }
}

/// The type of a launch argument.
pub(super) fn param_type(facade: &TokenStream, param: &Param) -> TokenStream {
    param_type_of(facade, param, None)
}

/// The type of a launch argument, whose elements have a type parameter as their type if one is given.
pub(super) fn param_type_of(
    facade: &TokenStream,
    param: &Param,
    element: Option<&Ident>,
) -> TokenStream {
    let generic = element;
    let view = |element: Element, rank: usize, written: bool| {
        let element = match generic {
            Some(generic) => quote!(#generic),
            None => rust_type(facade, element),
        };
        match written {
            true => quote!(&mut #facade::TensorViewMut<'_, #element, #rank>),
            false => quote!(&#facade::TensorView<'_, #element, #rank>),
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
        ParamKind::Scalar(ty) => rust_type(facade, scalar_element(*ty)),
    }
}

pub(super) fn rust_type(facade: &TokenStream, element: Element) -> TokenStream {
    let name = format_ident!("{}", element.name());
    match element.rust() {
        RustType::Primitive => quote!(::core::primitive::#name),
        RustType::Library => quote!(#facade::#name),
        RustType::Of(element) => rust_type(facade, element),
    }
}

/// The type of the elements of an argument.
pub(super) fn element_type(facade: &TokenStream, element: Element) -> TokenStream {
    let name = format_ident!("{}", element.host().name().to_uppercase());
    quote!(#facade::ElementType::#name)
}

/// The element type of a number parameter.
fn scalar_element(ty: Type) -> Element {
    let found = Element::ALL
        .iter()
        .copied()
        .find(|&element| Type::of(element) == ty);
    found.unwrap_or(Element::U32)
}
