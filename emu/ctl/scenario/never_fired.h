/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why a rule never fired, from what the daemon tells of it ("fault", "list" in ctl.h): how many
 * packets, calls ... there were, and how many each of its words let through.
 */
#ifndef CTL_NEVER_FIRED_H
#define CTL_NEVER_FIRED_H

#include <jansson.h>
#include <stddef.h>

/* "it never fired: 12 packets were looked at; ...": into buf, which is returned. */
const char *ctl_never_fired(const json_t *rule, char *buf, size_t cap);

#endif
