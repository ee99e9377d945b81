//! Spellings of CuTe C++, the CuTe DSL, Triton and Python are named at their token, with what is written here.

use cute_runtime::layout;

layout! {
    pub NAMED_STRIDE = make_layout((4,8), stride=(8,1));
    pub NAMED_ORDER = cute::make_layout((4,8), order=(1,0));
    pub NAMED_MODE = size(mode=[0], (4,8));
    pub PATH = cute::coalesce((4,8));
    pub MODULE = cute.make_layout((4,8));
    pub MODE = size<0>((4,8));
    pub SUBLAYOUT = layout<0>((4,8));
    pub INDEXED = (4,8):(8,1)[0];
    pub CALLED = (4,8)(0,_);
    pub SLICED = slice((0,_), (4,8):(8,1));
    pub SWIZZLED = S<3,4,3> o (8,64):(64,1);
    pub CALLED_SWIZZLE = Sw(3,4,3) o (8,64):(64,1);
    pub ATOM = tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, (128,64));
    pub OPERATION = tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, (2,2,1), (32,16,16), layoutC_TV);
    pub RECAST = recast<half_t>((4,8));
    pub BASIS = (4,8):(ScaledBasis(1, 0), ScaledBasis(1, 1));
    pub UNKNOWN = (?,8):(8,1);
    pub RANGE = tl.arange(0, 128);
    pub ROUNDED = (cdiv(100, 8),8):(8,1);
    pub POWER = (2 ** 4,8):(8,1);
    pub SHIFTED = (1 << 4,8):(8,1);
    pub COMPARED = rank((4,8)) == 2;
    pub OFFSET = (4,8):(8,1) + 1;
    pub AT = (4,8)@(8,1);
    pub QUOTED = "(4,8):(8,1)";
    pub TYPED = Layout<Shape<_4, _8>, Stride<_8, _1>>{};
}

layout! { where m % 64 = 0; pub DIVIDED = (m,8):(8,1); }
layout! { where m % 64 == 0 && m > 0; pub TWICE = (m,8):(8,1); }

fn main() {}
layout! { where m % 64 == 0 and m > 0; pub BOTH = (m,8):(8,1); }
