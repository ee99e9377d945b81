//! Tiles can be written only if it is proved that they share no element.

use cute_runtime::{HostTensorMut, layout, tile};

layout! {
    WINDOWS = (4,8):(1,1);
}

tile! {
    COLUMNS = WINDOWS / <4>;
}

fn main() {
    let mut data = [0; 11];
    let mut windows = HostTensorMut::new(&mut data, WINDOWS).unwrap();
    let columns = windows.tiles_mut::<COLUMNS>();
    assert!(columns.is_ok());
}
