/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of a project that used soft-RoCE: it opens the first device and registers memory. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	static char buffer[4096];
	int n = 0;
	struct ibv_device **list = ibv_get_device_list(&n);
	struct ibv_context *context = list && n > 0 ? ibv_open_device(list[0]) : NULL;
	struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
	struct ibv_mr *mr =
		pd ? ibv_reg_mr(pd, buffer, sizeof(buffer), IBV_ACCESS_LOCAL_WRITE) : NULL;

	if (!mr)
		return EXIT_FAILURE;
	printf("%d devices, the first is %s\n", n, ibv_get_device_name(list[0]));
	ibv_dereg_mr(mr);
	ibv_dealloc_pd(pd);
	ibv_close_device(context);
	ibv_free_device_list(list);
	return EXIT_SUCCESS;
}
