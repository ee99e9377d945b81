//! Structs, closures, arrays, `match` and iterators, against what rustc makes of the same text.

same! { fields,
    struct Pair { a: u32, b: u32 }
    fn f(x: u32, y: u32) -> u32 {
        let p = Pair { a: x, b: y };
        let mut v = Pair { a: x % 3, b: 1 };
        let sum = (Pair { b: 2, ..v }, { v.a += 100; v.a });
        let p = Pair { a: p.a % 1000 + sum.0.a * 7 + sum.0.b, b: p.b % 1000 + sum.1 };
        let q = Pair { b: x + 1, ..p };
        p.a * 3 + p.b + q.a * 5 + q.b * 7
    }
}

same! { methods,
    struct Counter { n: u32, step: u32 }
    impl Counter {
        const fn new(step: u32) -> Self { Self { n: 0, step } }
        fn next(&mut self) -> u32 { self.n += self.step; self.n }
        fn twice(&mut self) -> u32 { self.next() + self.next() }
        fn total(&self) -> u32 { self.n * 10 }
        fn into(self) -> u32 { self.n }
    }
    fn f(x: u32, y: u32) -> u32 {
        let mut c = Counter::new(x % 7);
        let a = c.next() + c.twice();
        let mut d = Counter { n: y % 5, step: 2 };
        if y % 2 == 0 { d.next(); c.step = 3; c.next(); }
        a * 100 + c.total() + d.into() + c.n
    }
}

same! { generic_structs,
    struct Wrapped<T, const N: u32> { value: T }
    impl<T: Copy, const N: u32> Wrapped<T, N> {
        fn scaled(&self) -> u32 { N * 10 }
    }
    impl<const M: u32> Wrapped<u32, M> {
        fn of(value: u32) -> Self { Self { value } }
        fn plus(self, other: Wrapped<u32, M>) -> Wrapped<u32, M> { Wrapped { value: self.value + other.value } }
    }
    fn sum<const N: u32>(a: Wrapped<u32, N>, b: Wrapped<u32, N>) -> u32 { a.plus(b).value % 1000 + N }
    fn f(x: u32, y: u32) -> u32 {
        let a = Wrapped::<u32, 4>::of(x % 100);
        let b: Wrapped<u32, 4> = Wrapped::<u32, 4>::of(y % 100);
        let scaled = b.scaled();
        sum(a, b) + scaled
    }
}

same! { nested_structs,
    struct Inner { i: u32 }
    struct Outer { inner: Inner, pair: (u32, u32), list: [u32; 3] }
    fn f(x: u32, y: u32) -> u32 {
        let mut o = Outer { inner: Inner { i: x % 9 }, pair: (y % 4, 1), list: [1, 2, 3] };
        o.inner.i += 1;
        o.pair.1 = o.inner.i * 2;
        o.list[1] = o.pair.1 + 5;
        for n in 0..3 { o.list[n] += 1; }
        let Outer { inner, pair: (a, b), list: [p, q, r] } = o;
        inner.i + a * 3 + b * 5 + p * 7 + q * 11 + r * 13
    }
}

same! { closures,
    fn apply(g: impl Fn(u32) -> u32, x: u32) -> u32 { g(x) + g(1) }
    fn compose<F: Fn(u32, (u32, u32)) -> u32>(g: F, x: u32) -> u32 { g(x, (2, 3)) }
    fn triple(x: u32) -> u32 { (x % 1000) * 3 }
    fn f(x: u32, y: u32) -> u32 {
        typed(y % 9) + plain(x, y)
    }
    fn typed<T: Copy>(x: T) -> T {
        let same = |v: T| v;
        same(x)
    }
    fn plain(x: u32, y: u32) -> u32 {
        let k = y % 10;
        let add = |v: u32| v % 1000 + k;
        let mut count = 0;
        let mut bump = |by: u32| { count += by; count };
        let a = bump(2) + bump(3);
        apply(add, x) + apply(triple, x) + apply(|v| { let w = v % 7; w * w }, y) + compose(|v, (i, j)| v % 50 * i + j, x) + a * count
    }
}

same! { moved_closures,
    fn f(x: u32, y: u32) -> u32 {
        let mut n = x % 10;
        let kept = move || n + 1;
        n += 5;
        kept() * 100 + n + y % 2
    }
}

