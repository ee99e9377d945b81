#[cute_runtime::kernels]
pub mod kernels {
    pub struct Pair {
        a: u32,
    }

    pub fn name(rows: u32) -> u32 {
        rwos + 1
    }

    pub fn function(x: f32) -> f32 {
        squrt(x)
    }

    pub fn ty(x: Tensr) -> u32 {
        x[0]
    }

    pub fn syntax(x: u32) -> u32 {
        let y = x?;
        y
    }

    pub fn structure() -> u32 {
        let pair = Pears { a: 1 };
        pair.a
    }

    impl Pair {
        pub fn path(&self) -> u32 {
            self.a + missing::N
        }
    }

    #[kernel(threads = 32)]
    pub fn branch(n: u32) {
        const_name(n);
        if 1 == 2 {
            nonsense();
        }
    }

    fn const_name(n: u32) {}
}

fn main() {}
