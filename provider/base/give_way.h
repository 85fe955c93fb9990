/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving the processor away where there is nothing to do but to look again: a poll that found
 * nothing, a lock that somebody holds.
 */
#ifndef UHCAV_GIVE_WAY_H
#define UHCAV_GIVE_WAY_H

/*
 * Lets others run and comes back soon: with sched_yield(2), or after a sleep of some 50 us for a
 * while after a yield that took longer than a millisecond. For threads that look again at once;
 * errno is kept.
 */
void uhcav_give_way(void);

#endif
