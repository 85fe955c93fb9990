/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ucma_refused.h. The checks are turned on here when they are first needed: this library is in
 * every program, and has its findings apart from those of the plugin.
 */
#include "ucma_refused.h"

#include "provider/diagnostic/diagnostic.h"

#include <pthread.h>
#include <stdlib.h>

static void enable(void)
{
	const char *list = secure_getenv(UHCA_SANITIZE_ENV);
	uint64_t checks;

	if (list && *list && !uhcav_check_parse(list, &checks))
		uhcav_check_enable(checks);
}

void uhca_ucma_refused(char *why, size_t n, int err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!n)
		return;
	why[n - 1] = '\0';
	pthread_once(&once, enable);
	uhcav_diagnostic_refused("", why, err);
}
