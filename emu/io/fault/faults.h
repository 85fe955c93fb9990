/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's fault rules: one plan for all its devices, who must ask it, what its hits leave
 * behind, and what happens to devices in their name. Packets are shown to the plan by the fault
 * box of each device (fault_box.h); calls, completions and memory by those who carry them out,
 * who first look whether there is anything to ask:
 *
 *	if (io_faults_watch(f, FAULT_LAYER_CALL)) { fill in a subject; io_faults_decide(...); }
 *
 * What a hit asks for is the asker's business, except device actions (fault_action_is_of_device):
 * those go to io_fault_device_action.
 */
#ifndef IO_FAULTS_H
#define IO_FAULTS_H

#include "emu/fault/plan/plans.h"
#include "emu/io/device/devices.h"
#include "fault_cqe.h"
#include "fault_trace.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct io_client;
struct io_prompt;
struct io_device;
struct io_devices;
struct io_network;
struct io_settings;
struct io_tracer;
struct uhca_abi_status;

#define IO_FAULT_PENDING_MAX 256 /* device actions that wait for their moment */
#define IO_FAULT_RETURNS_MAX 256 /* what ends, or goes on, later */
#define IO_FAULT_PATHS_MAX   8   /* files of while_file of which the last answer is kept */

/* A device action that cannot take place where its rule fired: the core is in the middle of it. */
struct io_fault_pending {
	struct io_device *dev;
	enum fault_action action;
	struct fault_value value;
	uint32_t rule;
	uint32_t qpn, srq, cq, key;
};

/* What an action leaves for later: its end, or its next part. */
enum io_fault_then {
	IO_FAULT_THEN_UP,     /* the port */
	IO_FAULT_THEN_DOWN,   /* the port, once more */
	IO_FAULT_THEN_GIDS,   /* entries of the GID table come back */
	IO_FAULT_THEN_BACK,   /* the device is there again ... */
	IO_FAULT_THEN_REPLUG, /* ... with another uverbs number */
	IO_FAULT_THEN_WAKE,   /* the device hangs no longer */
};

struct io_fault_return {
	struct io_device *dev;
	uint64_t at;
	enum io_fault_then then;
	uint64_t down, up, times; /* of port.flap: what is left of it */
	uint64_t serial;          /* which dev.hang it ends */
};

/* Whether a file of while_file was there when its file system was last asked. */
struct io_fault_path {
	char path[FAULT_TEXT_MAX]; /* "": none */
	bool is_there;
};

/* What the rules need of the daemon; all of it stays the daemon's. */
struct io_faults_env {
	const struct io_settings *settings;
	const struct io_devices *devices;
	struct io_tracer *tracer;
	struct uhca_abi_status *status;
	const char *dir;            /* of the instance */
	struct io_network *network; /* NULL: none; known once there are devices */
	/* The device fails; returns how many clients had it open. */
	unsigned (*fatal)(void *user, const struct io_device *dev);
	/* Doorbells of those who have it open are heard no more, or again. */
	void (*pause)(void *user, const struct io_device *dev, bool on);
	void *user; /* of fatal and pause */
};

struct io_faults {
	struct io_faults_env env;
	struct fault_plan *plan;
	uint32_t watched; /* bit l for layer l: a rule of it is there */
	struct io_fault_trace trace;
	struct io_prompt *files; /* asks for files of while_file; NULL: asked directly */
	struct io_fault_path path[IO_FAULT_PATHS_MAX];
	unsigned next_path;         /* whose place is taken next */
	struct io_prompt *ports;    /* writes the files of ports; NULL: written directly */
	struct io_fault_late *late; /* changes of files that wait (fault_files.c) */
	unsigned n_late;
	bool is_down[IO_MAX_DEVICES];
	uint64_t began; /* when the first rule came; 0: none did */
	struct io_fault_pending pending[IO_FAULT_PENDING_MAX];
	unsigned n_pending;
	struct io_fault_return returns[IO_FAULT_RETURNS_MAX];
	unsigned n_returns;
	unsigned replugs;          /* uverbs numbers given since the start */
	struct io_fault_cqes cqes; /* fault_cqe.c */
	unsigned n_cqes;
	uint64_t cqes_due; /* when the first of them is, or before */
	bool judges;       /* ports of the network ask */
	bool armed;        /* io_faults_deadline may have something to say */
	bool stale;        /* a rule hit: perhaps it was its last time, and nobody needs to ask */
};

