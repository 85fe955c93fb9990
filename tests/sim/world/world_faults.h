/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fault rules in a world: one plan, and a net between each device and its links, as the daemon has
 * them. A device's packet goes through its net, over the link (whose own faults come then), and
 * through the net of the device where it arrives; packets with a wrong ICRC end there.
 */
#ifndef SIM_WORLD_FAULTS_H
#define SIM_WORLD_FAULTS_H

#include "emu/fault/net/net.h"
#include "world.h"

/* Once per world; rules may come at any time. */
void world_faults(struct world *w, uint64_t seed);

/* Adds a rule; fails the test, with the column, when it is refused. Returns its number. */
uint32_t world_rule(struct world *w, const char *text);

/* The same, but false when it is refused. */
bool world_try_rule(struct world *w, const char *text);

/* By name or number; fails the test when there is none. */
const struct fault_entry *world_rule_entry(struct world *w, const char *name);

/* The rule goes. */
void world_rule_remove(struct world *w, uint32_t number);

/* Fails the test when a rule never fired. */
void world_rules_check(struct world *w);

struct fault_plan *world_plan(struct world *w);

/* Device "i": its net, and packets that its ICRC check dropped. */
struct fault_net *world_net(struct world *w, unsigned i);
uint64_t world_bad_icrc(struct world *w, unsigned i);

/*
 * From now on everything is written to f: what the journal holds, what rules hit, what went no
 * further, what was made up.
 */
void world_trace(struct world *w, FILE *f);

/* ---- for world.c ---- */

void world_faults_destroy(struct world *w);
void world_faults_send(struct world *w, unsigned from, const struct core_burst *t);
void world_faults_arrive(struct world *w, unsigned to, const struct core_burst *t);
uint64_t world_faults_deadline(const struct world *w);
void world_faults_tick(struct world *w);

#endif
