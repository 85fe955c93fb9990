/* SPDX-License-Identifier: BSD-2-Clause */
/* For test_got: a library, lazily bound, by whose name it could be a librdmacm. */
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

long ask_parent(void);
long ask_self(void);

EXPORT long ask_parent(void)
{
	return getppid();
}

EXPORT long ask_self(void)
{
	return getpid();
}
