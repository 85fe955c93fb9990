/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace of fault rules without what differs from run to run, so that traces can be compared:
 * times, the seed, PSNs, keys, addresses and numbers of clients are left out; QPs and CQs have the
 * numbers #1, #2 ... in their order; lines stand rule by rule, for which of two rules fires first
 * is often a matter of time.
 */
#ifndef CTL_TRACE_STABLE_H
#define CTL_TRACE_STABLE_H

#include <jansson.h>

/* lines: texts, as the daemon tells them. A new array, which the caller drops. */
json_t *trace_stable(const json_t *lines);

#endif
