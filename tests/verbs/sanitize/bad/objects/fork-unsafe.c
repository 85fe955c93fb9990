/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/verbs/sanitize/pair.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	struct pair p;
	pid_t child;

	pair_open(&p);

	child = fork(); /* <- */
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);

	pair_close(&p);
	return 0;
}
