// SPDX-License-Identifier: BSD-2-Clause

// Package devices asks libibverbs for the names of this machine's RDMA devices.
package devices

// #cgo LDFLAGS: -libverbs
// #include <infiniband/verbs.h>
import "C"

import "unsafe"

// Names returns them in libibverbs' order, or the errno of the call where it fails.
func Names() ([]string, error) {
	var count C.int
	list, err := C.ibv_get_device_list(&count)
	if list == nil {
		return nil, err
	}
	defer C.ibv_free_device_list(list)
	names := []string{}
	for _, device := range unsafe.Slice(list, int(count)) {
		names = append(names, C.GoString(C.ibv_get_device_name(device)))
	}
	return names, nil
}
