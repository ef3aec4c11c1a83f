#include "fs/stream.h"

#include "core/file/serve.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)512 << 10)
enum { MAX_THREADS = 16 };

struct stream {
	struct hfgguf_model *m;
	size_t file;
	int (*use)(void *arg, const void *data, size_t n);
	void *arg;
	pthread_mutex_t lock;
	pthread_cond_t next_turn;
	/* under the lock */
	uint64_t offset, end;     /* of the next piece; of the file */
	uint64_t n_taken, n_used; /* pieces */
	bool stop;
	int result;
	struct err *err;
};

/* Takes the next piece: its number, place and size; false when there is none. */
static bool take(struct stream *s, uint64_t *number, uint64_t *offset, size_t *n)
{
	if (s->stop || s->offset >= s->end)
		return false;
	*number = s->n_taken++;
	*offset = s->offset;
	s->offset = serve_cut(s->m, s->file, s->offset, PIECE_BYTES);
	*n = (size_t)(s->offset - *offset);
	return true;
}

static void end(struct stream *s, int result)
{
	s->stop = true;
	s->result = result;
}

/* The bytes of a piece. A short count would end a copy early and silently. */
static int fill(struct stream *s, char *data, size_t n, uint64_t offset, struct err *err)
{
	char msg[1024] = "";
	ssize_t got = serve_once(s->m, s->file, data, n, offset, msg, sizeof(msg));

	if (got < 0)
		return err_set(err, (enum hfgguf_status)got, "%s", msg[0] ? msg : hfgguf_strerror((int)got));
	if ((size_t)got == n)
		return 0;
	return err_set(err, HFGGUF_IO, "%s: ends at byte %llu of %llu", hfgguf_name(s->m, s->file),
		       (unsigned long long)offset + (unsigned long long)got, (unsigned long long)s->end);
}

/* Waits for the turn of a piece; false when there is nothing more to do. */
static bool wait_turn(struct stream *s, uint64_t number)
{
	while (s->n_used != number && !s->stop)
		pthread_cond_wait(&s->next_turn, &s->lock);
	return !s->stop;
}

static void *work(void *arg)
{
	struct err err = ERR_INIT;
	struct stream *s = arg;
	uint64_t number, offset;
	void *data = NULL;
	size_t n;
	int e = posix_memalign(&data, 4096, PIECE_BYTES) ? err_nomem(&err) : 0;

	pthread_mutex_lock(&s->lock);
	while (take(s, &number, &offset, &n)) {
		pthread_mutex_unlock(&s->lock);
		if (!e)
			e = fill(s, data, n, offset, &err);
		pthread_mutex_lock(&s->lock);
		if (!wait_turn(s, number))
			break;
		if (!e) {
			pthread_mutex_unlock(&s->lock);
			e = s->use(s->arg, data, n);
			pthread_mutex_lock(&s->lock);
		}
		if (e)
			end(s, e);
		s->n_used++;
		pthread_cond_broadcast(&s->next_turn);
	}
	if (err.code && s->result == err.code)
		err_set(s->err, (enum hfgguf_status)err.code, "%s", err.msg);
	pthread_mutex_unlock(&s->lock);
	free(data);
	return NULL;
}

int stream_run(struct hfgguf_model *m, size_t file, uint64_t offset, int (*use)(void *arg, const void *data, size_t n),
	       void *arg, struct err *err)
{
	struct stream s = { .m = m, .file = file, .use = use, .arg = arg, .lock = PTHREAD_MUTEX_INITIALIZER,
			    .next_turn = PTHREAD_COND_INITIALIZER, .offset = offset, .end = hfgguf_size(m, file),
			    .err = err };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[MAX_THREADS];
	long n = 0;

	while (n < cpus && n < MAX_THREADS && !pthread_create(&threads[n], NULL, work, &s))
		n++;
	work(&s); /* one more than processors: while one uses its piece the others fill theirs */
	while (n)
		pthread_join(threads[--n], NULL);
	return s.result;
}
