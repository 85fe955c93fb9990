/* SPDX-License-Identifier: BSD-2-Clause */
/* A fuzz input as a tape: bytes are taken from its front, and behind its end stand zeros. */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* Takes n bytes into buf. */
static inline void input_bytes(struct fuzz_input *in, void *buf, size_t n)
{
	size_t have = n < in->left ? n : in->left;

	memset(buf, 0, n);
	if (have)
		memcpy(buf, in->at, have);
	in->at += have;
	in->left -= have;
}

static inline uint8_t input_u8(struct fuzz_input *in)
{
	uint8_t v;

	input_bytes(in, &v, sizeof v);
	return v;
}

static inline uint16_t input_u16(struct fuzz_input *in)
{
	uint16_t v;

	input_bytes(in, &v, sizeof v);
	return v;
}

static inline uint32_t input_u32(struct fuzz_input *in)
{
	uint32_t v;

	input_bytes(in, &v, sizeof v);
	return v;
}

static inline uint64_t input_u64(struct fuzz_input *in)
{
	uint64_t v;

	input_bytes(in, &v, sizeof v);
	return v;
}

#endif
