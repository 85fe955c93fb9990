/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What libfabric answers before anything is sent: which capabilities, default flags and wait
 * objects it grants to an endpoint of a kind. An answer other than the one that is known ends the
 * process.
 */
#ifndef TESTS_VERBS_FABRIC_GRANTS_H
#define TESTS_VERBS_FABRIC_GRANTS_H

#include "fabric_side.h"

/* Asks for all of it, and prints a row for each answer. */
void fabric_grants(struct side *s);

/* The n-th wait object that queues of this kind of endpoint can have; false when there is none. */
bool fabric_wait_at(size_t n, enum fi_ep_type type, enum fi_wait_obj *wait);

/* Its name, of one that fabric_wait_at gave. */
const char *fabric_wait_name(enum fi_wait_obj wait);

#endif
