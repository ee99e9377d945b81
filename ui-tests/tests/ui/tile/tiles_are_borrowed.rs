//! As long as its tiles are borrowed, a tensor cannot be borrowed again.

use cute_runtime::{HostTensorMut, layout, tile};

layout! {
    MATRIX = (4,8):(8,1);
}

tile! {
    mut COLUMNS = MATRIX / <_,1>;
}

fn main() {
    let mut data = [0; 32];
    let mut matrix = HostTensorMut::new(&mut data, MATRIX).unwrap();
    let first: Vec<_> = matrix.tiles_mut::<COLUMNS>().unwrap().collect();
    let second: Vec<_> = matrix.tiles_mut::<COLUMNS>().unwrap().collect();
    drop((first, second));
}
