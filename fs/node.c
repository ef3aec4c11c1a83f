#include "fs/node.h"

#include "fs/status_dir.h"

#include "core/util/cleanup.h"

#include <errno.h>
#include <string.h>

#define STATUS_DIR_INO 2
#define FIRST_FILE_INO 16

struct node node_of(const struct front *f, fuse_ino_t ino)
{
	size_t n = hfgguf_count(f->model);

	if (ino == FUSE_ROOT_ID)
		return (struct node){ NODE_ROOT, 0 };
	if (ino == STATUS_DIR_INO)
		return (struct node){ NODE_STATUS_DIR, 0 };
	if (ino < FIRST_FILE_INO)
		return (struct node){ NODE_NONE, 0 };
	ino -= FIRST_FILE_INO;
	if (ino < n)
		return (struct node){ NODE_FILE, ino };
	if (ino - n < status_count(f->model))
		return (struct node){ NODE_STATUS, ino - n };
	return (struct node){ NODE_NONE, 0 };
}

fuse_ino_t node_ino(const struct front *f, struct node n)
{
	switch (n.kind) {
	case NODE_ROOT: return FUSE_ROOT_ID;
	case NODE_STATUS_DIR: return STATUS_DIR_INO;
	case NODE_FILE: return FIRST_FILE_INO + n.index;
	case NODE_STATUS: return FIRST_FILE_INO + hfgguf_count(f->model) + n.index;
	case NODE_NONE: break;
	}
	return 0;
}

static struct node lookup_in_root(const struct front *f, const char *name)
{
	ssize_t file = hfgguf_find(f->model, name);

	if (file >= 0)
		return (struct node){ NODE_FILE, (size_t)file };
	return (struct node){ strcmp(name, STATUS_DIR) ? NODE_NONE : NODE_STATUS_DIR, 0 };
}

struct node node_lookup(const struct front *f, struct node dir, const char *name)
{
	ssize_t entry;

	if (!strcmp(name, "."))
		return dir;
	if (!strcmp(name, ".."))
		return (struct node){ dir.kind == NODE_STATUS ? NODE_STATUS_DIR : NODE_ROOT, 0 };
	if (dir.kind == NODE_ROOT)
		return lookup_in_root(f, name);
	entry = dir.kind == NODE_STATUS_DIR ? status_find(f->model, name) : -1;
	return entry < 0 ? (struct node){ NODE_NONE, 0 } : (struct node){ NODE_STATUS, (size_t)entry };
}

/* A plan is made once to learn its length: it does not change, so it can be a normal, cached file. */
static int status_length(struct front *f, size_t entry, uint64_t *length)
{
	autofree char *text = NULL;
	uint64_t known = status_changes(entry) ? 0 : atomic_load(&f->status_size[entry]);

	if (!known) {
		text = status_text(f->model, entry);
		if (!text)
			return ENOMEM;
		known = strlen(text) + 1;
		atomic_store(&f->status_size[entry], known);
	}
	*length = known - 1;
	return 0;
}

int node_stat(struct front *f, struct node n, struct stat *st)
{
	bool dir = n.kind == NODE_ROOT || n.kind == NODE_STATUS_DIR;
	int64_t ns = hfgguf_mtime_ns(f->model);
	uint64_t size = 0;
	int error = 0;

	if (n.kind == NODE_NONE)
		return ENOENT;
	if (n.kind == NODE_FILE)
		size = hfgguf_size(f->model, n.index);
	else if (n.kind == NODE_STATUS)
		error = status_length(f, n.index, &size);
	memset(st, 0, sizeof(*st));
	st->st_ino = node_ino(f, n);
	st->st_mode = dir ? S_IFDIR | 0555 : S_IFREG | 0444;
	st->st_nlink = dir ? 2 : 1;
	st->st_uid = f->uid;
	st->st_gid = f->gid;
	st->st_size = (off_t)size;
	st->st_blksize = 4096;
	st->st_blocks = (blkcnt_t)(size / 512 + (size % 512 != 0));
	st->st_mtim.tv_sec = ns / 1000000000;
	st->st_mtim.tv_nsec = ns % 1000000000;
	st->st_atim = st->st_ctim = st->st_mtim;
	return error;
}

double node_timeout(struct node n)
{
	return n.kind == NODE_STATUS && status_changes(n.index) ? 0 : CACHE_SECONDS;
}
