/*
 * Inode numbers: they follow from the plan alone, so that they are the same after a remount.
 *
 *	1               the root
 *	2               .hfgguf
 *	16 … 16+n-1     the n virtual files
 *	16+n …          the entries of .hfgguf
 */
#ifndef FS_NODE_H
#define FS_NODE_H

#include "fs/front.h"

#include <sys/stat.h>

enum node_kind { NODE_NONE, NODE_ROOT, NODE_STATUS_DIR, NODE_FILE, NODE_STATUS };

struct node {
	enum node_kind kind;
	size_t index; /* of the file or status entry */
};

struct node node_of(const struct front *f, fuse_ino_t ino);
fuse_ino_t node_ino(const struct front *f, struct node n);

/* The node of a name in a directory; NODE_NONE when there is none. "." and ".." are understood (NFS asks for them). */
struct node node_lookup(const struct front *f, struct node dir, const char *name);

/* Attributes; 0 or an errno. */
int node_stat(struct front *f, struct node n, struct stat *st);

/* Seconds for which the kernel may keep them. */
double node_timeout(struct node n);

#endif
