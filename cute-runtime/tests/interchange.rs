//! Host tensors as `ndarray` and DLPack have them.

use cute_runtime::dlpack::{DLDataType, DLDevice, DLManagedTensor, DLTensor, Dlpack, DlpackError};
use cute_runtime::{
    ElementType, HostError, HostLayout, HostTensor, HostTensorMut, Strided, layout, tile,
};
use ndarray::{Array3, Axis, array, s};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

layout! {
    ROWS = (3,4):(4,1);
    COLUMNS = (3,4):(1,3);
    PADDED = (3,4):(5,1);
    BACKWARDS = (3,4):(-4,1);
    REPEATED = (3,4):(0,1);
    WINDOWS = (3,4):(1,1);
    LOPSIDED = (3,2):(2,3);
    SPLIT = ((2,3),(2,2)):((4,8),(1,2));
    NESTED = (4,(2,3)):(6,(3,1));
    SWIZZLED = Sw<1,0,2> o (4,4):(4,1);
    ONES = (1,(1,4),1):(7,(9,2),0);
}

tile! {
    WHOLE = ROWS / <3,2>;
    RAGGED = ragged ROWS / <2,3>;
}

fn numbers(len: i32) -> Vec<i32> {
    (0..len).collect()
}

/// The view has the layout's element at each coordinate, and comes back as the same layout if it has no gaps.
fn same_elements<L: HostLayout>(layout: L, len: i32) {
    let data = numbers(len);
    let tensor = HostTensor::new(&data, layout).expect("a tensor");
    let view = tensor.to_ndarray::<2>().expect("a view");
    for ((row, column), element) in view.indexed_iter() {
        let coordinate = [row as i64, column as i64];
        assert_eq!(Some(element), tensor.get(coordinate), "{coordinate:?}");
    }
    match HostTensor::from_ndarray(view) {
        Ok(again) => assert!(again.iter().eq(tensor.iter())),
        Err(error) => assert!(matches!(error, HostError::Gaps { .. }), "{error}"),
    }
}

#[test]
fn views_have_the_elements_of_the_layout() {
    same_elements(ROWS, 12);
    same_elements(COLUMNS, 12);
    same_elements(PADDED, 15);
    same_elements(REPEATED, 4);
    same_elements(WINDOWS, 6);
    same_elements(LOPSIDED, 8);
    same_elements(SPLIT, 24);
    same_elements(Strided::new([3, 4], [-4, 1], 8).expect("a layout"), 12);
    same_elements(Strided::new([4, 3], [-1, -4], 14).expect("a layout"), 15);
}

#[test]
fn tiles_and_slices_are_views() {
    let data = numbers(24);
    let tensor = HostTensor::new(&data[..12], ROWS).expect("a tensor");
    let right = tensor
        .tiles::<WHOLE>()
        .expect("tiles")
        .last()
        .expect("a tile");
    assert_eq!(
        right.to_ndarray::<2>(),
        Ok(array![[2, 3], [6, 7], [10, 11]].view())
    );

    let cube = HostTensor::new(&data, layout!((2,3,4):(12,4,1))).expect("a tensor");
    let column = cube.slice([Some(1), None, Some(2)]).expect("a slice");
    assert_eq!(column.to_ndarray::<1>(), Ok(array![14, 18, 22].view()));

    // Extents of 1 have any stride.
    let ones = HostTensor::new(&data, ONES).expect("a tensor");
    assert_eq!(
        ones.to_ndarray::<3>(),
        Ok(array![[[0], [2], [4], [6]]].view())
    );
}

#[test]
fn what_has_no_axes_is_an_error() {
    let data = numbers(36);
    let message = |result: Result<(), HostError>| result.expect_err("an error").to_string();

    let nested = HostTensor::new(&data, NESTED).expect("a tensor");
    assert_eq!(
        message(nested.to_ndarray::<2>().map(drop)),
        "mode 1 of (4,(2,3)):(6,(3,1)) is no axis, since its elements are not one stride apart"
    );
    assert_eq!(
        message(nested.to_ndarray::<3>().map(drop)),
        "(4,(2,3)):(6,(3,1)) has 2 modes, not 3"
    );
    let swizzled = HostTensor::new(&data, SWIZZLED).expect("a tensor");
    assert_eq!(
        message(swizzled.to_ndarray::<2>().map(drop)),
        "Sw<1,0,2> o 0 o (4,4):(4,1) has no axes, since a swizzle moves its elements"
    );
    let tensor = HostTensor::new(&data, ROWS).expect("a tensor");
    let tile = tensor
        .tiles::<RAGGED>()
        .expect("tiles")
        .last()
        .expect("a tile");
    assert!(matches!(
        tile.to_ndarray::<2>(),
        Err(HostError::Ragged { .. })
    ));
    assert!(matches!(
        Strided::new([3, 0], [1, 1], 0),
        Err(HostError::Layout(_))
    ));
    assert!(matches!(
        Strided::new([3, 2], [i64::MAX, 1], 0),
        Err(HostError::Layout(_))
    ));
}

