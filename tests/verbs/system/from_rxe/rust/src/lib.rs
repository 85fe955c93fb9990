// SPDX-License-Identifier: BSD-2-Clause
//! A crate of a project that used soft-RoCE: it asks libibverbs for its devices.
use std::ffi::{c_char, c_int, c_void, CStr};

#[link(name = "ibverbs")]
extern "C" {
    fn ibv_get_device_list(count: *mut c_int) -> *mut *mut c_void;
    fn ibv_get_device_name(device: *mut c_void) -> *const c_char;
    fn ibv_free_device_list(list: *mut *mut c_void);
}

pub fn first_device() -> Option<String> {
    let mut count = 0;
    unsafe {
        let list = ibv_get_device_list(&mut count);
        if list.is_null() {
            return None;
        }
        let name = if count > 0 {
            Some(CStr::from_ptr(ibv_get_device_name(*list)).to_string_lossy().into_owned())
        } else {
            None
        };
        ibv_free_device_list(list);
        name
    }
}

#[test]
fn there_is_a_device() {
    assert_eq!(first_device().as_deref(), Some("uhca0"));
}
