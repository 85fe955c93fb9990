// SPDX-License-Identifier: BSD-2-Clause
package devices

import (
	"bytes"
	"os"
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

// Any goroutine, on whatever thread it runs.
func TestWrite(t *testing.T) {
	data := bytes.Repeat([]byte("uhca"), 1000)
	done := make(chan error)
	for i := 0; i < 4; i++ {
		go func() {
			came, err := Write(data)
			if err == nil && !bytes.Equal(came, data) {
				t.Error("other bytes arrived")
			}
			done <- err
		}()
	}
	for i := 0; i < 4; i++ {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Go makes its system calls itself: packages like os see the machine without the devices.
func TestFilesOfGo(t *testing.T) {
	entries, _ := os.ReadDir("/sys/class/infiniband")
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), "uhca") {
			t.Errorf("os.ReadDir sees %s", entry.Name())
		}
	}
}
