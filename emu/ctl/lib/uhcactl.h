/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libuhcactl: fault rules, events and counters of an emulated device, for tests. A test opens a
 * device with libibverbs as ever, puts a rule in force, and sees what its program does:
 *
 *	struct uhcactl_error error;
 *	struct uhcactl *ctl = uhcactl_open(NULL, &error);
 *	int rule = uhcactl_fault_add(ctl, "call.fail=ENOMEM call=create_qp", &error);
 *	...
 *	uhcactl_fault_remove(ctl, rule, NULL);
 *	uhcactl_close(ctl);
 *
 * Link with -luhcactl. uhcactl(3) tells the details, uhca-fault(7) what a rule can say.
 *
 * What returns int returns 0 or more, or -errno: EINVAL, what was asked for was refused, as a rule
 * with a mistake; ENOENT, there is no such rule or counter; ETIMEDOUT; EIO, no daemon answers;
 * ENOMEM. "error" may be NULL; else it is filled in when a function fails. An instance can be used
 * by several threads at a time.
 */
#ifndef UHCACTL_H
#define UHCACTL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct uhcactl;

struct uhcactl_error {
	unsigned column; /* of the wrong word of a rule, from 1; 0: it is not about a rule's text */
	char text[252];
};

/*
 * The instance: NULL for the one that the program runs in (UHCA_DIR), or "default" outside of
 * uhca-run; the name of a shared one; or, with a slash in it, a directory. NULL when no daemon
 * answers there.
 */
struct uhcactl *uhcactl_open(const char *instance, struct uhcactl_error *error);

/* Rules stay as they are. c may be NULL. */
void uhcactl_close(struct uhcactl *c);

/* Puts a rule in force; returns its number, from 1. */
int uhcactl_fault_add(struct uhcactl *c, const char *rule, struct uhcactl_error *error);

/*
 * Does at once what a rule would do to a device, and leaves no rule: "dev.unplug=2s dev=uhca1",
 * "port.flap=down:1s,up:1s,times:3". Returns the number of devices.
 */
int uhcactl_fault_now(struct uhcactl *c, const char *action, struct uhcactl_error *error);

/* Puts another rule in the place of one; it counts anew. */
int uhcactl_fault_change(struct uhcactl *c, int number, const char *rule,
			 struct uhcactl_error *error);

int uhcactl_fault_remove(struct uhcactl *c, int number, struct uhcactl_error *error);
int uhcactl_fault_clear(struct uhcactl *c, struct uhcactl_error *error);

/* How often the rule has fired, or -errno. */
int64_t uhcactl_fault_hits(struct uhcactl *c, int number, struct uhcactl_error *error);

/* Waits until the rule has fired so often, at most timeout_ms: 0, or -ETIMEDOUT. */
int uhcactl_fault_wait(struct uhcactl *c, int number, uint64_t hits, unsigned timeout_ms,
		       struct uhcactl_error *error);

/*
 * device may be NULL where there is only one. Names of events as "uhcactl event" has them, with
 * their object where they are of one: "GID_CHANGE", "QP_FATAL qp=0x1234".
 */
int uhcactl_event(struct uhcactl *c, const char *device, const char *name,
		  struct uhcactl_error *error);
int uhcactl_port(struct uhcactl *c, const char *device, int up, struct uhcactl_error *error);
int uhcactl_device_fatal(struct uhcactl *c, const char *device, struct uhcactl_error *error);

/* What the device has counted since the daemon's start, by a name of "uhcactl counters". */
int uhcactl_counter(struct uhcactl *c, const char *device, const char *name, uint64_t *value,
		    struct uhcactl_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
