//! Expressions as text that parses to the same expression.

use super::expr::{Expr, ExprKind, Fact, Order, Relation, Sign};
use core::fmt::{self, Display};

/// Writes the notation, with all operations by name: `A o B` is written `composition(A,B)`.
impl Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Int(value) => write!(f, "{value}"),
            ExprKind::Basis(scale, path) => {
                scale.fmt(f)?;
                indices(f, path)
            }
            ExprKind::Fraction([above, below], path) => {
                write!(f, "{above}/{below}")?;
                indices(f, path)
            }
            ExprKind::Underscore => f.write_str("_"),
            ExprKind::Name(text) | ExprKind::Braced(text) => f.write_str(text),
            ExprKind::Integer(inner) => write!(f, "{{{inner}}}"),
            ExprKind::Arithmetic(Sign::Ceiling, sides) => {
                write!(f, "{}.div_ceil({})", sides[0], sides[1])
            }
            ExprKind::Arithmetic(sign, sides) => write!(f, "{}{sign}{}", sides[0], sides[1]),
            ExprKind::Tuple(items) => enclosed(f, "(", items, ")"),
            ExprKind::Layout(shape, stride) => write!(f, "{shape}:{stride}"),
            ExprKind::Ordered(shape, Order::Row) => write!(f, "{shape}:row"),
            ExprKind::Ordered(shape, Order::Col) => write!(f, "{shape}:col"),
            ExprKind::Tiler(items) => enclosed(f, "<", items, ">"),
            ExprKind::Swizzle(fields) => enclosed(f, "Sw<", &fields[..], ">"),
            ExprKind::Swizzled(parts) => separated(f, &parts[..], " o "),
            ExprKind::Call {
                operation,
                args,
                ragged,
                ..
            } => {
                let ragged = if *ragged { "ragged " } else { "" };
                write!(f, "{ragged}{operation}")?;
                enclosed(f, "(", args, ")")
            }
        }
    }
}

impl Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Times => "*",
            Self::Over => "/",
            Self::Modulo => "%",
            Self::Ceiling => ".div_ceil",
        })
    }
}

/// Writes the fact as it is written after `where`.
impl Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { left, right, .. } = self;
        match self.relation {
            Relation::Multiple => write!(f, "{left} % {right} == 0"),
            Relation::AtMost => write!(f, "{left} <= {right}"),
            Relation::Less => write!(f, "{left} < {right}"),
            Relation::AtLeast => write!(f, "{left} >= {right}"),
            Relation::Greater => write!(f, "{left} > {right}"),
            Relation::Equal => write!(f, "{left} == {right}"),
        }
    }
}

fn indices(f: &mut fmt::Formatter<'_>, path: &[usize]) -> fmt::Result {
    path.iter().try_for_each(|index| write!(f, "@{index}"))
}

fn enclosed(f: &mut fmt::Formatter<'_>, open: &str, items: &[Expr], close: &str) -> fmt::Result {
    f.write_str(open)?;
    separated(f, items, ",")?;
    f.write_str(close)
}

fn separated(f: &mut fmt::Formatter<'_>, items: &[Expr], separator: &str) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::notation::{Definition, NotationError};

    /// The text of an expression parses to an expression with the same text.
    #[test]
    fn expressions_read_back() -> Result<(), NotationError> {
        for (text, shown) in [
            (
                "(6,2):(8,2) o (4,(3)):(3,(-1))",
                "composition((6,2):(8,2),(4,(3)):(3,(-1)))",
            ),
            (
                "ragged A / <4:1, _, (2,m):row> / 4",
                "ragged zipped_divide(zipped_divide(A,<4:1,_,(2,m):row>),4)",
            ),
            ("B then a::A", "composition(a::A,B)"),
            (
                "(m + n*2 - 1, (m + 1) * 2):(1, -m)",
                "(m+n*2-1,(m+1)*2):(1,-1*m)",
            ),
            ("(8 + m/2 - 1, m/2*4, m - n % 3)", "(8+m/2-1,m/2*4,m-n%3)"),
            ("(m + n) / 2 / 4 % 3", "(m+n)/2/4%3"),
            ("ragged size(A) / 4", "ragged zipped_divide(size(A),4)"),
            ("A / 8:2 o 4", "A/composition(8:2,4)"),
            (
                "Sw<3,4,3> o -8 o (4:1, 8:4*m*{n + 1})",
                "Sw<3,4,3> o -8 o (4:1,8:4*m*{n+1})",
            ),
            (
                "Sw<3,4,3> o A o 4",
                "composition(Sw<3,4,3>,composition(A,4))",
            ),
            ("(4,5):(2@1@0,1/2@1)", "(4,5):(2@1@0,1/2@1)"),
            (
                "where m % 64 == 0, m*n <= 4, 5 >= n, n < m, m > 1, n == 2; (m,n):col",
                "where m % 64 == 0, m*n <= 4, 5 >= n, n < m, m > 1, n == 2; (m,n):col",
            ),
        ] {
            assert_eq!(text.parse::<Definition>()?.to_string(), shown);
            assert_eq!(shown.parse::<Definition>()?.to_string(), shown);
        }
        Ok(())
    }
}
