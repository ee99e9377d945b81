//! The functions that arithmetic instructions compute: for each lane, from raw bits to raw bits.

mod bits;
mod rounded;

use crate::numerics::{self, Format, bf16_bits, f16_bits, fp8_bits};
use crate::op::{Binary, Extended, Function, Unary};
use cute_ptx::ast::{Operand, Type};
use cute_ptx::table::{Modifier, Opcode};

use Function::{F1, F2, F3, F4};

/// An integer type. Functions compute in `i128`, which holds every value of every type, and wrap the result.
trait Int {
    const BITS: u32;
    fn wide(bits: u64) -> i128;
    fn wrap(value: i128) -> u64;
}

macro_rules! ints {
    ($($ty:ty => $wide:ty;)*) => {$(
        impl Int for $ty {
            const BITS: u32 = <$ty>::BITS;
            fn wide(bits: u64) -> i128 {
                i128::from(bits as $ty)
            }
            fn wrap(value: i128) -> u64 {
                value as $wide as u64
            }
        }
    )*};
}

// A register holds its bits without sign extension.
ints! { u8 => u8; i8 => u8; u16 => u16; i16 => u16; u32 => u32; i32 => u32; u64 => u64; i64 => u64; }

/// A floating-point type. Functions compute in `f64`. For the narrower types, the second rounding (from f64 to the type) does not
/// change the result of a sum, product, quotient or square root: f64 has more than twice their significand bits plus two.
trait Float {
    /// Whether the type is f64.
    const DOUBLE: bool = false;
    /// The bits of the fraction.
    const FRACTION: i32;
    /// The least exponent of normal numbers.
    const LEAST_EXPONENT: i32;
    /// The largest finite number.
    const LARGEST: f64;
    /// The bits of a number converted from f64. A NaN keeps its sign and its upper bits.
    fn narrowed(value: f64) -> u64 {
        if !value.is_nan() {
            return Self::put(value);
        }
        let (bits, exponent) = (value.to_bits(), 52 - Self::FRACTION as u32);
        // The sign, an exponent of ones, and the upper bits of the fraction. The highest fraction bit is set.
        let fraction = (bits >> exponent | 1 << (Self::FRACTION - 1)) & ((1 << Self::FRACTION) - 1);
        let infinity = Self::put(f64::INFINITY);
        ((bits >> 63) * (infinity << 1 & !infinity)) | infinity | fraction
    }
    fn get(bits: u64) -> f64;
    fn real(bits: u64) -> Real {
        Real {
            value: Self::get(bits),
            double: Self::DOUBLE,
        }
    }
    fn put(value: f64) -> u64;
    fn fused(a: u64, b: u64, c: u64) -> u64 {
        Self::put(Self::get(a).mul_add(Self::get(b), Self::get(c)))
    }
}

/// A number to be converted to an integer, and whether its type is f64.
struct Real {
    value: f64,
    double: bool,
}

impl Float for f32 {
    const FRACTION: i32 = 23;
    const LEAST_EXPONENT: i32 = -126;
    const LARGEST: f64 = f32::MAX as f64;
    fn get(bits: u64) -> f64 {
        f64::from(f32::from_bits(bits as u32))
    }
    fn put(value: f64) -> u64 {
        single(value as f32)
    }
    fn fused(a: u64, b: u64, c: u64) -> u64 {
        let get = |bits: u64| f32::from_bits(bits as u32);
        single(get(a).mul_add(get(b), get(c)))
    }
}

/// The bits of an f32 result. Every NaN becomes the canonical one.
fn single(value: f32) -> u64 {
    u64::from(if value.is_nan() {
        0x7fff_ffff
    } else {
        value.to_bits()
    })
}

impl Float for f64 {
    const DOUBLE: bool = true;
    const FRACTION: i32 = 52;
    const LEAST_EXPONENT: i32 = -1022;
    const LARGEST: f64 = f64::MAX;
    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn put(value: f64) -> u64 {
        value.to_bits()
    }
}

impl Float for half::f16 {
    const FRACTION: i32 = 10;
    const LEAST_EXPONENT: i32 = -14;
    const LARGEST: f64 = 65504.0;
    fn get(bits: u64) -> f64 {
        half::f16::from_bits(bits as u16).to_f64()
    }
    fn put(value: f64) -> u64 {
        u64::from(f16_bits(value))
    }
}

impl Float for half::bf16 {
    const FRACTION: i32 = 7;
    const LEAST_EXPONENT: i32 = -126;
    const LARGEST: f64 = 255.0 / 128.0 * (1_u128 << 127) as f64;
    fn get(bits: u64) -> f64 {
        half::bf16::from_bits(bits as u16).to_f64()
    }
    fn put(value: f64) -> u64 {
        u64::from(bf16_bits(value))
    }
}

/// The instance of a function for an integer type of 16 to 64 bits.
macro_rules! by_int {
    ($ty:expr, $arity:ident($name:ident)) => {
        match $ty {
            Type::U16 => $arity($name::<u16>),
            Type::S16 => $arity($name::<i16>),
            Type::U32 => $arity($name::<u32>),
            Type::S32 => $arity($name::<i32>),
            Type::U64 => $arity($name::<u64>),
            Type::S64 => $arity($name::<i64>),
            _ => return None,
        }
    };
}

/// The instance of a function that depends only on the width of the type.
macro_rules! by_bits {
    ($ty:expr, $arity:ident($name:ident)) => {
        match $ty.bits() {
            1 => $arity($name::<bool1>),
            16 => $arity($name::<u16>),
            32 => $arity($name::<u32>),
            64 => $arity($name::<u64>),
            _ => return None,
        }
    };
}

/// A predicate as an integer type of one bit.
#[expect(
    non_camel_case_types,
    reason = "named like the primitive integers beside which it stands"
)]
struct bool1;

impl Int for bool1 {
    const BITS: u32 = 1;
    fn wide(bits: u64) -> i128 {
        i128::from(bits & 1)
    }
    fn wrap(value: i128) -> u64 {
        value as u64 & 1
    }
}

macro_rules! int_functions {
    ($($name:ident($($a:ident),*) = $e:expr;)*) => {$(
        fn $name<T: Int>($($a: u64),*) -> u64 {
            $(let $a = T::wide($a);)*
            T::wrap($e)
        }
    )*};
}

