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
        let d = match 5 { n if n > 5 => 1, n if n == 5 => n + 1, _ => 0 };
        a + b * 7 + c * 11 + d
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
