/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See marker.h. The page lies from 0x566000000000 to 0x568000000000 (86.4 to 86.5 TiB). On x86-64
 * and arm64 nothing is there by itself:
 *
 * - A position-independent program starts at two thirds of the address space and at most 1 TiB
 *   behind (x86-64: up to 0x565555554000); its heap follows.
 * - Libraries lie at the end of the address space, below the room for the stack. A stack limit of
 *   some 40 TiB would bring them here; a set-user-ID program has no more than 8 MiB for its stack.
 * - A program built with ThreadSanitizer or MemorySanitizer ends when it maps a page outside of a
 *   few ranges; this one is in a range of each, and outside AddressSanitizer's shadow memory.
 *
 * The page is at one of 2 * 10^6 places, so that a program cannot map something there by design.
 */
#include "marker.h"

#include "emu/io/base/base.h"

#define PLACE (UINT64_C(1) << 16) /* the largest page of an architecture */
#define FROM  UINT64_C(0x566000000000)
#define TO    UINT64_C(0x568000000000)

uint64_t io_marker_draw(void)
{
	uint64_t random;

	if (UINTPTR_MAX < TO)
		return 0;
	io_random(&random, sizeof(random));
	return FROM + random % ((TO - FROM) / PLACE) * PLACE;
}
