/* SPDX-License-Identifier: BSD-2-Clause */
/* Random bytes of the kernel. */
#include "random.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* getrandom(2) gives up to 256 bytes whole; a kernel without it could run nothing of this. */
void io_random(void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len > 0) {
		ssize_t n = getrandom(p, len, 0);

		if (n < 0 && errno != EINTR)
			abort();
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
}