same! { matches,
    const LIMIT: u32 = 7;
    fn f(x: u32, y: u32) -> u32 {
        let a = match x { 0 => 1, 1 | 2 => 20, 3..=6 => 300, LIMIT => 4000, n if false => n, _ => 50000 };
        let b = match (x % 2, y % 3) { (0, 0) => 1, (0, n) => n + 10, (1, 2) => 5, (m, n) => m * n + 100 };
        let c = match x > y { true => 2, false => 3 };
        let e = match x { n @ 0..=3 => n + 5, n @ (7 | 12) => n * 2, n => n };
        let (p @ (q, r), s @ 2..) = ((x, y), y + 2) else { return 1; };
        let d = match 5 { n if n > 5 => 1, n if n == 5 => n + 1, _ => 0 };
        a + b * 7 + c * 11 + d + e * 13 + p.0 + q + r + s
    }
}

same! { options,
    fn half(x: u32) -> Option<u32> { if x % 2 == 0 { Some(x / 2) } else { None } }
    fn f(x: u32, y: u32) -> u32 {
        let a = match half(x) { Some(h) => h % 100, None => 7 };
        let b = if let Some(h) = half(y) { h % 50 } else { 3 };
        let mut c = 0;
        let mut left = x % 4;
        while let Some(n) = half(left + 2) { c += n; left += 1; if c > 100 { break; } }
        a + b * 3 + c * 5
    }
}

same! { options_in_patterns,
    fn half(x: u32) -> Option<u32> { if x % 2 == 0 { Some(x / 2) } else { None } }
    fn pair(x: u32) -> Option<(u32, Option<u32>)> { if x > 2 { return Some((x, half(x))); } None }
    fn f(x: u32, y: u32) -> u32 {
        let a = match half(x) { Some(0) => 1, Some(1 | 3) => 2, None => 3, Some(n) => n + 10 };
        let b = match (pair(x), half(y)) { (Some((3, None)), _) => 1, (Some((_, Some(2))), Some(0..=3)) => 2, (None, None) => 3,
            (Some((n, _)), Some(_)) => n, (_, None) => 5, (None, Some(m)) => m + 7 };
        let c = if let Some(20) = half(x) { 100 } else { 200 };
        let (Some(3..=6), d) = (half(x), y) else { return a + b * 3 + c; };
        a + b * 3 + c + d
    }
}

same! { iterators,
    struct Steps { at: u32, end: u32, step: u32 }
    impl Iterator for Steps {
        type Item = (u32, u32);
        fn next(&mut self) -> Option<(u32, u32)> {
            let at = self.at;
            if at < self.end { self.at += self.step; Some((at, at * 2)) } else { None }
        }
    }
    fn f(x: u32, y: u32) -> u32 {
        let mut sum = 0;
        for (i, j) in (Steps { at: x % 5, end: 20, step: y % 4 + 1 }) {
            if i == 3 { continue; }
            if j > 30 { break; }
            sum += i * 10 + j;
        }
        let mut rest = Steps { at: 0, end: x % 6, step: 1 };
        for (i, _) in &mut rest { if i == 2 { break; } sum += 1000; }
        sum + rest.at
    }
}

same! { arrays,
    fn total(a: [u32; 4]) -> u32 { let mut s = 0; for v in a { s = s * 3 + v; } s }
    fn first<const N: usize>(a: [u32; N]) -> u32 { a[0] + N as u32 }
    fn f(x: u32, y: u32) -> u32 {
        let a = [x % 10, y % 10, 3, 4];
        let mut b = [1; 4];
        for i in 0..4 { b[i] = a[i] + b[3 - i]; }
        total(a) + total(b) + first([x % 3, 1])
    }
}

same! { inferred_generics,
    fn bigger<T: PartialOrd>(a: T, b: T) -> T { if a < b { b } else { a } }
    fn f(x: u32, y: u32) -> u32 { bigger(x % 100, y % 100) + bigger::<u32>(3, x % 5) }
}

same! { limits,
    fn f(x: u32, y: u32) -> u32 { (u32::MAX - x % 5) / 3 + u16::MAX as u32 + i8::MAX as u32 + y % 2 + u64::BITS }
}

