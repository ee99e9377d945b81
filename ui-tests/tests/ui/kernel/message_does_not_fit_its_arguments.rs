#[cute_runtime::kernels]
mod kernels {
    #[kernel(threads = 32)]
    pub fn missing(n: u32) {
        println!("{} of {}", n);
    }

    #[kernel(threads = 32)]
    pub fn surplus(n: u32) {
        assert!(n > 0, "{n}", n);
    }

    #[kernel(threads = 32)]
    pub fn debug(n: u32) {
        print!("{:?}", n);
    }

    #[kernel(threads = 32)]
    pub fn open(n: u32) {
        print!("{n");
    }

    #[kernel(threads = 32)]
    pub fn literal(n: u32) {
        print!(n);
    }

    #[kernel(threads = 32)]
    pub fn unknown(rows: u32) {
        print!("{rwos}");
    }

    #[kernel(threads = 32)]
    pub fn barrier() {
        let ready = mbarriers(1, 1);
        print!("{}", ready[0]);
    }

    #[kernel(threads = 32)]
    pub fn number(n: u32) {
        assert!(n, "n is 0");
    }

    #[kernel(threads = 32)]
    pub fn error() {
        eprintln!("no");
    }
}

fn main() {}
