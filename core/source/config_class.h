/*
 * The config classes of transformers as data: parameters and defaults in config_defaults.c, a short program for the
 * values that a class derives from others in config_programs.c, the words of these programs in config_rules.c,
 * config_rope.c, config_layers.c and config_special.c.
 *
 * A program runs over the object `out`, which starts as the class's parameters with the user's values, like the body of
 * the class's __init__. "super" is the call of PretrainedConfig.__init__(**kwargs): the base's attributes, then
 * everything of the user's file that is no parameter. It comes last where the program does not say it.
 */
#ifndef CORE_SOURCE_CONFIG_CLASS_H
#define CORE_SOURCE_CONFIG_CLASS_H

#include "core/source/json.h"

struct config_class {
	const char *name;
	const char *model_type; /* "" when it has none of its own */
	const char *aliases;    /* "alias attribute …" */
	const char *readonly;   /* attributes that a config file may not name: the class raises */
	const char *lost;       /* parameters that are not kept */
	const char *defaults;   /* JSON object with ' for " */
};
extern const struct config_class config_classes[]; /* by name; ends with a NULL name */
extern const char *const config_base_defaults;     /* PretrainedConfig's own attributes */

struct config_type {
	const char *model_type, *class_name; /* class_name NULL: known to transformers, of no use to the reference */
};
extern const struct config_type config_types[]; /* the longest first; ends with NULL */

struct config_program {
	const char *class_name, *words;
};
extern const struct config_program config_programs[]; /* classes without a row derive nothing; ends with NULL */

/* Sub-configs of any known model_type: what an absent one becomes. */
struct config_auto_default {
	const char *class_name, *key, *json; /* JSON with ' for " */
	bool merge;                          /* also below the values that are given */
};
extern const struct config_auto_default config_auto_defaults[];

/* Results of building: the class would raise (the raw file counts then), or err is set. */
enum config_result { CONFIG_OK = 0, CONFIG_RAISES = 1, CONFIG_FAILED = -1 };

struct config_job {
	const struct config_class *cls;
	json *out;
	const json *user;  /* the keyword arguments */
	json *params;      /* the class's defaults, to tell parameters from other keys */
	bool with_kwargs;  /* "super" passes the user's other keys on */
	bool params_last;  /* parameters are stored after "super" */
	bool super_done;
	int depth; /* 0: the file itself; 1: a sub-config; … */
	struct err *err;
};

struct config_word {
	const char *name;
	enum config_result (*run)(struct config_job *job, const char *arg); /* arg: what follows ':', or "" */
};
extern const struct config_word config_words[], config_layer_words[], config_rope_words[], config_special_words[];

const struct config_class *config_class_find(const char *name);
/* The class of a model_type, or NULL. */
const struct config_class *config_class_of_type(const char *model_type);
/* to_dict() of cls(**user), without transformers_version. depth: of sub-configs, 0 for the file itself. */
enum config_result config_build(const struct config_class *cls, const json *user, int depth, json **out,
				struct err *err);
/* PretrainedConfig.__init__ for this job. */
enum config_result config_super(struct config_job *job);

/* ---- what words share ---- */

enum config_result config_nomem(struct config_job *job);
/* CONFIG_OK, or memory is out. */
enum config_result config_put(struct config_job *job, const char *key, const json *value);
enum config_result config_put_int(struct config_job *job, const char *key, int64_t v);
enum config_result config_put_owned(struct config_job *job, const char *key, json *value);
/* A key of out as an integer of Python; false when it is absent, null or something else (the class would raise). */
bool config_int(const struct config_job *job, const char *key, int64_t *v);
/* The user's value of a key that is no parameter, or NULL: kwargs.get(key). */
const json *config_kwarg(const struct config_job *job, const char *key);
/* JSON text with ' for "; NULL with err set when memory is out. */
json *config_json(const char *text, struct err *err);
/* Python's // of two keys of out, into *v; false when it raises. */
bool config_floor_div(const struct config_job *job, const char *a, const char *b, int64_t *v);

#endif