same! { struct_constants,
    struct Config { bm: u32, stages: u32 }
    impl Config { fn bytes(&self) -> u32 { self.bm * self.stages } }
    const SMALL: Config = Config { bm: 64, stages: 3 };
    const LARGE: Config = Config { bm: 128, ..SMALL };
    fn f(x: u32, y: u32) -> u32 {
        let mut s = 0;
        for i in 0..LARGE.stages { s += x % 7 + i; }
        s + SMALL.bytes() + LARGE.bytes() + y % 3
    }
}

same! { tuple_structs,
    #[derive(Clone, Copy)]
    struct Pair(u32, u32);
    #[derive(Clone, Copy)]
    struct Tagged<T, const N: u32>(T, Pair);
    #[derive(Clone, Copy)]
    struct Unit;
    struct One(f32);
    impl Pair {
        fn new(a: u32) -> Self { Self(a, 1) }
        fn sum(&self) -> u32 { self.0 % 1000 + self.1 % 1000 }
        fn step(&mut self) { self.0 += self.1; self.1 *= 2; }
    }
    impl<T, const N: u32> Tagged<T, N> { fn tag(&self) -> u32 { N * 10 } }
    impl Unit { fn five(self) -> u32 { 5 } }
    fn twice(p: Pair) -> Pair { let Pair(a, b) = p; Pair(a * 2, b + 3) }
    fn early(x: u32) -> Pair { if x > 3 { return Pair(x, 0); } Pair::new(x) }
    fn apply(g: impl Fn(u32, u32) -> Pair, x: u32) -> u32 { g(x, 2).sum() }
    fn f(x: u32, y: u32) -> u32 {
        let mut p = Pair(x % 100, y % 100);
        p.step();
        p.1 += 4;
        let t = Tagged::<u32, 3>(y % 7, p);
        let q = if x > y { Pair(1, x) } else { twice(p) };
        let Tagged(head, Pair(a, ..)) = t;
        let Pair { 0: first, 1: second } = q;
        let kind = match early(y) { Pair(0, _) => 1, Pair(n, 0) => n + 10, Pair(_, n) if false => n, Pair(..) => 20 };
        let unit = Unit;
        let Unit = unit;
        let (begin, .., end) = (x % 3, 7, 8, y % 5);
        let one = One(0.5 + x as f32);
        let literal = Pair { 1: x % 9, 0: 3 };
        p.sum() + t.tag() + head * 3 + a * 5 + first * 7 + second + kind + unit.five() + begin * 2 + end
            + (one.0 * 2.0) as u32 + apply(Pair, x % 50) + literal.sum() + Pair { 0: 9, ..q }.sum()
    }
}

same! { type_aliases,
    type Acc = f64;
    type Count = u32;
    type Two<T> = (T, T);
    type Row<const N: usize> = [Count; N];
    struct Pair<T> { a: T, b: T }
    struct Num(u32);
    type Ints = Pair<Count>;
    type Same<T> = Pair<T>;
    type Wrapped = Num;
    type Maybe = Option<Count>;
    impl Ints { fn sum(&self) -> Count { self.a % 100 + self.b % 100 } }
    const LIMIT: Count = 9;
    fn add(x: Acc, y: Acc) -> Acc { x + y }
    fn swap<T: Copy>(p: Two<T>) -> Two<T> { (p.1, p.0) }
    fn total<const N: usize>(row: Row<N>) -> Count { let mut s = 0; for v in row { s = s * 3 + v; } s }
    fn first<T: Copy>(p: Same<T>) -> T { p.a }
    fn some(x: Count) -> Maybe { if x > 3 { return Some(x); } None }
    fn f(x: Count, y: Count) -> Count {
        let p = Ints { a: x, b: y };
        let sum = p.sum();
        let q: Two<u64> = (x as u64, 5000000000);
        let w = Wrapped { 0: x % 4 };
        let big: Acc = 16777217.0;
        let row: Row<3> = [1, y % 10, 3];
        let g = |v: Count| -> Acc { v as Acc * 0.5 };
        sum + (add(big, 2.0) as Count) + (swap(q).0 >> 3) as u32 + total(row) + first(Same { a: x % 5, b: 1 }) + w.0 + Count::MAX % 7
            + LIMIT + match some(y) { Some(v) => v, None => 1 } + g(x) as u32
    }
}

