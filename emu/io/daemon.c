/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes the daemon's parts from the settings, and takes them apart in reverse order. */
#include "daemon.h"

#include "emu/abi/ucma_call.h"
#include "emu/io/base/base.h"
#include "emu/io/capture/captures.h"
#include "emu/io/fault/fault.h"
#include "emu/io/sandbox/sandbox.h"
#include "last_words.h"
#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#define LAST_MS 1000 /* for what is still closed when the daemon ends */

/* A queue costs a mapping, a client a handful of descriptors, a flow a socket. */
static void raise_limits(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= r.rlim_max)
		return;
	r.rlim_cur = r.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		io_log(IO_LOG_WARN, "cannot raise the limit of open files: %s", strerror(errno));
}

static int open_status(struct io_daemon *d)
{
	struct uhca_abi_status *s;
	int error = io_shm_create(&d->status, "uhca-status", sizeof(*s), true);

	if (error < 0)
		return error;
	s = d->status.base;
	s->region.magic = UHCA_ABI_MAGIC;
	s->region.version = UHCA_ABI_VERSION;
	s->region.kind = UHCA_ABI_REGION_STATUS;
	s->region.size = d->status.size;
	if (getrandom(&s->epoch, sizeof(s->epoch), 0) < 0)
		s->epoch = io_clock_wall();
	s->hears = 1;
	return 0;
}

/* ---- devices ---- */

static int same_address(const struct io_daemon *d, const struct io_identity *id)
{
	char text[IO_ADDRESS_TEXT];

	for (unsigned i = 0; i < id->addresses.count; i++) {
		const uint8_t *gid = id->addresses.a[i].gid;

		if (!io_fabric_find(&d->fabric, gid))
			continue;
		io_log(IO_LOG_ERROR, "two devices cannot share the address %s",
		       io_address_format(gid, text));
		return -EINVAL;
	}
	return 0;
}

/* Connects the boxes of a device; how it was made so far tells what it has. */
static void stack_port(struct io_daemon *d, struct io_port *p)
{
	io_pcap_box_init(&p->pcap, &d->capture, &d->tracer.recorder,
			 io_capture_add_interface(&d->capture, p->dev.id.name));
	p->pcap.core = p->dev.core;
	p->dev.pcap = &p->pcap;
	p->dev.fault = &p->fault;
	p->dev.net = p->fault.net;
	p->dev.loopback = &p->loopback;
	io_loopback_init(&p->loopback, &d->fabric, &p->dev,
			 d->network || d->settings.wire == IO_WIRE_ALWAYS);
	netif_stack(&p->dev.top, &p->fault.netif);
	netif_stack(&p->fault.netif, &p->pcap.netif);
	netif_stack(&p->pcap.netif, &p->loopback.netif);
	if (d->network) {
		io_network_join(d->network, &p->network, &p->dev);
		netif_stack(&p->pcap.netif, &p->network.netif);
		netif_stack(&p->network.netif, &p->loopback.netif);
	}
	if (p->udp.n_sockets > 0)
		netif_stack(&p->loopback.netif, &p->udp.netif);
	p->dev.bottom = &p->loopback.netif;
}

static bool is_own(const void *fabric, const uint8_t gid[16])
{
	return io_fabric_find(fabric, gid) != NULL;
}

