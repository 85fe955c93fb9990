/* SPDX-License-Identifier: BSD-2-Clause */
/* splitmix64 (public domain, S. Vigna), the seed's source, and the line that reports it. */
#include "prng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t clock_seed(void)
{
	struct timespec now;

	if (timespec_get(&now, TIME_UTC) != TIME_UTC)
		return 1;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct prng prng_start(const char *who)
{
	const char *text = getenv("UHCA_SEED");
	uint64_t seed;

	if (text && *text) {
		char *end;

		errno = 0;
		seed = strtoull(text, &end, 0);
		if (errno || *end) {
			fprintf(stderr, "UHCA_SEED is not a number: %s\n", text);
			exit(2);
		}
	} else {
		seed = clock_seed();
	}
	printf("# %s: UHCA_SEED=0x%llx\n", who, (unsigned long long)seed);
	fflush(stdout);
	return (struct prng){seed};
}

uint64_t prng_u64(struct prng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

void prng_fill(struct prng *r, void *buf, size_t len)
{
	uint8_t *p = buf;

	while (len) {
		const uint64_t v = prng_u64(r);
		const size_t n = len < sizeof(v) ? len : sizeof(v);

		memcpy(p, &v, n);
		p += n;
		len -= n;
	}
}
