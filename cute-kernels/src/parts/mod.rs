//! What kernels are made of, in the kernel language. [`lib`](crate::lib) exports these parts for kernels of your own.
//!
//! | module | what it has |
//! |---|---|
//! | [`config`] | the sizes of a product's tiles, and what they demand of each other |
//! | [`tiles`] | the order in which CTAs compute tiles |
//! | [`ring`] | stages in shared memory, which TMA fills and warpgroups empty |
//! | [`mma`] | products of tiles by warpgroups |
//! | [`split`] | sums over the CTAs of a cluster that divide K |
//! | [`mainloop`] | a product: its producer, its consumers, and the ways to multiply a stage |
//! | [`epilogue`] | what happens to the sums of a tile: numbers of rows and columns, activations, stores |
//! | [`copy`] | copies of tiles by threads |

pub mod config;
pub mod copy;
pub mod epilogue;
pub mod mainloop;
pub mod mma;
pub mod ring;
pub mod split;
pub mod tiles;