#[test]
fn elements_are_written_through_views() {
    let mut data = vec![0; 15];
    let mut padded = HostTensorMut::new(&mut data, PADDED).expect("a tensor");
    padded.to_ndarray_mut::<2>().expect("a view").fill(1);
    assert_eq!(data, [1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0]);

    let turned = Strided::new([4, 3], [-1, 4], 3).expect("a layout");
    let mut turned = HostTensorMut::new(&mut data, turned).expect("a tensor");
    turned.to_ndarray_mut::<2>().expect("a view")[[1, 2]] = 9;
    assert_eq!(data[10], 9);

    let mut array = Array3::zeros((2, 3, 4));
    array.invert_axis(Axis(1));
    let view = array.view_mut().permuted_axes([2, 0, 1]);
    let mut tensor = HostTensorMut::from_ndarray(view).expect("a tensor");
    tensor[[3, 1, 2]] = 5;
    assert_eq!(array[[1, 2, 3]], 5);
}

#[test]
fn shared_elements_are_not_written() {
    let mut data = vec![0; 12];
    let mut windows = HostTensorMut::new(&mut data, WINDOWS).expect("a tensor");
    assert_eq!(
        windows.to_ndarray_mut::<2>().map(drop),
        Err(HostError::Shared {
            layout: "(3,4):(1,1)".to_owned(),
            first: 1,
            second: 3,
            value: 1
        })
    );
    let mut lopsided = HostTensorMut::new(&mut data, LOPSIDED).expect("a tensor");
    let refused = lopsided
        .to_ndarray_mut::<2>()
        .map(drop)
        .expect_err("an error");
    assert!(matches!(refused, HostError::NoView { .. }), "{refused}");
}

#[test]
fn gaps_belong_to_others() {
    let mut array = array![[0, 1, 2, 3], [4, 5, 6, 7]];
    // Both halves are lent at the same time, so neither may have the memory between its rows.
    let (left, right) = array.multi_slice_mut((s![.., ..2], s![.., 2..]));
    for half in [left, right] {
        let error = HostTensorMut::from_ndarray(half)
            .map(drop)
            .expect_err("an error");
        assert_eq!(
            error.to_string(),
            "an array of shape [2, 2] and strides [4, 1] has gaps, so that it is no slice"
        );
    }
    assert!(HostTensor::from_ndarray(array.slice(s![1.., ..])).is_ok());
    assert!(HostTensor::from_ndarray(array.slice(s![..0, ..])).is_err());
}

/// A tensor that another library would make, whose deleter counts.
struct Foreign {
    managed: DLManagedTensor,
    axes: [i64; 4],
    data: [f32; 12],
}

static DELETED: AtomicUsize = AtomicUsize::new(0);

/// Counts and frees.
///
/// # Safety
/// The context of the tensor is a `Foreign` in a box.
unsafe extern "C" fn count(tensor: *mut DLManagedTensor) {
    DELETED.fetch_add(1, Ordering::Relaxed);
    // SAFETY: as above.
    drop(unsafe { Box::from_raw((*tensor).manager_ctx.cast::<Foreign>()) });
}

/// A foreign tensor of 12 numbers, after `change`.
fn foreign(axes: [i64; 4], change: impl FnOnce(&mut DLManagedTensor)) -> Dlpack {
    let owner = Box::into_raw(Box::new(Foreign {
        managed: DLManagedTensor {
            dl_tensor: DLTensor {
                data: null_mut(),
                device: DLDevice::CPU,
                ndim: 2,
                dtype: DLDataType::of(ElementType::F32),
                shape: null_mut(),
                strides: null_mut(),
                byte_offset: 0,
            },
            manager_ctx: null_mut(),
            deleter: Some(count),
        },
        axes,
        data: std::array::from_fn(|i| i as f32),
    }));
    // SAFETY: the box is alive until `count` frees it.
    unsafe {
        let tensor = &raw mut (*owner).managed;
        (*tensor).dl_tensor.data = (&raw mut (*owner).data).cast();
        (*tensor).dl_tensor.shape = (&raw mut (*owner).axes).cast();
        (*tensor).dl_tensor.strides = (*tensor).dl_tensor.shape.add(2);
        (*tensor).manager_ctx = owner.cast();
        change(&mut *tensor);
        Dlpack::from_raw(tensor).expect("a tensor")
    }
}