int_functions! {
    add(a, b) = a + b;
    sub(a, b) = a - b;
    mul_lo(a, b) = a.wrapping_mul(b);
    mul_hi(a, b) = a.wrapping_mul(b) >> T::BITS;
    mad_lo(a, b, c) = a.wrapping_mul(b).wrapping_add(c);
    mad_hi(a, b, c) = (a.wrapping_mul(b) >> T::BITS) + c;
    // Division by zero gives all ones, as on the hardware.
    div(a, b) = a.checked_div(b).unwrap_or(-1);
    rem(a, b) = a.checked_rem(b).unwrap_or(-1);
    min(a, b) = a.min(b);
    max(a, b) = a.max(b);
    abs(a) = a.abs();
    neg(a) = -a;
    sad(a, b, c) = (a - b).abs() + c;
    add_sat(a, b) = held::<T>(a + b);
    sub_sat(a, b) = held::<T>(a - b);
    and(a, b) = a & b;
    or(a, b) = a | b;
    xor(a, b) = a ^ b;
    not(a) = !a;
    cnot(a) = i128::from(a == 0);
    identity(a) = a;
}

fn mul_wide<T: Int>(a: u64, b: u64) -> u64 {
    wide_bits::<T>(T::wide(a) * T::wide(b))
}

fn mad_wide<T: Int>(a: u64, b: u64, c: u64) -> u64 {
    wide_bits::<T>((T::wide(a) * T::wide(b)).wrapping_add(i128::from(c)))
}

/// The result of `.wide`: twice the width of the operands.
fn wide_bits<T: Int>(value: i128) -> u64 {
    match T::BITS {
        16 => u64::from(value as u32),
        _ => value as u64,
    }
}

/// A shift by the width or more gives 0.
fn shl<T: Int>(a: u64, b: u64) -> u64 {
    let shift = b as u32;
    if shift >= T::BITS {
        0
    } else {
        T::wrap(T::wide(a) << shift)
    }
}

/// A shift by the width or more gives 0, or the sign in every bit.
fn shr<T: Int>(a: u64, b: u64) -> u64 {
    T::wrap(T::wide(a) >> (b as u32).min(T::BITS))
}

fn select<T: Int>(a: u64, b: u64, c: u64) -> u64 {
    T::wrap(T::wide(if c & 1 == 1 { a } else { b }))
}

fn popc<T: Int>(a: u64) -> u64 {
    u64::from(T::wrap(T::wide(a)).count_ones())
}

fn clz<T: Int>(a: u64) -> u64 {
    u64::from(T::wrap(T::wide(a)).leading_zeros() - (64 - T::BITS))
}

fn brev<T: Int>(a: u64) -> u64 {
    T::wrap(T::wide(a)).reverse_bits() >> (64 - T::BITS)
}

/// The position or length of a bit field. For 32-bit types the hardware reads only the lowest byte, for 64-bit types all bits.
fn field_operand<T: Int>(operand: u64) -> u32 {
    match T::BITS {
        64 => (operand as u32).min(64),
        bits => (operand as u32 & 0xff).min(bits),
    }
}

fn bfe<T: Int>(a: u64, position: u64, len: u64) -> u64 {
    let (position, len) = (field_operand::<T>(position), field_operand::<T>(len));
    let signed = T::wide(u64::MAX) < 0;
    if len == 0 {
        return 0;
    }
    let field = (T::wide(a) >> position) & ((1 << len) - 1);
    // A field that extends past the highest bit of a is filled with the sign of a.
    let sign = T::wide(a) >> (position + len - 1).min(T::BITS - 1) & 1 == 1;
    T::wrap(if signed && sign {
        field | -1 << len
    } else {
        field
    })
}

fn bfi<T: Int>(a: u64, b: u64, position: u64, len: u64) -> u64 {
    let (position, len) = (field_operand::<T>(position), field_operand::<T>(len));
    let mask = ((1_i128 << len) - 1) << position;
    T::wrap(T::wide(b) & !mask | (T::wide(a) << position) & mask)
}

fn bfind<T: Int>(a: u64) -> u64 {
    let value = T::wide(a);
    let magnitude = T::wrap(if value < 0 { !value } else { value });
    u64::from(magnitude.checked_ilog2().unwrap_or(u32::MAX))
}

/// Like [`bfind`], but returns the left shift that brings the bit to the top.
fn bfind_shift<T: Int>(a: u64) -> u64 {
    match bfind::<T>(a) {
        found if found == u64::from(u32::MAX) => found,
        found => u64::from(T::BITS) - 1 - found,
    }
}

/// Each of the four selectors picks one of the eight bytes of b:a, or the sign of that byte in all eight bits.
fn prmt(a: u64, b: u64, selector: u64) -> u64 {
    let bytes = u64::from(a as u32) | b << 32;
    (0..4).fold(0, |result, i| {
        let select = selector >> (4 * i) & 0xf;
        let byte = bytes >> (8 * (select & 7)) & 0xff;
        let byte = if select & 8 == 0 {
            byte
        } else {
            u64::from(byte & 0x80 != 0) * 0xff
        };
        result | byte << (8 * i)
    })
}

fn lop3(a: u64, b: u64, c: u64, table: u64) -> u64 {
    let term = |i: u64| {
        let of = |x: u64, bit: u64| if i & bit == 0 { !x } else { x };
        if table >> i & 1 == 1 {
            of(a, 4) & of(b, 2) & of(c, 1)
        } else {
            0
        }
    };
    u64::from((0..8).fold(0, |result, i| result | term(i)) as u32)
}

/// The high half of b:a shifted left, or the low half of it shifted right.
fn funnel(a: u64, b: u64, shift: u32, left: bool) -> u64 {
    let both = u64::from(a as u32) | b << 32;
    u64::from(if left {
        (u128::from(both) << shift >> 32) as u32
    } else {
        (both >> shift) as u32
    })
}

/// The lesser of two numbers. −0 is less than +0, and a NaN is ignored.
fn least(a: f64, b: f64) -> f64 {
    if a == b && a.is_sign_negative() {
        a
    } else {
        b.min(a)
    }
}

/// The upper half of an f64. `rcp.approx` and `rsqrt.approx` with `.ftz` read and write only this half.
fn upper(bits: u64) -> u64 {
    bits & !u64::from(u32::MAX)
}

/// 1 with the sign of a product.
fn sign_of_product(a: f64, b: f64) -> f64 {
    if a.is_sign_negative() == b.is_sign_negative() {
        1.0
    } else {
        -1.0
    }
}