static void say_cannot_make(const char *name, int error)
{
	struct rlimit limit = {0};

	if (error == -EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
		io_log(IO_LOG_ERROR,
		       "cannot create device %s: %s: the limit is %llu descriptors; raise it "
		       "(ulimit -n) or use fewer devices",
		       name, strerror(-error), (unsigned long long)limit.rlim_cur);
	else
		io_log(IO_LOG_ERROR, "cannot create device %s: %s", name, strerror(-error));
}

/* A port comes up at the speed of its link. */
static void take_speed(const struct io_daemon *d, struct io_port *p)
{
	const uint64_t rate = io_network_rate(d->network, &p->dev);

	core_port_name_speed(p->dev.core, rate > 100000000 ? (uint32_t)(rate / 100000000) : 1);
	p->dev.id.mbit = rate > 1000000 ? (unsigned)(rate / 1000000) : 1;
	p->dev.config.look.port[0] = *core_port_look(p->dev.core, 1);
	p->dev.id.rate = core_port_link(p->dev.core)->text;
}

static int add_port(struct io_daemon *d, struct io_port *p, unsigned index)
{
	struct io_identity id;
	int error = io_identity_of(&d->settings, index, &id);

	if (error == 0)
		error = same_address(d, &id);
	if (error < 0)
		return error;
	error = io_udp_open(&p->udp, d->loop, &d->settings, &id);
	if (error < 0)
		return error;
	error = io_device_create(&p->dev, io_core_ops(), &d->settings, &id, io_udp_window(&p->udp));
	if (error < 0)
		goto close_udp;
	p->dev.faults = &d->faults;
	if (d->network)
		take_speed(d, p);
	error = io_fault_box_init(&p->fault, &d->faults, &p->dev);
	if (error < 0)
		goto destroy_device;
	stack_port(d, p);
	error = io_fabric_add(&d->fabric, &p->dev);
	if (error < 0)
		goto destroy_device;
	p->udp.blocked = &p->dev.blocked;
	p->udp.rx.is_own = is_own;
	p->udp.rx.own = &d->fabric;
	p->udp.errors = (struct io_udp_errors){io_pcap_unreachable, p->dev.pcap};
	p->dev.udp = p->udp.n_sockets > 0 ? &p->udp : NULL;
	error = io_sysfs_add(d->instance.dir, &p->dev.id);
	if (error == 0)
		error = io_counter_files_open(&p->counters, d->instance.dir, &p->dev);
	if (error < 0)
		goto destroy_device;
	if (d->devices.n > 0)
		core_share_memory(p->dev.core, d->devices.at[0]->core);
	d->devices.at[d->devices.n++] = &p->dev;
	io_tracer_hooks(&d->tracer);
	return 0;
destroy_device:
	io_fault_box_destroy(&p->fault);
	io_device_destroy(&p->dev);
close_udp:
	io_udp_close(&p->udp);
	say_cannot_make(id.name, error);
	return error;
}

/* The link of a host in the modelled network is that of its device. */
static void link_changed(void *daemon, struct io_device *dev, bool up)
{
	struct io_daemon *d = daemon;

	io_fault_port(&d->faults, dev, up);
}

static int open_network(struct io_daemon *d)
{
	int error = io_network_create(&d->network, &d->settings, &d->fabric, &d->devices,
				      io_clock_now());

	if (error < 0)
		return error;
	d->network->link = link_changed;
	d->network->user = d;
	d->faults.env.network = d->network;
	return 0;
}

static int open_ports(struct io_daemon *d)
{
	int error = io_sysfs_create(d->instance.dir, d->settings.devices);

	if (error == 0 && d->settings.machine)
		error = io_sysfs_machine(d->instance.dir, d->settings.machine);
	if (error < 0) {
		io_log(IO_LOG_ERROR, "cannot create files in %s: %s", d->instance.dir,
		       strerror(-error));
		return error;
	}
	d->ports = calloc(d->settings.devices, sizeof(*d->ports));
	if (!d->ports)
		return -ENOMEM;
	if (d->settings.fabric)
		error = open_network(d);
	for (unsigned i = 0; i < d->settings.devices && error == 0; i++)
		error = add_port(d, &d->ports[i], i);
	if (error < 0)
		return error;
	d->devices.cap = d->ports[0].dev.config.burst_bytes;
	d->devices.buf = aligned_alloc(4096, (d->devices.cap + 4095) & ~(size_t)4095);
	return d->devices.buf ? 0 : -ENOMEM;
}

static void close_ports(struct io_daemon *d)
{
	for (unsigned i = 0; i < d->devices.n; i++) {
		io_counter_files_close(&d->ports[i].counters);
		io_udp_close(&d->ports[i].udp);
		io_fault_box_destroy(&d->ports[i].fault);
		io_device_destroy(&d->ports[i].dev);
	}
	io_network_destroy(d->network);
	io_fabric_destroy(&d->fabric);
	free(d->ports);
	free(d->devices.buf);
}

/* ---- clients ---- */

static int open_clients(struct io_daemon *d)
{
	d->clients = (struct io_clients){.loop = d->loop,
					 .watches = &d->shared,
					 .idle_timeout = &d->idle_timeout,
					 .devices = &d->devices,
					 .tracer = &d->tracer,
					 .mem = d->settings.mem,
					 .pin = d->settings.pin,
					 .status_fd = d->status.fd,
					 .ops = &io_fault_clients_ops,
					 .user = &d->faults};
	return io_clients_open(&d->clients);
}

/* ---- faults ---- */

/*
 * The device fails: every client that has it open is disconnected, which is DEVICE_FATAL to it,
 * its objects go, its peers time out. Whoever opens the device afterwards finds it working.
 * Returns how many clients there were.
 */
static unsigned fatal(void *daemon, const struct io_device *dev)
{
	struct io_daemon *d = daemon;
	struct io_words w;
	unsigned n;

	io_log(IO_LOG_WARN, "%s: fatal error, requested by uhcactl or a rule", dev->id.name);
	io_ucma_remove_device(&d->ucma, dev);
	n = io_clients_remove_of(&d->clients, dev);
	io_trace_fatal(&w, dev->id.name, n);
	io_tracer_say(&d->tracer, dev->id.name, &w);
	return n;
}

static void pause_clients(void *daemon, const struct io_device *dev, bool on)
{
	struct io_daemon *d = daemon;

	io_clients_pause_of(&d->clients, dev, on);
}

static int create_faults(struct io_daemon *d)
{
	const struct io_faults_env env = {.settings = &d->settings,
					  .devices = &d->devices,
					  .tracer = &d->tracer,
					  .status = d->status.base,
					  .dir = d->instance.dir,
					  .fatal = fatal,
					  .pause = pause_clients,
					  .user = d};

	return io_faults_create(&d->faults, &env);
}

/* ---- what time brings ---- */

struct counting {
	struct io_task task;
	struct io_daemon *d;
	unsigned n;
	struct io_counter_values of[]; /* n ports */
};

static void write_counters(struct io_task *t)
{
	struct counting *c = (struct counting *)t;

	for (unsigned i = 0; i < c->n; i++)
		io_counter_values_write(&c->of[i]);
}

static void counters_written(struct io_task *t)
{
	static struct io_log_limit limit;
	struct counting *c = (struct counting *)t;
	uint32_t held;

	for (unsigned i = 0; i < c->n; i++) {
		struct io_port *p = &c->d->ports[i];

		io_counter_files_note(&p->counters, &c->of[i]);
		if (c->of[i].error < 0 && io_log_limit(&limit, 1, io_clock_now(), &held))
			io_log(IO_LOG_WARN, "%s: cannot write the counter files: %s (%u more)",
			       p->dev.id.name, strerror(-c->of[i].error), held);
	}
	c->d->counting = false;
	free(c);
}

/* While a thread is still at it, with a file system that does not answer, they wait. */
static void on_counters(struct ev_loop *loop, ev_timer *w, int revents)
{
	struct io_daemon *d = w->data;
	struct counting *c;

	(void)loop;
	(void)revents;
	io_fault_files_again(&d->faults);
	c = d->counting ? NULL : calloc(1, sizeof(*c) + d->devices.n * sizeof(c->of[0]));
	if (!c)
		return;
	c->task = (struct io_task){.work = write_counters, .done = counters_written};
	c->d = d;
	c->n = d->devices.n;
	for (unsigned i = 0; i < c->n; i++)
		io_counter_files_collect(&d->ports[i].counters, &c->of[i]);
	d->counting = io_task_start(d->tasks, &c->task) == 0;
	if (!d->counting)
		free(c);
}

static void on_idle_timeout(struct io_idle_timeout *l)
{
	struct io_daemon *d =
		(struct io_daemon *)((char *)l - offsetof(struct io_daemon, idle_timeout));

	io_log(IO_LOG_INFO, "no client or uhcactl for %u s; exiting", l->seconds);
	d->stop = true;
}

static void on_end(void *daemon, int signum)
{
	struct io_daemon *d = daemon;

	io_log(IO_LOG_INFO, "signal %d; exiting", signum);
	d->stop = true;
}

static int open_loop(struct io_daemon *d)
{
	d->loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
	if (!d->loop)
		return -ENOMEM;
	io_idle_timeout_init(&d->idle_timeout, d->loop, d->settings.idle_timeout, on_idle_timeout);
	ev_timer_init(&d->counters, on_counters, 1, 0);
	d->counters.data = d;
	d->signals = (struct io_signals){.loop = d->loop, .end = on_end, .user = d};
	io_signals_open(&d->signals);
	d->tasks = io_tasks_open(d->loop);
	if (!d->tasks)
		return -ENOMEM;
	d->tracer.tasks = d->tasks;
	return io_watches_open(&d->shared, d->loop);
}

/* ---- all of it ---- */

static int open_ctl(struct io_daemon *d, const char *path)
{
	d->ctl.loop = d->loop;
	d->ctl.idle_timeout = &d->idle_timeout;
	d->ctl.services = (struct io_services){.devices = &d->devices,
					       .tracer = &d->tracer,
					       .clients = &d->clients,
					       .faults = &d->faults,
					       .ucma = &d->ucma,
					       .network = d->network,
					       .tasks = d->tasks,
					       .loop = d->loop};
	return io_ctl_open(&d->ctl, path);
}

static int open_ucma(struct io_daemon *d, const char *path)
{
	const struct io_ucma_env env = {.loop = d->loop,
					.watches = &d->shared,
					.idle_timeout = &d->idle_timeout,
					.devices = &d->devices,
					.fabric = &d->fabric,
					.clients = &d->clients,
					.faults = &d->faults};

	return io_ucma_open(&d->ucma, &env, path);
}

static int open_sockets(struct io_daemon *d)
{
	char path[PATH_MAX];
	int error = open_clients(d);

	if (error < 0)
		return error;
	d->clients_at.accept = io_clients_add;
	d->clients_at.arg = &d->clients;
	io_instance_file(&d->instance, "sock", path);
	error = io_listener_open(&d->clients_at, d->loop, path, SOCK_SEQPACKET);
	if (error == 0) {
		io_instance_file(&d->instance, "ctl", path);
		error = open_ctl(d, path);
	}
	if (error == 0) {
		io_instance_file(&d->instance, UHCA_UCMA_SOCKET, path);
		error = open_ucma(d, path);
	}
	if (error < 0)
		io_log(IO_LOG_ERROR, "cannot listen on %s: %s", path, strerror(-error));
	return error;
}

int io_daemon_create(struct io_daemon *d, const struct io_settings *settings,
		     const struct io_instance *instance)
{
	int error;

	memset(d, 0, sizeof(*d));
	d->settings = *settings;
	d->instance = *instance;
	d->clients_at.fd = d->ctl.listener.fd = d->ucma.listener.fd = d->status.fd = d->shared.fd =
		-1;
	io_capture_init(&d->capture);
	io_tracer_create(&d->tracer, &d->capture, &d->devices, d->settings.on_error);
	d->tracer.stand_more = io_ucma_stand;
	d->tracer.stand_user = &d->ucma;
	raise_limits();
	if (d->settings.pin != UHCA_ABI_PIN_OFF)
		io_arena_watch_open();
	error = open_loop(d);
	if (error == 0)
		error = open_status(d);
	if (error == 0)
		error = create_faults(d);
	if (error == 0)
		error = open_ports(d);
	if (error == 0)
		error = io_faults_start(&d->faults);
	if (error == 0)
		error = open_sockets(d);
	if (error < 0) {
		io_daemon_destroy(d);
		return error;
	}
	io_idle_timeout_start(&d->idle_timeout);
	return 0;
}

void io_daemon_confine(struct io_daemon *d)
{
	io_sandbox_enter(d->loop, !d->settings.no_sandbox);
}

static void close_loop(struct io_daemon *d)
{
	io_sandbox_leave(d->loop);
	io_idle_timeout_stop(&d->idle_timeout);
	ev_timer_stop(d->loop, &d->counters);
	io_signals_close(&d->signals);
	io_watches_close(&d->shared);
	ev_loop_destroy(d->loop);
	d->loop = NULL;
}

static void end_instance(void *instance)
{
	io_instance_close(instance);
}

/* Where the file system of its directory does not answer, the files stay, and the lock goes with
 * us. */
static void close_instance(struct io_daemon *d)
{
	struct io_prompt *p = io_prompt_open();

	_Static_assert(sizeof(d->instance) <= IO_PROMPT_ROOM, "room for the question");
	if (!p || !io_prompt_begin(p))
		io_instance_close(&d->instance);
	else
		io_prompt_ask(p, end_instance, &d->instance, sizeof(d->instance), LAST_MS);
	io_prompt_close(p);
}

void io_daemon_destroy(struct io_daemon *d)
{
	io_tracer_hurry(&d->tracer);
	io_tasks_close(d->tasks, LAST_MS);
	d->tasks = d->tracer.tasks = NULL;
	io_ctl_close(&d->ctl);
	io_listener_close(&d->clients_at);
	io_ucma_close(&d->ucma);
	io_clients_close(&d->clients);
	io_last_words(&d->devices);
	io_tracer_destroy(&d->tracer);
	close_ports(d);
	io_faults_destroy(&d->faults);
	io_shm_destroy(&d->status);
	close_instance(d);
	if (d->loop)
		close_loop(d);
	io_arena_watch_close();
	io_reaper_end(LAST_MS);
}
