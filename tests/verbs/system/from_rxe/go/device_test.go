// SPDX-License-Identifier: BSD-2-Clause

package fromrxe

import "testing"

func TestFirstDevice(t *testing.T) {
	if name := FirstDevice(); name != "uhca0" {
		t.Fatalf("the first device is %q", name)
	}
}
