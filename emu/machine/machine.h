/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine described in a file (uhca-machine(5)): its adapters, their ports, and where they stand
 * on PCI. Values only: what the file says, checked. Who shows it to programs is emu/io/device, who
 * draws it is uhcactl.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MACHINE_DEVICES    64
#define MACHINE_NODES      64
#define MACHINE_PORTS      2
#define MACHINE_BRIDGES    8  /* above one device */
#define MACHINE_BRIDGE_IDS 64 /* bridges whose identity is given */
#define MACHINE_GIDS       256
#define MACHINE_PKEYS      128
#define MACHINE_ADDRESSES  6  /* of a port */
#define MACHINE_NAME       16 /* bytes with the NUL */
#define MACHINE_TEXT       64
#define MACHINE_CPUS       256 /* bytes of a list of processors */
#define MACHINE_NO_NODE    (-1)

/* Domain, bus, device and function; "0000:18:00.0" as text. */
struct machine_bdf {
	uint16_t domain;
	uint8_t bus, slot, function;
};
#define MACHINE_BDF_TEXT 16
const char *machine_bdf_text(const struct machine_bdf *at, char out[MACHINE_BDF_TEXT]);
bool machine_bdf_parse(const char *text, struct machine_bdf *out);
bool machine_bdf_equal(const struct machine_bdf *a, const struct machine_bdf *b);

struct machine_link {
	char speed[MACHINE_TEXT]; /* "32.0 GT/s PCIe" */
	unsigned width;
};

/* What a function or a bridge on PCI says of itself. */
struct machine_pci {
	struct machine_bdf at;
	unsigned vendor, device, subsystem_vendor, subsystem_device, revision, class;
	struct machine_link link, max_link;
};

enum machine_layout {
	MACHINE_GIDS_UHCA,       /* each address once, RoCE v2 */
	MACHINE_GIDS_MLX5,       /* link-local, then each address, as RoCE v1 and v2 */
	MACHINE_GIDS_RXE,        /* link-local, then each address, RoCE v2 */
	MACHINE_GIDS_INFINIBAND, /* the subnet prefix with the port's GUID */
	MACHINE_GIDS_EFA,        /* one raw address */
	MACHINE_GIDS_EMPTY,
	MACHINE_GIDS_LITERAL,
};

struct machine_gid {
	uint8_t gid[16]; /* zero: an empty entry */
	bool v1;
};

struct machine_address {
	uint8_t gid[16]; /* IPv4 as ::ffff:a.b.c.d */
	unsigned prefix; /* bits of the subnet */
};

struct machine_port {
	unsigned state;   /* enum ibv_port_state: 1 to 5 */
	bool infiniband;  /* its link layer; else Ethernet */
	bool unspecified; /* shown as Unknown */
	unsigned width;   /* lanes: 1, 2, 4, 8, 12 */
	unsigned speed;   /* index of machine_speed_name */
	unsigned rate;    /* Gb/s as the file gives it; 0: not given */
	bool has_speed;   /* the file gives it */
	unsigned mtu;     /* 256 to 4096; 0: what the network has */
	char netdev[MACHINE_NAME];
	uint8_t mac[6]; /* zero: made of the address */
	unsigned n_addresses;
	struct machine_address address[MACHINE_ADDRESSES];
	enum machine_layout layout;
	bool has_layout;
	unsigned gid_entries;
	unsigned n_gids; /* of MACHINE_GIDS_LITERAL */
	struct machine_gid gid[MACHINE_GIDS];
	unsigned n_pkeys;
	uint16_t pkey[MACHINE_PKEYS];
};

struct machine_device {
	char name[MACHINE_NAME];
	bool is_virtual; /* on no bus, as soft-RoCE */
	struct machine_pci pci;
	char driver[MACHINE_NAME];
	unsigned n_bridges; /* from the root port down */
	struct machine_bdf bridge[MACHINE_BRIDGES];
	int numa_node;
	unsigned node_type; /* of sysfs: 1 CA, 4 RNIC, 7 unspecified; 0: the profile's */
	unsigned hw_version;
	char fw_version[32];
	char hca_type[MACHINE_TEXT]; /* "": no such file */
	char board_id[MACHINE_TEXT]; /* "": no such file */
	uint64_t node_guid;          /* host order; 0: made of the address */
	uint64_t sys_image_guid;     /* 0: node_guid, unless has_sys_image_guid */
	bool has_sys_image_guid;
	int total_vfs;             /* -1: no SR-IOV */
	char parent[MACHINE_NAME]; /* of which this is a virtual function; "": none */
	int of;                    /* its place in the list; -1: none */
	unsigned n_ports;
	struct machine_port port[MACHINE_PORTS];
};

struct machine_node {
	int number;
	char cpus[MACHINE_CPUS]; /* "0-51,104-155"; "": a share of those that are online */
};

struct machine {
	char name[MACHINE_TEXT]; /* of the preset, or the file */
	char description[256];
	char profile[MACHINE_NAME]; /* of the devices; "": default */
	unsigned n_nodes;
	struct machine_node node[MACHINE_NODES];
	unsigned n_bridges;
	struct machine_pci bridge[MACHINE_BRIDGE_IDS];
	unsigned n_devices;
	struct machine_device device[MACHINE_DEVICES];
};

/*
 * Reads the machine of a file, or of the preset of that name: a word with a slash, or one that ends
 * with ".json", is a file. NULL with one line in error: the file and why, where it applies with
 * line and column. The caller gives it to machine_free.
 */
struct machine *machine_load(const char *word, char *error, size_t cap);

/* The same of a text; name stands for the file in error. */
struct machine *machine_read(const char *text, const char *name, char *error, size_t cap);
void machine_free(struct machine *m);

/* All ports of all devices. */
unsigned machine_ports(const struct machine *m);

/* "SDR" to "XDR", NULL behind the last; its bit in verbs, and the tenths of Gb/s of a lane. */
const char *machine_speed_name(unsigned speed);
unsigned machine_speed_code(unsigned speed);
unsigned machine_speed_tenths(unsigned speed);

/* The code that verbs has for so many lanes; 0: it has none. */
unsigned machine_width_code(unsigned lanes);

/* "400 Gb/sec (4X NDR)", as sysfs has it. */
#define MACHINE_RATE_TEXT 48
const char *machine_rate_text(const struct machine_port *p, char out[MACHINE_RATE_TEXT]);

#endif