same! { enums,
    #[derive(Clone, Copy, PartialEq)]
    enum Mode { Fast, Safe, Slow }
    #[derive(Clone, Copy, PartialEq, PartialOrd)]
    #[repr(u8)]
    enum Level { Low = 3, High = 200, Higher }
    #[derive(Clone, Copy)]
    enum Sign { Minus = -1, Zero, Plus }
    type M = Mode;
    const DEFAULT: Mode = Mode::Safe;
    struct State { mode: Mode, n: u32 }
    impl Mode {
        fn next(self) -> Self { match self { Self::Fast => Self::Safe, Mode::Safe => Mode::Slow, M::Slow => M::Fast } }
        fn of(x: u32) -> Mode { if x % 3 == 0 { return Mode::Fast; } if x % 3 == 1 { Mode::Safe } else { Mode::Slow } }
        fn turn(&mut self) { *self = self.next(); }
        fn back(&mut self) -> u32 { match self { Mode::Fast => 1, Mode::Safe => 2, Mode::Slow => 3 } }
    }
    fn number(m: Mode) -> u32 { m as u32 }
    fn level(x: u32) -> Level { match x { 0..=3 => Level::Low, 4..=6 => Level::High, _ => Level::Higher } }
    fn f(x: u32, y: u32) -> u32 {
        let mut m = Mode::of(x);
        let known = Mode::Slow;
        let mut sum = match known { Mode::Slow => 7, Mode::Fast | Mode::Safe => 8 };
        for _ in 0..y % 4 { m.turn(); }
        let mut s = State { mode: m, n: 0 };
        while s.mode != Mode::Slow && s.n < 5 { s.mode.turn(); s.n += 1; }
        let sign = if x > y { Sign::Plus } else if x == y { Sign::Zero } else { Sign::Minus };
        let both = match (m, s.mode, x > 3) { (Mode::Fast, _, true) => 1, (Mode::Fast, Mode::Slow, false) => 2, (Mode::Fast, ..) => 3,
            (Mode::Safe | Mode::Slow, M::Fast, _) => 4, (_, Mode::Safe, b) => 5 + b as u32, (DEFAULT, Mode::Slow, _) => 7, (Mode::Slow, Mode::Slow, _) => 8 };
        sum += m.back();
        let option = if x > 2 { Some(m) } else { None };
        let inner = match option { Some(Mode::Fast) => 1, Some(Mode::Safe) => 2, None => 3, Some(Mode::Slow) => 4 };
        let l = level(x);
        let Mode::Fast = known.next() else { return 5; };
        sum + number(m) * 3 + s.n + both * 100 + inner * 11 + (l as u8) as u32 + (l as i8) as i32 as u32 % 1000 + (l > Level::Low) as u32
            + (sign as i32 + 5) as u32 + (sign as u8) as u32 + (sign as i64 >> 40) as u32 % 77 + (m == DEFAULT) as u32 * 13 + (Level::Higher as u32)
            + if let Mode::Safe = m { 1000 } else { 0 }
    }
}

same! { arrays_through_references,
    fn set(a: &mut [u32; 4], i: u32, v: u32) { for n in 0..4 { if n as u32 == i { a[n] = v; } a[n] += 1; } }
    fn each(a: &mut [u32; 4]) { for v in a { *v *= 3; } }
    fn swap(a: &mut [u32; 4]) { (a[0], a[3]) = (a[3], a[0]); let t = a[1]; a[1] = a[2]; a[2] = t; }
    fn nested(a: &mut [[u32; 2]; 2], p: &mut (u32, [u32; 2])) { a[1][0] = a[0][1] + 5; a[0] = [7, 8]; p.1[1] += 3; p.0 = p.1[0]; }
    fn total(a: &[u32; 4]) -> u32 { let mut s = 0; for i in 0..a.len() { s = s * 5 + a[i] % 100; } s }
    fn f(x: u32, y: u32) -> u32 {
        let mut a = [x % 10, y % 10, 3, 4];
        set(&mut a, x % 4, y + 2);
        each(&mut a);
        swap(&mut a);
        let r = &mut a;
        r[2] += 100;
        let n = r.len() as u32;
        let mut b = [[1, x % 7], [3, 4]];
        let mut p = (0, [y % 9, 2]);
        nested(&mut b, &mut p);
        for v in &mut b[0] { *v += 1; }
        total(&a) + n + b[1][0] * 3 + b[0][0] + b[0][1] * 7 + p.0 + p.1[1] * 11
    }
}
