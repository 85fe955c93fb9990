// SPDX-License-Identifier: BSD-2-Clause

// Package fromrxe is of a project that used soft-RoCE: it asks libibverbs for its devices.
package fromrxe

/*
#cgo LDFLAGS: -libverbs
#include <infiniband/verbs.h>
*/
import "C"

import "unsafe"

// FirstDevice is the name of the first device, or empty.
func FirstDevice() string {
	var count C.int
	list := C.ibv_get_device_list(&count)
	if list == nil {
		return ""
	}
	defer C.ibv_free_device_list(list)
	if count == 0 {
		return ""
	}
	return C.GoString(C.ibv_get_device_name(*(**C.struct_ibv_device)(unsafe.Pointer(list))))
}
