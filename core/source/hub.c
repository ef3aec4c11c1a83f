#include "core/source/hub.h"

#include "core/source/file.h"
#include "core/util/str.h"

#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *env(const char *name)
{
	const char *v = getenv(name);

	return v && *v ? v : NULL;
}

static const char *home(void)
{
	const char *h = env("HOME");
	const struct passwd *pw = h ? NULL : getpwuid(getuid());

	return h ? h : pw ? pw->pw_dir : "/";
}

/* Length of the NAME in $NAME or ${NAME} at p, and of the whole; 0 where there is none. */
static size_t variable(const char *p, size_t *name_at, size_t *whole)
{
	static const char *const word = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	size_t n;

	*name_at = p[1] == '{' ? 2 : 1;
	n = strspn(p + *name_at, word);
	if (p[1] == '{' && p[2 + n] != '}')
		return 0;
	*whole = *name_at + n + (p[1] == '{');
	return n;
}

/*
 * os.path.expandvars(os.path.expanduser(path)): unknown variables stay as they are. Of "~", only one's own: other
 * users' homes are nobody's cache.
 */
static const char *expand(const char *path, struct arena *arena)
{
	struct buf b = BUF_INIT;
	const char *out;

	if (path[0] == '~' && (!path[1] || path[1] == '/')) {
		buf_puts(&b, home());
		path++;
	}
	while (*path) {
		size_t at, whole, n = *path == '$' ? variable(path, &at, &whole) : 0;
		char name[128];
		const char *v = NULL;

		if (n && n < sizeof(name)) {
			memcpy(name, path + at, n);
			name[n] = 0;
			v = getenv(name);
		}
		if (v)
			buf_puts(&b, v);
		else
			buf_putc(&b, *path);
		path += v ? whole : 1;
	}
	out = b.failed ? NULL : arena_strdup(arena, b.p ? b.p : "");
	buf_free(&b);
	return out;
}

static const char *cache_dir(struct arena *arena)
{
	const char *v;

	if ((v = env("HF_HUB_CACHE")) || (v = env("HUGGINGFACE_HUB_CACHE")))
		return expand(v, arena);
	v = env("HF_HOME");
	if (v)
		v = arena_printf(arena, "%s/hub", v);
	else if ((v = env("XDG_CACHE_HOME")))
		v = arena_printf(arena, "%s/huggingface/hub", v);
	else
		v = "~/.cache/huggingface/hub";
	return v ? expand(v, arena) : NULL;
}

/* Letters, digits, "-", "_", "." in one or two components, none of which starts with a dot. */
static bool is_repo_id(const char *s, size_t n)
{
	int slashes = 0;

	for (size_t i = 0; i < n; i++) {
		bool first = !i || s[i - 1] == '/';

		if (s[i] == '/' && !first && i + 1 < n && ++slashes == 1)
			continue;
		if (s[i] == '/' || (first && s[i] == '.') ||
		    !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", s[i]))
			return false;
	}
	return n > 0;
}

/* A revision becomes a path below refs/ or snapshots/. */
static bool is_revision(const char *rev)
{
	return *rev && *rev != '/' && !strstr(rev, "..");
}

static bool is_dir(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISDIR(st.st_mode);
}

static char *repo_folder(const char *cache, const char *id, size_t n, struct arena *arena)
{
	char *folder = arena_printf(arena, "%s/models--%.*s", cache, (int)n, id);
	char *slash = folder ? memchr(folder + strlen(cache) + 1, '/', strlen(folder) - strlen(cache) - 1) : NULL;

	if (!slash)
		return folder;
	*slash = 0;
	return arena_printf(arena, "%s--%s", folder, slash + 1);
}

/* The commit that refs/<revision> holds, or the revision itself. */
static const char *commit_of(const char *folder, const char *rev, struct arena *arena)
{
	struct err ignored = ERR_INIT;
	const char *path = arena_printf(arena, "%s/refs/%s", folder, rev), *commit = rev;
	size_t n;
	char *text = path ? file_slurp(AT_FDCWD, path, path, 4096, &n, NULL, &ignored) : NULL;

	if (text) {
		text[strcspn(text, " \t\r\n")] = 0;
		commit = is_revision(text) && !strchr(text, '/') ? arena_strdup(arena, text) : NULL;
	}
	free(text);
	return commit;
}

const char *hub_find(const char *spec, const char **name, struct arena *arena, struct err *err)
{
	const char *at = strchr(spec, '@'), *rev = at ? at + 1 : "main", *cache = cache_dir(arena), *commit, *path;
	size_t n = at ? (size_t)(at - spec) : strlen(spec);
	char *folder;

	if (!is_repo_id(spec, n)) {
		err_set(err, HFGGUF_NOT_FOUND, "%.300s: no such directory", spec);
		return NULL;
	}
	if (!is_revision(rev)) {
		err_set(err, HFGGUF_NOT_FOUND, "%.300s: '%.100s' is not a revision", spec, rev);
		return NULL;
	}
	folder = cache ? repo_folder(cache, spec, n, arena) : NULL;
	if (!folder) {
		err_nomem(err);
		return NULL;
	}
	if (!is_dir(folder)) {
		err_set(err, HFGGUF_NOT_FOUND,
			"%.300s: no such directory, and not in the hub cache %.500s: download it there, or "
			"set HF_HUB_CACHE",
			spec, cache);
		return NULL;
	}
	commit = commit_of(folder, rev, arena);
	path = commit ? arena_printf(arena, "%s/snapshots/%s", folder, commit) : NULL;
	if (!is_dir(path)) {
		err_set(err, HFGGUF_NOT_FOUND, "%.300s: revision '%.100s' is not in the hub cache %.500s: download it",
			spec, rev, folder);
		return NULL;
	}
	*name = arena_memdup(arena, spec, n);
	if (*name && strchr(*name, '/'))
		*name = strchr(*name, '/') + 1;
	return path;
}