#[test]
fn tensors_are_handed_over_and_back() {
    let layout = Strided::new([4, 3], [-1, 4], 3).expect("a layout");
    let ours = Dlpack::new(numbers(12), layout).expect("a tensor");
    let raw = ours.into_raw();
    // SAFETY: it was made above, and is used only here.
    let mut theirs = unsafe { Dlpack::from_raw(raw) }.expect("a tensor");
    let (data, expected) = (numbers(12), [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8]);
    assert!(
        theirs
            .tensor::<i32, 2>()
            .expect("a tensor")
            .iter()
            .eq(&expected)
    );
    theirs.tensor_mut::<i32, 2>().expect("a tensor")[[0, 2]] = 70;
    assert_eq!(theirs.tensor::<i32, 2>().expect("a tensor")[[0, 2]], 70);

    let lent = HostTensor::new(&data, layout).expect("a tensor");
    let read = lent.with_dlpack::<2, _>(|tensor| {
        assert_eq!((tensor.device, tensor.ndim), (DLDevice::CPU, 2));
        assert_eq!(tensor.dtype, DLDataType::of(ElementType::I32));
        assert_eq!(tensor.byte_offset, 12);
        // SAFETY: the tensor has two axes.
        unsafe { (*tensor.shape.add(1), *tensor.strides) }
    });
    assert_eq!(read, Ok((3, -1)));
    let short = Dlpack::new(numbers(11), layout);
    assert!(matches!(
        short,
        Err(HostError::OutOfBounds { value: 11, .. })
    ));
}

#[test]
fn foreign_tensors_are_checked() {
    let before = DELETED.load(Ordering::Relaxed);
    let refused = |axes, change: fn(&mut DLManagedTensor)| {
        let tensor = foreign(axes, change);
        tensor
            .tensor::<f32, 2>()
            .map(drop)
            .expect_err("an error")
            .to_string()
    };
    let rows = [3, 4, 4, 1];
    let fine = foreign(rows, |_| ());
    assert_eq!(fine.tensor::<f32, 2>().expect("a tensor")[[2, 3]], 11.0);
    let compact = foreign(rows, |tensor| tensor.dl_tensor.strides = null_mut());
    assert_eq!(compact.tensor::<f32, 2>().expect("a tensor")[[2, 1]], 9.0);
    let backwards = foreign([3, 4, -4, 1], |tensor| tensor.dl_tensor.byte_offset = 32);
    assert_eq!(backwards.tensor::<f32, 2>().expect("a tensor")[[2, 1]], 1.0);

    assert_eq!(
        fine.tensor::<i32, 2>()
            .map(drop)
            .expect_err("an error")
            .to_string(),
        "the elements are f32, not i32"
    );
    assert_eq!(
        fine.tensor::<f32, 3>()
            .map(drop)
            .expect_err("an error")
            .to_string(),
        "the tensor has 2 axes, not 3"
    );
    assert_eq!(
        refused(rows, |tensor| tensor.dl_tensor.device.device_type = 2),
        "the tensor is on a device of type 2, and the host's type is 1"
    );
    assert_eq!(
        refused(rows, |tensor| tensor.dl_tensor.dtype.lanes = 4),
        "the elements are 4 of 32 bits with the code 2, not f32"
    );
    assert_eq!(
        refused(rows, |tensor| tensor.dl_tensor.data = null_mut()),
        "the pointer to the elements is null"
    );
    assert!(refused(rows, |tensor| tensor.dl_tensor.byte_offset = 2).contains("no multiple of 4"));
    assert_eq!(
        refused([1 << 40, 1 << 22, 1 << 22, 1], |_| ()),
        "4611686018427387904 elements of 4 bytes are more than memory has"
    );
    assert!(matches!(
        foreign([0, 4, 4, 1], |_| ()).tensor::<f32, 2>().map(drop),
        Err(DlpackError::Layout(HostError::Layout(_)))
    ));
    drop((fine, compact, backwards));
    assert_eq!(DELETED.load(Ordering::Relaxed) - before, 9);
    // SAFETY: a null pointer is an error.
    assert!(unsafe { Dlpack::from_raw(null_mut()) }.is_err());
}