macro_rules! float_functions {
    ($($name:ident($($a:ident),*) = $e:expr;)*) => {$(
        fn $name<T: Float>($($a: u64),*) -> u64 {
            $(let $a = T::get($a);)*
            T::put($e)
        }
    )*};
}

float_functions! {
    fadd(a, b) = a + b;
    fsub(a, b) = a - b;
    fmul(a, b) = a * b;
    fdiv(a, b) = a / b;
    // The hardware multiplies by an approximation of 1/b. For |b| over 2^126, that is flushed to zero.
    fdiv_approx(a, b) = if b.abs() > 2f64.powi(126) { a * (0.0 / b) } else { a / b };
    // A NaN operand is ignored. With `.NaN`, the result is NaN instead.
    fmin(a, b) = least(a, b);
    fmax(a, b) = -least(-a, -b);
    fmin_nan(a, b) = if a.is_nan() || b.is_nan() { f64::NAN } else { least(a, b) };
    fmax_nan(a, b) = if a.is_nan() || b.is_nan() { f64::NAN } else { -least(-a, -b) };
    // The result has the sign of the product. Only magnitudes are compared.
    fmin_xor(a, b) = least(a.abs(), b.abs()).copysign(sign_of_product(a, b));
    fmax_xor(a, b) = (-least(-a.abs(), -b.abs())).copysign(sign_of_product(a, b));
    fmin_nan_xor(a, b) = if a.is_nan() || b.is_nan() { f64::NAN } else { least(a.abs(), b.abs()).copysign(sign_of_product(a, b)) };
    fmax_nan_xor(a, b) = if a.is_nan() || b.is_nan() { f64::NAN } else { (-least(-a.abs(), -b.abs())).copysign(sign_of_product(a, b)) };
    saturated_float(a) = if a > 0.0 { a.min(1.0) } else { 0.0 };
    // A NaN of f64 keeps its sign.
    fneg(a) = if T::DOUBLE && a.is_nan() { a } else { -a };
    fabs(a) = if T::DOUBLE && a.is_nan() { a } else { a.abs() };
    sqrt(a) = a.sqrt();
    rsqrt(a) = 1.0 / a.sqrt();
    rcp(a) = 1.0 / a;
    ex2(a) = a.exp2();
    lg2(a) = a.log2();
    sin(a) = a.sin();
    cos(a) = a.cos();
    tanh(a) = a.tanh();
    relu_fused(a, b, c) = match a.mul_add(b, c) {
        sum if sum.is_nan() => sum,
        sum => sum.max(0.0),
    };
}

fn fused<T: Float>(a: u64, b: u64, c: u64) -> u64 {
    T::fused(a, b, c)
}

/// Applies a function of 16-bit floats to both halves of packed operands.
macro_rules! halves {
    ($function:expr, $($a:ident),*) => {
        $function($($a & 0xffff),*) | $function($($a >> 16 & 0xffff),*) << 16
    };
}

/// The function of `.ftz` on numbers of a type: a subnormal becomes a zero of the same sign.
pub(crate) fn flush(ty: Type) -> Option<Unary> {
    fn f16(a: u64) -> u64 {
        flushed(a, 0x7c00, 0x8000)
    }
    fn bf16(a: u64) -> u64 {
        flushed(a, 0x7f80, 0x8000)
    }
    Some(match ty {
        Type::F32 => |a| flushed(a, 0x7f80_0000, 0x8000_0000),
        Type::F64 => |a| flushed(a, 0x7ff0_0000_0000_0000, 1 << 63),
        Type::F16 => f16,
        Type::Bf16 => bf16,
        Type::F16x2 => |a| halves!(f16, a),
        Type::Bf16x2 => |a| halves!(bf16, a),
        _ => return None,
    })
}

fn flushed(bits: u64, exponent: u64, sign: u64) -> u64 {
    if bits & exponent == 0 {
        bits & sign
    } else {
        bits
    }
}

macro_rules! float_function {
    ($ty:expr, $arity:ident($name:ident; $($a:ident),*)) => {
        match $ty {
            Type::F32 => $arity($name::<f32>),
            Type::F64 => $arity($name::<f64>),
            Type::F16 => $arity($name::<half::f16>),
            Type::Bf16 => $arity($name::<half::bf16>),
            Type::F16x2 => $arity(|$($a),*| halves!($name::<half::f16>, $($a),*)),
            Type::Bf16x2 => $arity(|$($a),*| halves!($name::<half::bf16>, $($a),*)),
            _ => return None,
        }
    };
}

/// The bits of a constant operand of a type: integers wrap, floating-point numbers round. `None` if the constant is not
/// allowed for the type.
pub(crate) fn constant(operand: &Operand, ty: Type) -> Option<u64> {
    // Constants of the 16-bit formats are written as integers, which are their bits.
    let float = matches!(ty, Type::F32 | Type::F64);
    match (operand, ty) {
        (Operand::Int(value), _) if !float => Some(*value as u64 & low_bits(ty.bits())),
        (Operand::F32(bits), Type::F32) => Some(u64::from(*bits)),
        (Operand::F32(bits), Type::F64) => Some(f64::put(f32::get(u64::from(*bits)))),
        (Operand::F64(bits), Type::F32) => Some(f32::put(f64::get(*bits))),
        (Operand::F64(bits), Type::F64) => Some(*bits),
        (Operand::F32(bits), _) if !float && ty.bits() == 32 => Some(u64::from(*bits)),
        (Operand::F64(bits), _) if !float && ty.bits() == 64 => Some(*bits),
        _ => None,
    }
}

