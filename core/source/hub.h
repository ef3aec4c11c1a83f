/*
 * The hub cache, as huggingface_hub lays it out:
 *
 *     CACHE/models--ORG--NAME/refs/REVISION                a text: the commit
 *     CACHE/models--ORG--NAME/snapshots/COMMIT/FILE        a symlink into ../../blobs
 */
#ifndef CORE_SOURCE_HUB_H
#define CORE_SOURCE_HUB_H

#include "core/util/arena.h"
#include "core/util/err.h"

/*
 * The snapshot directory of `name`, `org/name` or either with @revision (default "main"; a branch, a tag or a commit),
 * arena-owned, and the repository's last name component in *name. NULL with a sentence when it is not in the cache.
 * The cache: HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME/hub, XDG_CACHE_HOME/huggingface/hub,
 * ~/.cache/huggingface/hub.
 */
const char *hub_find(const char *spec, const char **name, struct arena *arena, struct err *err);

#endif
