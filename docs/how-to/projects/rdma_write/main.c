/* SPDX-License-Identifier: BSD-2-Clause */
/* A test that knows nothing of uhca: its launcher gives it a device. */
#include "rdma_write.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
	int ret = rdma_write_loopback(10000);

	printf("10000 bytes: %s\n", ret ? strerror(-ret) : "written");
	return ret != 0;
}