/// A mask of the lowest `bits` bits.
pub(crate) fn low_bits(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

/// The little-endian integer of up to eight bytes.
#[inline]
pub(crate) fn number(bytes: &[u8]) -> u64 {
    // The common sizes are several times as fast as the loop.
    match *bytes {
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => (bytes.iter().rev()).fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

/// The function of an instruction on a type. `variant` is the modifier that changes the function: the half of a product
/// (`.lo`, `.hi`, `.wide`), `.NaN`, `.relu`, `.sat` on integers, or `.approx` of a quotient. `None` if it is not modelled.
pub(crate) fn function(opcode: Opcode, variant: Option<Modifier>, ty: Type) -> Option<Function> {
    let float = matches!(
        ty,
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 | Type::F32 | Type::F64
    );
    Some(match (opcode, variant, float) {
        (Opcode::Add, None, true) => float_function!(ty, F2(fadd; a, b)),
        (Opcode::Sub, None, true) => float_function!(ty, F2(fsub; a, b)),
        (Opcode::Mul, None, true) => float_function!(ty, F2(fmul; a, b)),
        (Opcode::Div, None, true) => float_function!(ty, F2(fdiv; a, b)),
        (Opcode::Div, Some(Modifier::Approx), true) => float_function!(ty, F2(fdiv_approx; a, b)),
        (Opcode::Fma | Opcode::Mad, None, true) => float_function!(ty, F3(fused; a, b, c)),
        (Opcode::Fma, Some(Modifier::Relu), true) => float_function!(ty, F3(relu_fused; a, b, c)),
        (Opcode::Min, None, true) => float_function!(ty, F2(fmin; a, b)),
        (Opcode::Max, None, true) => float_function!(ty, F2(fmax; a, b)),
        (Opcode::Min, Some(Modifier::NaN), true) => float_function!(ty, F2(fmin_nan; a, b)),
        (Opcode::Max, Some(Modifier::NaN), true) => float_function!(ty, F2(fmax_nan; a, b)),
        (Opcode::Min, Some(Modifier::Xorsign), true) => float_function!(ty, F2(fmin_xor; a, b)),
        (Opcode::Max, Some(Modifier::Xorsign), true) => float_function!(ty, F2(fmax_xor; a, b)),
        // PTX's order of operands: the result has the magnitude of b and the sign of a.
        (Opcode::Copysign, None, true) if ty == Type::F32 => {
            F2(|a, b| a & 0x8000_0000 | b & 0x7fff_ffff)
        }
        (Opcode::Copysign, None, true) => F2(|a, b| a & 1 << 63 | b & !(1 << 63)),
        (Opcode::Rcp, Some(Modifier::Approx), true) => F1(|a| upper(rcp::<f64>(upper(a)))),
        (Opcode::Rsqrt, Some(Modifier::Approx), true) => F1(|a| upper(rsqrt::<f64>(upper(a)))),
        (Opcode::Neg, None, true) => float_function!(ty, F1(fneg; a)),
        (Opcode::Abs, None, true) => float_function!(ty, F1(fabs; a)),
        (Opcode::Sqrt, None, true) => float_function!(ty, F1(sqrt; a)),
        (Opcode::Rsqrt, None, true) => float_function!(ty, F1(rsqrt; a)),
        (Opcode::Rcp, None, true) => float_function!(ty, F1(rcp; a)),
        (Opcode::Ex2, None, true) => float_function!(ty, F1(ex2; a)),
        (Opcode::Lg2, None, true) => float_function!(ty, F1(lg2; a)),
        (Opcode::Sin, None, true) => float_function!(ty, F1(sin; a)),
        (Opcode::Cos, None, true) => float_function!(ty, F1(cos; a)),
        (Opcode::Tanh, None, true) => float_function!(ty, F1(tanh; a)),

        (Opcode::Add, None, _) => by_int!(ty, F2(add)),
        (Opcode::Sub, None, _) => by_int!(ty, F2(sub)),
        (Opcode::Mul, Some(Modifier::Lo), _) => by_int!(ty, F2(mul_lo)),
        (Opcode::Mul, Some(Modifier::Hi), _) => by_int!(ty, F2(mul_hi)),
        (Opcode::Mad, Some(Modifier::Lo), _) => by_int!(ty, F3(mad_lo)),
        (Opcode::Mad, Some(Modifier::Hi), _) => by_int!(ty, F3(mad_hi)),
        (Opcode::Mul, Some(Modifier::Wide), _) if ty.bits() < 64 => by_int!(ty, F2(mul_wide)),
        (Opcode::Mad, Some(Modifier::Wide), _) if ty.bits() < 64 => by_int!(ty, F3(mad_wide)),
        (Opcode::Sad, None, _) => by_int!(ty, F3(sad)),
        (Opcode::Add, Some(Modifier::Sat), _) => by_int!(ty, F2(add_sat)),
        (Opcode::Sub, Some(Modifier::Sat), _) => by_int!(ty, F2(sub_sat)),
        (Opcode::Div, None, _) => by_int!(ty, F2(div)),
        (Opcode::Rem, None, _) => by_int!(ty, F2(rem)),
        (Opcode::Min, Some(Modifier::Relu), _) => F2(|a, b| max::<i32>(min::<i32>(a, b), 0)),
        (Opcode::Max, Some(Modifier::Relu), _) => F2(|a, b| max::<i32>(max::<i32>(a, b), 0)),
        (Opcode::Mul24, Some(Modifier::Lo), _) if ty == Type::U32 => {
            F2(|a, b| bits::product_of_24(a, b, false, false))
        }
        (Opcode::Mul24, Some(Modifier::Hi), _) if ty == Type::U32 => {
            F2(|a, b| bits::product_of_24(a, b, false, true))
        }
        (Opcode::Mul24, Some(Modifier::Lo), _) => F2(|a, b| bits::product_of_24(a, b, true, false)),
        (Opcode::Mul24, Some(Modifier::Hi), _) => F2(|a, b| bits::product_of_24(a, b, true, true)),
        (Opcode::Mad24, Some(Modifier::Lo), _) if ty == Type::U32 => {
            F3(|a, b, c| add::<u32>(bits::product_of_24(a, b, false, false), c))
        }
        (Opcode::Mad24, Some(Modifier::Hi), _) if ty == Type::U32 => {
            F3(|a, b, c| add::<u32>(bits::product_of_24(a, b, false, true), c))
        }
        (Opcode::Mad24, Some(Modifier::Lo), _) => {
            F3(|a, b, c| add::<u32>(bits::product_of_24(a, b, true, false), c))
        }
        (Opcode::Mad24, Some(Modifier::Hi), _) => {
            F3(|a, b, c| add::<u32>(bits::product_of_24(a, b, true, true), c))
        }
        (Opcode::Min, None, _) => by_int!(ty, F2(min)),
        (Opcode::Max, None, _) => by_int!(ty, F2(max)),
        (Opcode::Abs, None, _) => by_int!(ty, F1(abs)),
        (Opcode::Neg, None, _) => by_int!(ty, F1(neg)),
        (Opcode::Shr, None, _) => match ty {
            Type::B16 => F2(shr::<u16>),
            Type::B32 => F2(shr::<u32>),
            Type::B64 => F2(shr::<u64>),
            _ => by_int!(ty, F2(shr)),
        },
        (Opcode::Bfe, None, _) if ty.bits() >= 32 => by_int!(ty, F3(bfe)),
        (Opcode::Bfind, Some(Modifier::Shiftamt), _) if ty.bits() >= 32 => {
            by_int!(ty, F1(bfind_shift))
        }
        (Opcode::Fns, None, _) => F3(bits::find_set),
        (Opcode::Bmsk, Some(Modifier::Wrap), _) => F2(|a, b| bits::ones(a, b, true)),
        (Opcode::Bmsk, Some(Modifier::Clamp), _) => F2(|a, b| bits::ones(a, b, false)),
        (Opcode::Szext, Some(Modifier::Wrap), _) => match ty {
            Type::S32 => F2(|a, b| bits::extended(a, b, true, true)),
            _ => F2(|a, b| bits::extended(a, b, false, true)),
        },
        (Opcode::Szext, Some(Modifier::Clamp), _) => match ty {
            Type::S32 => F2(|a, b| bits::extended(a, b, true, false)),
            _ => F2(|a, b| bits::extended(a, b, false, false)),
        },
        (Opcode::Bfind, None, _) if ty.bits() >= 32 => by_int!(ty, F1(bfind)),

        (Opcode::And, None, _) => by_bits!(ty, F2(and)),
        (Opcode::Or, None, _) => by_bits!(ty, F2(or)),
        (Opcode::Xor, None, _) => by_bits!(ty, F2(xor)),
        (Opcode::Not, None, _) => by_bits!(ty, F1(not)),
        (Opcode::Cnot, None, _) => by_bits!(ty, F1(cnot)),
        (Opcode::Shl, None, _) => by_bits!(ty, F2(shl)),
        (Opcode::Mov, None, _) => by_bits!(ty, F1(identity)),
        (Opcode::Selp, None, _) => by_bits!(ty, F3(select)),
        (Opcode::Bfi, None, _) if ty.bits() >= 32 => by_bits!(ty, F4(bfi)),
        (Opcode::Popc, None, _) => by_bits!(ty, F1(popc)),
        (Opcode::Clz, None, _) => by_bits!(ty, F1(clz)),
        (Opcode::Brev, None, _) => by_bits!(ty, F1(brev)),
        (Opcode::Prmt, None, _) if ty == Type::B32 => F3(prmt),
        (Opcode::Lop3, None, _) if ty == Type::B32 => F4(lop3),
        _ => return None,
    })
}

/// The function of an instruction whose result is rounded in a direction; `None` if it is not modelled.
pub(crate) use rounded::function as rounded_function;

pub(crate) use bits::{differences, dot_of_four, dot_of_two, of_halves, permutation};

/// The function of `min` or `max` with both `.NaN` and `.xorsign.abs`.
pub(crate) fn nan_xorsign(opcode: Opcode, ty: Type) -> Option<Function> {
    Some(match opcode {
        Opcode::Min => float_function!(ty, F2(fmin_nan_xor; a, b)),
        _ => float_function!(ty, F2(fmax_nan_xor; a, b)),
    })
}

/// The function that clamps numbers of a type to 0 to 1; a NaN becomes 0. `None` for integers.
pub(crate) fn saturation(ty: Type) -> Option<Unary> {
    fn instance(ty: Type) -> Option<Function> {
        Some(float_function!(ty, F1(saturated_float; a)))
    }
    match instance(ty)? {
        F1(function) => Some(function),
        _ => None,
    }
}

/// The function of `.relu`: a negative number becomes 0, and a NaN stays a NaN.
pub(crate) fn relu(ty: Type) -> Option<Unary> {
    fn positive<T: Float>(a: u64) -> u64 {
        match T::get(a) {
            value if value > 0.0 || value.is_nan() => a,
            _ => 0,
        }
    }
    match ty {
        Type::F32 => Some(positive::<f32>),
        Type::F16x2 => Some(|a| halves!(positive::<half::f16>, a)),
        _ => None,
    }
}

/// The function of `testp`; `None` if it is not modelled.
pub(crate) fn test(test: Modifier, ty: Type) -> Option<Unary> {
    macro_rules! tests {
        ($a:ident, $test:expr) => {
            match ty {
                Type::F32 => |a| {
                    let $a = f32::from_bits(a as u32);
                    u64::from($test)
                },
                _ => |a| {
                    let $a = f64::from_bits(a);
                    u64::from($test)
                },
            }
        };
    }
    Some(match test {
        Modifier::Finite => tests!(a, a.is_finite()),
        Modifier::Infinite => tests!(a, a.is_infinite()),
        Modifier::Number => tests!(a, !a.is_nan()),
        Modifier::Notanumber => tests!(a, a.is_nan()),
        Modifier::Normal => tests!(a, a.is_normal() || a == 0.0),
        Modifier::Subnormal => tests!(a, a.is_subnormal()),
        _ => return None,
    })
}

/// The function of `slct`: the first operand if the third is at least 0, else the second.
pub(crate) fn selection(by: Type, flush: bool) -> Function {
    match (by, flush) {
        (Type::F32, false) => F3(|a, b, c| if f32::get(c) >= 0.0 { a } else { b }),
        (Type::F32, true) => F3(|a, b, c| {
            let c = flushed(c, 0x7f80_0000, 0x8000_0000);
            if f32::get(c) >= 0.0 { a } else { b }
        }),
        _ => F3(|a, b, c| if c as i32 >= 0 { a } else { b }),
    }
}

/// The function of an instruction of extended precision; `None` if it is not modelled. `part` is the half of a product.
pub(crate) fn extended(opcode: Opcode, part: Option<Modifier>, ty: Type) -> Option<Extended> {
    fn add<T: Int>(a: u64, b: u64, carry: bool) -> (u64, bool) {
        let mask = i128::from(u64::MAX >> (64 - T::BITS));
        let sum = (T::wide(a) & mask) + (T::wide(b) & mask) + i128::from(carry);
        (T::wrap(sum), sum > mask)
    }
    fn low<T: Int>(a: u64, b: u64) -> u64 {
        mul_lo::<T>(a, b)
    }
    macro_rules! instances {
        ($function:expr) => {
            match ty {
                Type::U32 => {
                    type T = u32;
                    $function
                }
                Type::S32 => {
                    type T = i32;
                    $function
                }
                Type::U64 => {
                    type T = u64;
                    $function
                }
                Type::S64 => {
                    type T = i64;
                    $function
                }
                _ => return None,
            }
        };
    }
    let high = part == Some(Modifier::Hi);
    let function: Extended = match (opcode, high) {
        (Opcode::AddCc, _) => instances!(|[a, b, _], _| add::<T>(a, b, false)),
        (Opcode::Addc, _) => instances!(|[a, b, _], carry| add::<T>(a, b, carry)),
        (Opcode::SubCc, _) => instances!(|[a, b, _], _| add::<T>(a, !b, true)),
        (Opcode::Subc, _) => instances!(|[a, b, _], carry| add::<T>(a, !b, carry)),
        (Opcode::MadCc, false) => instances!(|[a, b, c], _| add::<T>(low::<T>(a, b), c, false)),
        (Opcode::MadCc, true) => instances!(|[a, b, c], _| add::<T>(mul_hi::<T>(a, b), c, false)),
        (Opcode::Madc, false) => instances!(|[a, b, c], carry| add::<T>(low::<T>(a, b), c, carry)),
        (Opcode::Madc, true) => {
            instances!(|[a, b, c], carry| add::<T>(mul_hi::<T>(a, b), c, carry))
        }
        _ => return None,
    };
    Some(function)
}

/// The function of `cvt.pack`: two integers, clamped to a type and packed, the second one in the low bits. For 8-bit types, the third
/// operand's bits follow above.
pub(crate) fn packing(ty: Type) -> Option<Function> {
    fn packed<T: Int>(a: u64, b: u64, c: u64) -> u64 {
        let half = |bits: u64| saturated::<T>(i128::from(bits as i32)) & low_bits(T::BITS);
        let pair = half(a) << T::BITS | half(b);
        u64::from((c << (2 * T::BITS) | pair) as u32)
    }
    Some(match ty {
        Type::U8 => F3(packed::<u8>),
        Type::S8 => F3(packed::<i8>),
        Type::U16 => F2(|a, b| packed::<u16>(a, b, 0)),
        Type::S16 => F2(|a, b| packed::<i16>(a, b, 0)),
        _ => return None,
    })
}

/// The function of `shf`: to the left (`.l`) or right; an amount above 32 becomes 32 (`.clamp`) or its low five bits
/// (`.wrap`).
pub(crate) fn funnel_shift(side: Modifier, past: Modifier) -> Function {
    match (side, past) {
        (Modifier::L, Modifier::Wrap) => F3(|a, b, c| funnel(a, b, c as u32 & 31, true)),
        (Modifier::L, _) => F3(|a, b, c| funnel(a, b, (c as u32).min(32), true)),
        (_, Modifier::Wrap) => F3(|a, b, c| funnel(a, b, c as u32 & 31, false)),
        _ => F3(|a, b, c| funnel(a, b, (c as u32).min(32), false)),
    }
}

macro_rules! int_comparisons {
    ($ty:expr, $test:tt) => {{
        fn compare<T: Int>(a: u64, b: u64) -> u64 {
            u64::from(T::wide(a) $test T::wide(b))
        }
        match by_int!($ty, F2(compare)) {
            F2(function) => function,
            _ => return None,
        }
    }};
}

macro_rules! float_comparisons {
    ($ty:expr, $a:ident, $b:ident, $test:expr) => {{
        fn compare<T: Float>(a: u64, b: u64) -> u64 {
            let ($a, $b) = (T::get(a), T::get(b));
            u64::from($test)
        }
        match $ty {
            Type::F32 => compare::<f32>,
            Type::F64 => compare::<f64>,
            Type::F16 => compare::<half::f16>,
            Type::Bf16 => compare::<half::bf16>,
            _ => return None,
        }
    }};
}

/// The function of a comparison. The result is 1 or 0. `None` if it is not modelled.
pub(crate) fn comparison(cmp: Modifier, ty: Type) -> Option<Binary> {
    if matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64) {
        return Some(match cmp {
            Modifier::Eq => float_comparisons!(ty, a, b, a == b),
            Modifier::Ne => {
                float_comparisons!(ty, a, b, matches!(a.partial_cmp(&b), Some(o) if o.is_ne()))
            }
            Modifier::Lt => float_comparisons!(ty, a, b, a < b),
            Modifier::Le => float_comparisons!(ty, a, b, a <= b),
            Modifier::Gt => float_comparisons!(ty, a, b, a > b),
            Modifier::Ge => float_comparisons!(ty, a, b, a >= b),
            Modifier::Equ => {
                float_comparisons!(ty, a, b, !matches!(a.partial_cmp(&b), Some(o) if o.is_ne()))
            }
            Modifier::Neu => float_comparisons!(ty, a, b, a != b),
            Modifier::Ltu => {
                float_comparisons!(ty, a, b, !matches!(a.partial_cmp(&b), Some(o) if o.is_ge()))
            }
            Modifier::Leu => {
                float_comparisons!(ty, a, b, !matches!(a.partial_cmp(&b), Some(o) if o.is_gt()))
            }
            Modifier::Gtu => {
                float_comparisons!(ty, a, b, !matches!(a.partial_cmp(&b), Some(o) if o.is_le()))
            }
            Modifier::Geu => {
                float_comparisons!(ty, a, b, !matches!(a.partial_cmp(&b), Some(o) if o.is_lt()))
            }
            Modifier::Num => float_comparisons!(ty, a, b, !a.is_nan() && !b.is_nan()),
            Modifier::Nan => float_comparisons!(ty, a, b, a.is_nan() || b.is_nan()),
            _ => return None,
        });
    }
    let ty = match ty {
        Type::B16 => Type::U16,
        Type::B32 => Type::U32,
        Type::B64 => Type::U64,
        other => other,
    };
    Some(match cmp {
        Modifier::Eq => int_comparisons!(ty, ==),
        Modifier::Ne => int_comparisons!(ty, !=),
        Modifier::Lt | Modifier::Lo => int_comparisons!(ty, <),
        Modifier::Le | Modifier::Ls => int_comparisons!(ty, <=),
        Modifier::Gt | Modifier::Hi => int_comparisons!(ty, >),
        Modifier::Ge | Modifier::Hs => int_comparisons!(ty, >=),
        _ => return None,
    })
}

/// The function that combines two predicates (`.and`, `.or`, `.xor`).
pub(crate) fn combination(op: Modifier) -> Option<Binary> {
    match op {
        Modifier::And => Some(and::<bool1>),
        Modifier::Or => Some(or::<bool1>),
        Modifier::Xor => Some(xor::<bool1>),
        _ => None,
    }
}

/// The new value in memory after an atomic or a reduction, as a function of the old value and the operand. `None` if it is not
/// modelled.
pub(crate) fn update(op: Modifier, ty: Type) -> Option<Binary> {
    let opcode = match (op, ty) {
        (Modifier::Exch, _) => return Some(|_, new| new),
        (Modifier::Inc, Type::U32) => {
            return Some(|old, limit| if old >= limit { 0 } else { old + 1 });
        }
        (Modifier::Dec, Type::U32) => {
            return Some(|old, limit| {
                if old == 0 || old > limit {
                    limit
                } else {
                    old - 1
                }
            });
        }
        (Modifier::Add, _) => Opcode::Add,
        (Modifier::Min, _) => Opcode::Min,
        (Modifier::Max, _) => Opcode::Max,
        (Modifier::And, _) => Opcode::And,
        (Modifier::Or, _) => Opcode::Or,
        (Modifier::Xor, _) => Opcode::Xor,
        _ => return None,
    };
    match function(opcode, None, ty)? {
        F2(function) => Some(function),
        _ => None,
    }
}

/// A conversion that its two types do not determine: the rounding, the type converted to, the type converted from, and the function.
type Conversion = (Modifier, Modifier, Modifier, Function);

#[rustfmt::skip]
const CONVERSIONS: &[Conversion] = &[
    (Modifier::Rna, Modifier::Tf32, Modifier::Type(Type::F32), F1(rounded_away)),
    (Modifier::Rn, Modifier::Tf32, Modifier::Type(Type::F32), F1(|a| tf32(numerics::round(f32::get(a), 10, -126)))),
    (Modifier::Rz, Modifier::Tf32, Modifier::Type(Type::F32), F1(|a| tf32(numerics::round_to_zero(f32::get(a), 10, -126)))),
    (Modifier::Rn, Modifier::Type(Type::F16x2), Modifier::Type(Type::F32), F2(|a, b| pair(f16_bits, f32::get(a), f32::get(b)))),
    (Modifier::Rn, Modifier::Type(Type::Bf16x2), Modifier::Type(Type::F32), F2(|a, b| pair(bf16_bits, f32::get(a), f32::get(b)))),
    (Modifier::Rz, Modifier::Type(Type::F16x2), Modifier::Type(Type::F32), F2(truncated_pair::<half::f16>)),
    (Modifier::Rz, Modifier::Type(Type::Bf16x2), Modifier::Type(Type::F32), F2(truncated_pair::<half::bf16>)),
    (Modifier::Rn, Modifier::E4m3x2, Modifier::Type(Type::F32), F2(|a, b| fp8_pair(Format::E4m3, f32::get(a), f32::get(b)))),
    (Modifier::Rn, Modifier::E5m2x2, Modifier::Type(Type::F32), F2(|a, b| fp8_pair(Format::E5m2, f32::get(a), f32::get(b)))),
    (Modifier::Rn, Modifier::E4m3x2, Modifier::Type(Type::F16x2), F1(|a| fp8_pair(Format::E4m3, half::f16::get(a >> 16), half::f16::get(a)))),
    (Modifier::Rn, Modifier::E5m2x2, Modifier::Type(Type::F16x2), F1(|a| fp8_pair(Format::E5m2, half::f16::get(a >> 16), half::f16::get(a)))),
    (Modifier::Rn, Modifier::Type(Type::F16x2), Modifier::E4m3x2, F1(|a| f16_pair(Format::E4m3, a))),
    (Modifier::Rn, Modifier::Type(Type::F16x2), Modifier::E5m2x2, F1(|a| f16_pair(Format::E5m2, a))),
];

/// The function of `cvt`. `None` if it is not modelled.
pub(crate) fn conversion(
    rounding: Option<Modifier>,
    saturate: bool,
    to: Modifier,
    from: Modifier,
) -> Option<Function> {
    let found = CONVERSIONS
        .iter()
        .find(|row| (Some(row.0), row.1, row.2) == (rounding, to, from));
    if let Some((.., function)) = found {
        return Some(*function);
    }
    let (to, from) = (to.ty()?, from.ty()?);
    macro_rules! to_type {
        ($from:expr, $put:ident) => {
            match to {
                Type::U8 => F1(|a| $put::<u8>($from(a))),
                Type::S8 => F1(|a| $put::<i8>($from(a))),
                Type::U16 => F1(|a| $put::<u16>($from(a))),
                Type::S16 => F1(|a| $put::<i16>($from(a))),
                Type::U32 => F1(|a| $put::<u32>($from(a))),
                Type::S32 => F1(|a| $put::<i32>($from(a))),
                Type::U64 => F1(|a| $put::<u64>($from(a))),
                Type::S64 => F1(|a| $put::<i64>($from(a))),
                _ => return None,
            }
        };
    }
    macro_rules! from_int {
        ($to_type:ident, $($arg:tt)*) => {
            match from {
                Type::U8 => $to_type!(u8::wide, $($arg)*),
                Type::S8 => $to_type!(i8::wide, $($arg)*),
                Type::U16 => $to_type!(u16::wide, $($arg)*),
                Type::S16 => $to_type!(i16::wide, $($arg)*),
                Type::U32 => $to_type!(u32::wide, $($arg)*),
                Type::S32 => $to_type!(i32::wide, $($arg)*),
                Type::U64 => $to_type!(u64::wide, $($arg)*),
                Type::S64 => $to_type!(i64::wide, $($arg)*),
                _ => return None,
            }
        };
    }
    macro_rules! from_float {
        ($to_type:ident, $get:ident, $($arg:tt)*) => {
            match from {
                Type::F16 => $to_type!(half::f16::$get, $($arg)*),
                Type::Bf16 => $to_type!(half::bf16::$get, $($arg)*),
                Type::F32 => $to_type!(f32::$get, $($arg)*),
                Type::F64 => $to_type!(f64::$get, $($arg)*),
                _ => return None,
            }
        };
    }
    macro_rules! int_to_float {
        ($from:expr, $rounding:ident) => {
            match to {
                // A plain f64 would round integers beyond 2⁵³ twice: to f64, then to the type.
                Type::F16 => F1(|a| half::f16::put(rounded_to_odd($from(a)))),
                Type::Bf16 => F1(|a| half::bf16::put(rounded_to_odd($from(a)))),
                Type::F32 => F1(|a| u64::from(($from(a) as f32).to_bits())),
                Type::F64 => F1(|a| f64::put($from(a) as f64)),
                _ => return None,
            }
        };
    }
    macro_rules! float_to_float {
        ($from:expr, nearest) => {
            match to {
                Type::F16 if from == Type::F64 => F1(|a| half::f16::narrowed(f64::get(a))),
                Type::Bf16 if from == Type::F64 => F1(|a| half::bf16::narrowed(f64::get(a))),
                Type::F32 if from == Type::F64 => F1(|a| f32::narrowed(f64::get(a))),
                Type::F16 => F1(|a| half::f16::put($from(a))),
                Type::Bf16 => F1(|a| half::bf16::put($from(a))),
                Type::F32 => F1(|a| f32::put($from(a))),
                Type::F64 => F1(|a| f64::put($from(a))),
                _ => return None,
            }
        };
    }
    /// Rounding to an integer value within a type.
    macro_rules! integral {
        ($round:expr) => {
            match to {
                Type::F16 => F1(|a| half::f16::put($round(half::f16::get(a)))),
                Type::F32 => F1(|a| f32::put($round(f32::get(a)))),
                Type::F64 => F1(|a| f64::put($round(f64::get(a)))),
                _ => return None,
            }
        };
    }
    let float = |ty| matches!(ty, Type::F16 | Type::Bf16 | Type::F32 | Type::F64);
    Some(match (float(from), float(to), rounding) {
        (true, true, None) if to == from => F1(|a| a),
        (true, true, None) if (to, from) == (Type::F32, Type::Bf16) => {
            F1(|a| a << 16 & 0xffff_0000)
        }
        (false, false, None) if saturate => from_int!(to_type, saturated),
        (false, false, None) => from_int!(to_type, wrapped),
        (false, true, Some(Modifier::Rn)) => from_int!(int_to_float, nearest),
        (true, false, Some(Modifier::Rni)) => from_float!(to_type, real, nearest),
        (true, false, Some(Modifier::Rzi)) => from_float!(to_type, real, truncated),
        (true, false, Some(Modifier::Rmi)) => from_float!(to_type, real, floor),
        (true, false, Some(Modifier::Rpi)) => from_float!(to_type, real, ceiling),
        (true, true, Some(Modifier::Rn) | None) => from_float!(float_to_float, get, nearest),
        (_, true, Some(direction @ (Modifier::Rz | Modifier::Rm | Modifier::Rp))) => {
            return rounded::conversion(direction, to, from);
        }
        (true, true, Some(Modifier::Rni)) if to == from => integral!(f64::round_ties_even),
        (true, true, Some(Modifier::Rzi)) if to == from => integral!(f64::trunc),
        (true, true, Some(Modifier::Rmi)) if to == from => integral!(f64::floor),
        (true, true, Some(Modifier::Rpi)) if to == from => integral!(f64::ceil),
        _ => return None,
    })
}

/// An integer of at most 64 bits as an f64 that rounds to a 16-bit type exactly as the integer does. For an integer over 53 bits, one
/// bit replaces the low 12 bits: it tells whether they are nonzero.
fn rounded_to_odd(value: i128) -> f64 {
    let rest = value & 0xfff;
    match value.unsigned_abs().leading_zeros() {
        // Up to 53 bits.
        75.. => value as f64,
        _ => (value - rest + i128::from(rest != 0) * 0x800) as f64,
    }
}

fn wrapped<T: Int>(value: i128) -> u64 {
    T::wrap(value)
}

/// Packs two 16-bit floats.
fn pair(bits: fn(f64) -> u16, high: f64, low: f64) -> u64 {
    u64::from(bits(high)) << 16 | u64::from(bits(low))
}

/// The bits of a number of tf32. Every NaN becomes the canonical one.
fn tf32(value: f64) -> u64 {
    f32::put(value) & 0xffff_e000
}

/// To the nearest number of tf32, ties away from zero. A NaN keeps its upper bits.
fn rounded_away(a: u64) -> u64 {
    let value = f32::get(a);
    match value.is_nan() {
        true => a & 0xffff_e000,
        false => f32::put(numerics::round_away(value, 10, -126)),
    }
}

fn truncated_pair<T: Float>(high: u64, low: u64) -> u64 {
    let half = |bits| rounded::truncated::<T>(f32::get(bits));
    half(high) << 16 | half(low)
}

/// The value clamped to the range of the type.
fn held<T: Int>(value: i128) -> i128 {
    let signed = T::wide(u64::MAX) < 0;
    let (low, high) = if signed {
        (-1 << (T::BITS - 1), (1 << (T::BITS - 1)) - 1)
    } else {
        (0, (1 << T::BITS) - 1)
    };
    value.clamp(low, high)
}

fn saturated<T: Int>(value: i128) -> u64 {
    T::wrap(held::<T>(value))
}

/// A conversion from floating point to integer saturates. A NaN becomes 0 or, if either type has 64 bits, the highest bit of
/// the integer alone (PTX ISA 9.0, §9.7.9.22).
fn clamped<T: Int>(from: Real, round: fn(f64) -> f64) -> u64 {
    if from.value.is_nan() && (from.double || T::BITS == 64) {
        return T::wrap(1 << (T::BITS - 1));
    }
    T::wrap(held::<T>(round(from.value) as i128))
}

fn nearest<T: Int>(from: Real) -> u64 {
    clamped::<T>(from, f64::round_ties_even)
}

fn truncated<T: Int>(from: Real) -> u64 {
    clamped::<T>(from, f64::trunc)
}

fn floor<T: Int>(from: Real) -> u64 {
    clamped::<T>(from, f64::floor)
}

fn ceiling<T: Int>(from: Real) -> u64 {
    clamped::<T>(from, f64::ceil)
}

fn fp8_pair(format: Format, high: f64, low: f64) -> u64 {
    u64::from(fp8_bits(format, high)) << 8 | u64::from(fp8_bits(format, low))
}

fn f16_pair(format: Format, pair: u64) -> u64 {
    let half = |byte: u64| u64::from(f16_bits(format.value(byte as u32 & 0xff)));
    half(pair >> 8) << 16 | half(pair)
}
