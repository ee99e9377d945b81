#[cute_runtime::kernels]
mod kernels {
    struct Tile {
        row: u32,
        column: u32,
    }

    impl Tile {
        fn area(&self) -> u32 {
            self.row * self.column
        }
    }

    struct Size {
        rows: u32,
    }

    #[kernel(threads = 32)]
    pub fn k(n: u32) {
        let tile = Tile { row: n, columm: 1 };
        let other = Tile { row: n };
        let good = Tile { row: n, column: 2 };
        let x = good.rows;
        let y = good.aera();
        let z = Tile::new(n);
        let size = Size { rows: n };
        let mixed = Tile { row: 1, ..size };
    }
}

fn main() {}
