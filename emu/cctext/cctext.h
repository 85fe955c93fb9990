/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Congestion controls as text: NAME[:KEY=VALUE[,KEY=VALUE]...], as options have it. Names,
 * parameters and their bounds are those of emu/core/cc.
 */
#ifndef CCTEXT_H
#define CCTEXT_H

#include "emu/core/cc/cc.h"
#include "emu/fabric/base/base.h"

#include <stdio.h>

/* Of nanoseconds in a fabric_spec_key, whose times are picoseconds. */
#define CCTEXT_NS UINT64_C(1000)

/*
 * The control that the text names, with its parameters. more: keys of the caller that may stand
 * among them, up to one without a name; NULL: none. 0, or -EINVAL, said in e.
 */
int cctext_read(struct cc_settings *s, const char *text, const struct fabric_spec_key *more,
		struct fabric_error *e);

/* All controls, each with its parameters and their usual values. */
void cctext_list(FILE *out);

#endif
