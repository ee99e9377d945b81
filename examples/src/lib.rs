//! One runnable file per idea; see the `examples` folder of this package.
