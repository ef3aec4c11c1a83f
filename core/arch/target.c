/* The model that a draft predicts for (target-model-dir): drafts take its vocabulary, and some of its settings. */
#include "core/arch/conv.h"

#include "core/arch/target.h"

#include <string.h>

struct target {
	struct source *src; /* without weights */
	struct source *weights; /* opened when a tensor is asked for */
	json *config;
};

enum { OWN_BYTES = 4096 };

static int open_target(struct conv *c)
{
	const struct source_options so = { .no_weights = true };
	struct target *t;

	if (c->target)
		return 0;
	if (!c->opt->target_model_dir)
		return err_set(c->err, HFGGUF_OPTION,
			       "%s is a draft and takes its vocabulary from the model it is for: name that one with "
			       "target-model-dir=DIR", c->hf_arch);
	t = arena_alloc(c->arena, sizeof(*t));
	if (!t)
		return err_nomem(c->err);
	c->target = t;
	t->src = source_open(c->opt->target_model_dir, &so, c->err);
	if (t->src)
		t->config = source_json(t->src, "config.json", 64 << 20, c->err);
	if (!t->config && !c->err->code)
		err_set(c->err, HFGGUF_NOT_FOUND, "%s/config.json is not there", c->opt->target_model_dir);
	return c->err->code;
}

void conv_target_free(struct conv *c)
{
	if (!c->target)
		return;
	json_free(c->target->config);
	source_close(c->target->src);
	source_close(c->target->weights);
}

const json *conv_target_config(struct conv *c)
{
	return open_target(c) ? NULL : c->target->config;
}

const json *conv_target_find(struct conv *c, const char *key)
{
	const json *config = conv_target_config(c), *text = json_get(config, "text_config");

	return json_get(text, key) ? json_get(text, key) : json_get(config, key);
}

const char *conv_target_class(struct conv *c)
{
	const json *config = conv_target_config(c);
	const char *name = config ? conv_text_class(c, config) : NULL;

	if (config && !name && !c->err->code)
		err_set(c->err, HFGGUF_NOT_FOUND, "%s/config.json: no \"architectures\"", c->opt->target_model_dir);
	return name;
}

/* Forgets what was read of the tokenizer's files. */
static void forget(struct conv *c)
{
	json_free(c->tokenizer_config);
	c->tokenizer_config = NULL;
	c->tokenizer_config_read = false;
}

int conv_in_target(struct conv *c, int (*vocab)(struct conv *c))
{
	struct source *own_src = c->src;
	void *own = c->own;
	int e;

	if (open_target(c))
		return c->err->code;
	forget(c);
	c->own = arena_alloc(c->arena, OWN_BYTES); /* the target's class finds its state empty */
	c->src = c->vocab.src = c->target->src;
	c->vocab.dir = c->target->src->path;
	e = c->own ? vocab(c) : err_nomem(c->err);
	if (c->target->src->mtime_ns > own_src->mtime_ns)
		own_src->mtime_ns = c->target->src->mtime_ns;
	c->src = own_src;
	c->own = own;
	forget(c);
	return e;
}

int conv_target_vocab(struct conv *c, const struct arch *fallback)
{
	const char *name = conv_target_class(c);
	const struct arch *a = name ? arch_find(name) : NULL;

	if (!name)
		return c->err->code;
	if (!a)
		return err_set(c->err, HFGGUF_UNSUPPORTED, "%s/config.json: the architecture %s is not supported",
			       c->opt->target_model_dir, name);
	if (a == c->arch)
		a = fallback;
	while (a && !a->vocab)
		a = arch_parent(a);
	return a ? conv_in_target(c, a->vocab) : 0;
}

/* Reads know one source only: the tensor's file is attached to the draft's. */
const struct tensor *conv_target_tensor(struct conv *c, const char *name)
{
	const struct source_options so = { 0 };
	struct target *t = open_target(c) ? NULL : c->target;
	int64_t i;

	if (!t)
		return NULL;
	if (!t->weights)
		t->weights = source_open(c->opt->target_model_dir, &so, c->err);
	i = t->weights ? source_attach_tensor(c->src, t->weights, name, c->err) : -1;
	return i < 0 ? NULL : t_source(&c->b, c->src, (uint32_t)i);
}
