#include "fs/stream.h"

#include "core/file/serve.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)512 << 10)
enum { MAX_THREADS = 16, PIECES_PER_THREAD = 3 };

struct piece {
	void *data; /* PIECE_BYTES, or NULL before the first use */
	uint64_t offset;
	size_t n;
	bool filled; /* or failed: then err says why */
	struct err err;
};

struct stream {
	struct hfgguf_model *m;
	size_t file, n_pieces;
	struct piece *pieces; /* a ring: piece number i is at i % n_pieces */
	pthread_mutex_t lock;
	pthread_cond_t filled, room;
	/* under the lock */
	uint64_t offset, end;     /* of the next piece; of the file */
	uint64_t n_taken, n_used; /* pieces */
	bool stop;
};

static struct piece *next_used(const struct stream *s)
{
	return &s->pieces[s->n_used % s->n_pieces];
}

/* The next piece to fill, or NULL when there is none any more. */
static struct piece *take(struct stream *s)
{
	struct piece *p;

	while (!s->stop && s->n_taken - s->n_used == s->n_pieces)
		pthread_cond_wait(&s->room, &s->lock);
	if (s->stop || s->offset >= s->end)
		return NULL;
	p = &s->pieces[s->n_taken++ % s->n_pieces];
	p->offset = s->offset;
	s->offset = serve_cut(s->m, s->file, s->offset, PIECE_BYTES);
	p->n = (size_t)(s->offset - p->offset);
	return p;
}

/* The bytes of a piece. A short count would end a copy early and silently. */
static int fill(const struct stream *s, struct piece *p)
{
	char msg[1024] = "";
	ssize_t got;

	if (!p->data && posix_memalign(&p->data, 4096, PIECE_BYTES)) {
		p->data = NULL;
		return err_nomem(&p->err);
	}
	got = serve_once(s->m, s->file, p->data, p->n, p->offset, msg, sizeof(msg));
	if (got < 0)
		return err_set(&p->err, (enum hfgguf_status)got, "%s", msg[0] ? msg : hfgguf_strerror((int)got));
	if ((size_t)got == p->n)
		return 0;
	return err_set(&p->err, HFGGUF_IO, "%s: ends at byte %llu of %llu", hfgguf_name(s->m, s->file),
		       (unsigned long long)p->offset + (unsigned long long)got, (unsigned long long)s->end);
}

/* Takes and fills one piece; false when there is none. Under the lock, which it gives up meanwhile. */
static bool fill_next(struct stream *s)
{
	struct piece *p = take(s);

	if (!p)
		return false;
	pthread_mutex_unlock(&s->lock);
	fill(s, p);
	pthread_mutex_lock(&s->lock);
	p->filled = true;
	if (p == next_used(s))
		pthread_cond_signal(&s->filled);
	return true;
}

static void *work(void *arg)
{
	struct stream *s = arg;

	pthread_mutex_lock(&s->lock);
	while (fill_next(s))
		;
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Uses the pieces in their order; without other threads it fills them, too. */
static int use_all(struct stream *s, bool alone, int (*use)(void *arg, const void *data, size_t n), void *arg,
		   struct err *err)
{
	int e = 0;

	pthread_mutex_lock(&s->lock);
	while (!e && (s->n_used < s->n_taken || s->offset < s->end)) {
		struct piece *p = next_used(s);

		if (!p->filled) {
			if (alone)
				fill_next(s);
			else
				pthread_cond_wait(&s->filled, &s->lock);
			continue;
		}
		pthread_mutex_unlock(&s->lock);
		e = p->err.code ? err_set(err, (enum hfgguf_status)p->err.code, "%s", p->err.msg)
				: use(arg, p->data, p->n);
		pthread_mutex_lock(&s->lock);
		p->filled = false;
		s->n_used++;
		pthread_cond_signal(&s->room);
	}
	s->stop = true;
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
	return e;
}

int stream_run(struct hfgguf_model *m, size_t file, uint64_t offset, int (*use)(void *arg, const void *data, size_t n),
	       void *arg, struct err *err)
{
	struct stream s = { .m = m, .file = file, .lock = PTHREAD_MUTEX_INITIALIZER, .offset = offset,
			    .filled = PTHREAD_COND_INITIALIZER, .room = PTHREAD_COND_INITIALIZER,
			    .end = hfgguf_size(m, file) };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), n = 0;
	long want = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : cpus;
	pthread_t threads[MAX_THREADS];
	int e;

	s.n_pieces = PIECES_PER_THREAD * (size_t)want;
	s.pieces = calloc(s.n_pieces, sizeof(*s.pieces));
	if (!s.pieces)
		return err_nomem(err);
	while (n < want && !pthread_create(&threads[n], NULL, work, &s))
		n++;
	e = use_all(&s, !n, use, arg, err);
	while (n)
		pthread_join(threads[--n], NULL);
	for (size_t i = 0; i < s.n_pieces; i++)
		free(s.pieces[i].data);
	free(s.pieces);
	return e;
}
