// SPDX-License-Identifier: BSD-2-Clause
//! The names of this machine's RDMA devices, asked of libibverbs itself.
use std::ffi::CStr;
use std::os::raw::{c_char, c_int};
use std::io::{Error, Result};

#[repr(C)]
struct Device {
    _private: [u8; 0],
}

#[link(name = "ibverbs")]
extern "C" {
    fn ibv_get_device_list(num: *mut c_int) -> *mut *mut Device;
    fn ibv_free_device_list(list: *mut *mut Device);
    fn ibv_get_device_name(device: *mut Device) -> *const c_char;
}

/// Names of the devices, in libibverbs' order; the errno of the call where it fails.
pub fn names() -> Result<Vec<String>> {
    let mut count: c_int = 0;
    // SAFETY: count is there during the call; the list has that many devices until it is freed.
    unsafe {
        let list = ibv_get_device_list(&mut count);
        if list.is_null() {
            return Err(Error::last_os_error());
        }
        let names = (0..count as usize)
            .map(|i| CStr::from_ptr(ibv_get_device_name(*list.add(i))))
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        ibv_free_device_list(list);
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_devices() {
        assert_eq!(super::names().unwrap(), ["uhca0", "uhca1"]);
    }
}
