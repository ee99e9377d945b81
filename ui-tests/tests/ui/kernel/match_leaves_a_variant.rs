#[cute_runtime::kernels]
mod kernels {
    enum Mode {
        Fast,
        Safe,
        Slow,
    }

    fn factor(mode: Mode, twice: bool) -> f32 {
        match (mode, twice) {
            (Mode::Fast, _) => 1.0,
            (Mode::Safe, true) => 2.0,
            (_, false) => 3.0,
        }
    }

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let mode = if n > 3 { Mode::Fast } else { Mode::Safe };
        let x = factor(mode, n > 5);
    }
}

fn main() {}
