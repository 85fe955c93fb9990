/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the process holds that no sanitizer counts: descriptors, and mappings of the regions that a
 * fake daemon made (it maps them, too). A test takes the numbers before and compares them after.
 */
#ifndef TESTS_SUPPORT_HOLDINGS_H
#define TESTS_SUPPORT_HOLDINGS_H

struct holdings {
	unsigned descriptors, mappings;
};

struct holdings holdings_now(void);

/* Waits until they are as they were; fails the test when they are not in time. */
void holdings_assert(struct holdings before);

#endif