/* Makes the empty plan, before there are devices. 0 or -ENOMEM. */
int io_faults_create(struct io_faults *f, const struct io_faults_env *env);

/*
 * Puts the rules of the settings into it, once the devices are there. 0, -ENOMEM, -EINVAL or what
 * open(2) says of a file of rules; logged, with line and column.
 */
int io_faults_start(struct io_faults *f);

/* After the devices' boxes are gone. */
void io_faults_destroy(struct io_faults *f);

/*
 * fault_plan_add, _change, _remove and _clear, told to the trace. Of several changes one
 * io_faults_changed is enough.
 */
int io_faults_add(struct io_faults *f, const char *text, uint64_t now, struct fault_error *error);
int io_faults_change(struct io_faults *f, uint32_t number, const char *text, uint64_t now,
		     struct fault_error *error);
int io_faults_remove(struct io_faults *f, uint32_t number, uint64_t now);
void io_faults_clear(struct io_faults *f, uint64_t now);

/* The newest n rules are there to stay: tells the trace of them. */
void io_faults_trace_added(struct io_faults *f, unsigned n, uint64_t now);

/* To be called after each change of the plan: who needs to ask is found out anew. */
void io_faults_changed(struct io_faults *f);

/* Must this layer be shown to the plan? One load and one test. */
static inline bool io_faults_watch(const struct io_faults *f, enum fault_layer layer)
{
	return (f->watched >> layer) & 1;
}

/* Fills in who asks: device, client and program. c may be NULL. */
void io_fault_subject(struct fault_subject *s, enum fault_layer layer, const struct io_device *dev,
		      const struct io_client *c);

/*
 * fault_plan_decide, with device actions seen to already: *hit holds the others only. Entries are
 * valid until the plan changes.
 */
unsigned io_faults_decide(struct io_faults *f, struct io_device *dev, const struct fault_subject *s,
			  uint64_t now, const struct fault_entry *hit[FAULT_HITS_MAX]);

/* How long a rule that hit delays: its time, and by chance up to its jitter more. */
uint64_t io_faults_delay(const struct io_faults *f, const struct fault_entry *e);

/*
 * What a rule lets happen to a device: at once where the core can bear it, that is, for packets,
 * calls and the clock; in the next io_faults_tick for completions and memory, whose hooks are
 * called by the core, and whenever clients go away or the daemon stands still.
 */
void io_fault_device_action(struct io_faults *f, struct io_device *dev, const struct fault_entry *e,
			    const struct fault_subject *s, uint64_t now);

/* One device action, in the next io_faults_tick. */
void io_fault_later(struct io_faults *f, const struct io_fault_pending *p);

/* One device action, now: fault_device_action.c. */
void io_fault_execute(struct io_faults *f, const struct io_fault_pending *p, uint64_t now);

/*
 * Takes the link of a device up or down, files first: 0 or -errno of the files. Where their file
 * system does not answer it goes on without them; io_fault_files_again tries them later.
 */
int io_fault_port(struct io_faults *f, struct io_device *dev, bool up);

/* Makes the changes of files that wait. To be called now and then. */
void io_fault_files_again(struct io_faults *f);

/*
 * Does at once what a rule of the clock would do, and leaves no rule: for one of the actions to the
 * device or network, without limits. The number of devices, or of links, switches or hosts of the
 * network; -EINVAL (see *error).
 */
int io_faults_now(struct io_faults *f, const char *text, uint64_t now, struct fault_error *error);

/* What is due: device actions that waited, rules of time, delayed packets, ports that return. */
void io_faults_tick(struct io_faults *f, uint64_t now);

/* Earliest time at which io_faults_tick has something to do; UINT64_MAX: none. */
uint64_t io_faults_deadline(const struct io_faults *f);

#endif
