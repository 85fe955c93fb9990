// SPDX-License-Identifier: BSD-2-Clause
package devices

import (
	"strings"
	"testing"
)

func TestTwoDevices(t *testing.T) {
	names, err := Names()
	if err != nil {
		t.Fatal(err)
	}
	if said := strings.Join(names, " "); said != "uhca0 uhca1" {
		t.Errorf("the devices are: %s", said)
	}
}
